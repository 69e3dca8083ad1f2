package file

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
)

// A change is one replacement as the model asks for it.
type change struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// changeFields are the keys of a change, for Edit and MultiEdit.
func changeFields() []tool.Field {
	return []tool.Field{
		{Name: "old_string", Type: tool.String, Required: true, Doc: "the text to replace, exactly as it stands in the file, without line numbers"},
		{Name: "new_string", Type: tool.String, Required: true, Doc: "the text to put in its place; it must differ from old_string"},
		{Name: "replace_all", Type: tool.Boolean, Doc: "replace every occurrence and not just the only one; false when left out"},
	}
}

// check refuses what cannot be a change of any file.
func (c change) check() error {
	switch {
	case c.Old == "":
		return errors.New(`"old_string" is empty: give the text to replace, or create the file with Write`)
	case c.Old == c.New:
		return errors.New(`"old_string" and "new_string" are the same, so nothing would change`)
	}
	return nil
}

// apply makes the change and returns where the first replacement stands, and
// how many there are.
func (c change) apply(d *document) (start, end, n int, err error) {
	old, text := d.incoming(c.Old), d.incoming(c.New)
	n = strings.Count(d.text, old)
	switch {
	case n == 0:
		return 0, 0, 0, errors.New("old_string is not in the file" + hint(d.text, old))
	case n > 1 && !c.All:
		return 0, 0, 0, fmt.Errorf("old_string is in the file %d times (%s): give more of the text around the right one, or set replace_all", n, placesOf(d.text, old))
	case !d.valid && !ascii(text):
		return 0, 0, 0, errors.New("the file is not UTF-8, so only ASCII text can be put into it with this tool")
	case old == text:
		return 0, 0, 0, errors.New("old_string and new_string differ in line ends alone, which are kept as they are in this file")
	}
	if n > 1 {
		start = d.replaceAll(old, text)
	} else {
		start = strings.Index(d.text, old)
		d.replace(start, start+len(old), text)
	}
	return start, start + len(text), n, nil
}

// placesOf names the lines of the first occurrences.
func placesOf(text, old string) string {
	const most = 5
	var lines []string
	for at := 0; len(lines) < most; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		lines = append(lines, fmt.Sprint(strings.Count(text[:at+i], "\n")+1))
		at += i + len(old)
	}
	return "lines " + strings.Join(lines, ", ")
}

// hint guesses why old was not found.
func hint(text, old string) string {
	if bare := regexp.MustCompile(`(?m)^ *\d+\t`).ReplaceAllString(old, ""); bare != old && strings.Contains(text, bare) {
		return ": it has line numbers in it, which are not part of the file"
	}
	if strings.Contains(text, strings.ReplaceAll(old, "\r\n", "\n")) {
		return `: it ends lines with "\r\n", the file with "\n"`
	}
	want := strings.TrimSpace(old)
	want, _, _ = strings.Cut(want, "\n")
	want = squeeze(want)
	if want == "" {
		return ": it must match exactly, white space included"
	}
	for i, line := range linesOf(text) {
		if strings.Contains(squeeze(line), want) {
			return fmt.Sprintf(": line %d is like its first line, but something differs, perhaps white space; read the file again there", i+1)
		}
	}
	return ": it must match exactly, white space included; read the file again"
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// known reports an error unless the agent has seen content, which is what the
// file says now.
func (s *Seen) known(a session.AgentID, path, shown string, content []byte) error {
	st, ok := s.of(a, path)
	switch {
	case !ok:
		return fmt.Errorf("%s was not read yet: read it first, so that nothing in it is changed unseen", shown)
	case st != stampOf(content):
		return fmt.Errorf("%s has changed since it was read: read it again", shown)
	}
	return nil
}

// change loads a file that the agent has seen, makes the changes, all or none,
// and stores it.
func (s *Seen) change(env agent.CallEnv, req permission.Request, edit func(*document) error) error {
	s.write.Lock()
	defer s.write.Unlock()
	if err := tool.Unmoved(req); err != nil {
		return err
	}
	content, mode, err := load(req.Input.RealPath)
	if err != nil {
		return err
	}
	if err := s.known(env.Agent, req.Input.RealPath, req.Input.Path, content); err != nil {
		return err
	}
	d := parse(content)
	if err := edit(&d); err != nil {
		return fmt.Errorf("%s was not changed: %w", req.Input.Path, err)
	}
	return s.store(env.Agent, req.Input.RealPath, d.bytes(), mode)
}

// store replaces a file and notes that the agent knows it.
func (s *Seen) store(a session.AgentID, path string, content []byte, mode fs.FileMode) error {
	if err := replace(path, content, mode); err != nil {
		return err
	}
	s.note(a, path, stampOf(content))
	return nil
}
