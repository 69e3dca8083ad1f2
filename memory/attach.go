package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// Limits of what one text attaches.
const (
	maxAttachments = 50  // references
	maxEntries     = 200 // of one directory
)

// An Ask is a file that somebody wants to attach, for the decision whether it
// may be read.
type Ask struct {
	Path string // absolute
	Real string // where it leads once links are followed; equal to Path without any
	Own  bool   // it belongs to the skill whose text refers to it
}

// AttachOptions says where references are looked for.
type AttachOptions struct {
	WorkDir string
	Home    string // what "~" stands for
	// Allow decides whether a file may be read; why is told when it refuses. Nil
	// refuses everything.
	Allow func(ctx context.Context, a Ask) (why string, ok bool)
	// Remote reads a reference of the form "server:address" from the MCP server
	// of this name; known is false when there is none, and the reference is a
	// path like any other. Nil knows no server. Only what a person writes is read
	// this way.
	Remote func(ctx context.Context, server, address string) (text string, known bool, err error)
}

// An Attachment is one reference of a text, and what became of it.
type Attachment struct {
	Reference Reference
	Path      string // absolute
	Text      string // the lines, or the entries of a directory
	Directory bool
	Lines     string // "3-9 of 120" when only some were asked for or fit; empty for all
	// Problem says why there is no text; empty when there is.
	Problem string
}

// Attach reads the files that a person's message refers to as @path, relative
// to the working directory (spec A-5). References that name no file and do not
// look like one are left out; they are "@somebody". The error is that of ctx.
func Attach(ctx context.Context, text string, o AttachOptions) ([]Attachment, error) {
	return attach(ctx, text, "", o)
}

// AttachSkill is [Attach] for the compiled text of s: its references lead first
// to the skill's directory (spec P-15). Remote skills attach nothing, and
// neither do those of the workspace until it is trusted (spec C-13, S-9).
func AttachSkill(ctx context.Context, text string, s *skill.Skill, trusted bool, o AttachOptions) ([]Attachment, error) {
	if s.Origin.Remote() || s.Origin.FromWorkspace() && !trusted {
		return nil, nil
	}
	return attach(ctx, text, s.Origin.Dir, o)
}

func attach(ctx context.Context, text, own string, o AttachOptions) ([]Attachment, error) {
	var out []Attachment
	seen := map[string]bool{}
	left := MaxAttached
	for _, r := range References(text) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if a, ok := remote(ctx, r, min(left, MaxAttachment), o); ok && !seen[a.Path] && len(out) < maxAttachments {
			seen[a.Path] = true
			left -= len(a.Text)
			out = append(out, a)
			continue
		}
		path, info, err := find(r, own, o)
		if err != nil && !r.looksLikePath() {
			continue
		}
		key := fmt.Sprintf("%s\x00%d\x00%d", path, r.From, r.To)
		if seen[key] {
			continue
		}
		seen[key] = true
		a := Attachment{Reference: r, Path: path}
		switch {
		case len(out) == maxAttachments:
			a.Problem = fmt.Sprintf("only the first %d references of a message are attached", maxAttachments)
			return append(out, a), nil
		case errors.Is(err, fs.ErrNotExist):
			a.Problem = "there is no such file"
		case err != nil:
			a.Problem = "it cannot be read: " + reason(err).Error()
		default:
			a.fill(ctx, info, own, min(left, MaxAttachment), o)
		}
		left -= len(a.Text)
		out = append(out, a)
	}
	return out, nil
}

// remote reads a reference to a resource of a server.
func remote(ctx context.Context, r Reference, limit int, o AttachOptions) (Attachment, bool) {
	server, address, ok := strings.Cut(r.Path, ":")
	if !ok || o.Remote == nil || !strings.Contains(address, "://") {
		return Attachment{}, false
	}
	text, known, err := o.Remote(ctx, server, address)
	a := Attachment{Reference: r, Path: r.Path}
	switch {
	case !known:
		return a, false
	case err != nil:
		a.Problem = "it cannot be read: " + err.Error()
	case limit <= 0:
		a.Problem = fmt.Sprintf("what is attached before holds %d bytes already; read it with a tool", MaxAttached)
	default:
		head, more := cut(text, limit)
		if a.Text = head; more > 0 {
			a.Lines = fmt.Sprintf("the first %d bytes of %d", len(head), len(text))
		}
		if a.Text == "" {
			a.Text = "(empty)\n"
		}
	}
	return a, true
}

