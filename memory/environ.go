package memory

import (
	"fmt"
	"strings"
	"time"

	"github.com/knack-skills/knack/text"
)

// Surroundings is what an agent is told of where it runs (spec A-5). The same
// values give the same bytes: a host makes them once for a session, so that the
// cached beginning of its requests stays the same.
type Surroundings struct {
	WorkDir    string
	ProjectDir string   // left out when it is WorkDir
	MoreDirs   []string // --add-dir and additionalDirectories
	Platform   string   // such as "linux/amd64"
	Shell      string   // such as "bash"; empty leaves it out
	Date       time.Time
	Repository *Repository // nil: not a git repository
	// Nobody is there to answer questions (spec A-7).
	Headless bool
}

// Render returns the block.
func (s Surroundings) Render() string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, text.Line(value))
		}
	}
	b.WriteString("<environment>\n")
	line("Working directory", s.WorkDir)
	if s.ProjectDir != s.WorkDir {
		line("Project directory", s.ProjectDir)
	}
	for _, d := range s.MoreDirs {
		line("Additional directory", d)
	}
	line("Platform", s.Platform)
	line("Shell", s.Shell)
	line("Date", s.Date.Format("2006-01-02 (Monday)"))
	if s.Headless {
		b.WriteString("Nobody can answer questions: decide, say what you assumed, and go on.\n")
	}
	if s.Repository == nil {
		b.WriteString("Git repository: no\n")
	} else {
		b.WriteString("Git repository: yes\n\n" + s.Repository.Render() + "\n")
	}
	b.WriteString("</environment>")
	return b.String()
}