// find returns the file that a reference means: the first that exists.
func find(r Reference, own string, o AttachOptions) (path string, info fs.FileInfo, err error) {
	bases := []string{o.WorkDir}
	if own != "" {
		bases = []string{own, o.WorkDir}
	}
	for _, base := range bases {
		path = absolute(r.Path, base, o.Home)
		if info, err = os.Stat(path); err == nil {
			return path, info, nil
		}
	}
	return path, nil, err
}

// fill asks for permission and reads.
func (a *Attachment) fill(ctx context.Context, info fs.FileInfo, own string, limit int, o AttachOptions) {
	ask := Ask{Path: a.Path, Real: physical(a.Path)}
	// Own by where it really is: a link in the skill's directory may lead anywhere.
	ask.Own = own != "" && within(ask.Real, physical(own))
	if o.Allow == nil {
		a.Problem = "nobody is here to allow it"
		return
	}
	if why, ok := o.Allow(ctx, ask); !ok {
		a.Problem = "it may not be read: " + why
		return
	}
	if limit <= 0 {
		a.Problem = fmt.Sprintf("the files attached before hold %d bytes already; read it with a tool", MaxAttached)
		return
	}
	if info.IsDir() {
		a.Directory = true
		a.list()
		return
	}
	a.lines(limit)
}

// list makes the entries of a directory the text.
func (a *Attachment) list() {
	entries, err := os.ReadDir(a.Path)
	if err != nil {
		a.Problem = "it cannot be listed: " + reason(err).Error()
		return
	}
	var b strings.Builder
	for i, e := range entries {
		if i == maxEntries {
			fmt.Fprintf(&b, "… and %d more\n", len(entries)-i)
			break
		}
		name := attribute(e.Name())
		if e.IsDir() {
			name += "/"
		}
		b.WriteString(name + "\n")
	}
	if a.Text = b.String(); a.Text == "" {
		a.Text = "(empty)\n"
	}
}

// maxSearched is how much of a file is read to find the lines asked for.
const maxSearched = 16 << 20

// lines makes the lines that were asked for the text, as far as they fit.
func (a *Attachment) lines(limit int) {
	r := a.Reference
	whole := limit
	if r.From > 0 {
		whole = maxSearched
	}
	text, rest, err := textFile(a.Path, whole)
	if err != nil {
		a.Problem = "it is not attached: " + err.Error()
		return
	}
	total := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		total++
	}
	of := fmt.Sprint(total)
	if rest > 0 {
		of = "more"
	}
	from := 1
	if r.From > 0 {
		if r.From > total {
			a.Problem = fmt.Sprintf("it has only %s lines", of)
			return
		}
		from = r.From
		text = between(text, r.From, min(r.To, total))
	}
	head, more := cut(text, limit)
	to := from + strings.Count(head, "\n") - 1
	if !strings.HasSuffix(head, "\n") {
		to++
	}
	if a.Text = head; r.From > 0 || more > 0 || rest > 0 {
		a.Lines = fmt.Sprintf("%d-%d of %s", from, to, of)
	}
	if a.Text == "" {
		a.Text = "(empty)\n"
	}
}

// between returns the lines from..to of text, from 1, both included.
func between(text string, from, to int) string {
	start, end, line := 0, len(text), 1
	for i := 0; i < len(text); i++ {
		if text[i] != '\n' {
			continue
		}
		if line++; line == from {
			start = i + 1
		}
		if line == to+1 {
			end = i + 1
			break
		}
	}
	return text[start:end]
}

// Block renders a as text for a model. A reference without text is named with
// its reason, so that the model does not guess at the contents.
func (a Attachment) Block() string {
	const tag = "attached-file"
	ref := ` ref="@` + attribute(a.Reference.Path) + `"`
	if a.Problem != "" {
		return fmt.Sprintf("<%s path=\"%s\"%s>\n[not attached: %s]\n</%s>", tag, attribute(a.Path), ref, neutral(a.Problem, tag), tag)
	}
	about := ""
	if a.Directory {
		about = ` kind="directory"`
	}
	if a.Lines != "" {
		about += ` lines="` + a.Lines + `"`
	}
	return fmt.Sprintf("<%s path=\"%s\"%s%s>\n%s\n</%s>", tag, attribute(a.Path), ref, about, strings.TrimSuffix(neutral(a.Text, tag), "\n"), tag)
}
