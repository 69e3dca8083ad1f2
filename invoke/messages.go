package invoke

import (
	"fmt"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/turn"
)

// inlineMessages builds what joins the conversation (spec I-5): what the person
// sees, the text, the note on nested variants, the permission note.
func inlineMessages(r *Result, args, text string) []turn.Message {
	id := escape(idOf(r.Entry))
	visible := fmt.Sprintf("<command-message>%s is running</command-message>\n<command-name>/%s</command-name>", id, id)
	if args != "" {
		visible += "\n<command-args>" + escape(args) + "</command-args>"
	}
	out := []turn.Message{
		{Role: turn.User, Text: visible},
		{Role: turn.User, Text: text, Meta: true},
	}
	for _, note := range []string{r.variants, overrideNote(idOf(r.Entry), r.Override)} {
		if note != "" {
			out = append(out, turn.Message{Role: turn.User, Text: note, Meta: true})
		}
	}
	return out
}

// forkMessages is what a subagent starts with (spec I-8): one message.
func forkMessages(r *Result) []turn.Message {
	text := r.Text
	if r.variants != "" {
		text = strings.TrimRight(text, "\n") + "\n\n" + r.variants
	}
	if strings.TrimSpace(text) == "" {
		// A conversation that begins with nothing is one that no provider takes.
		text = fmt.Sprintf("Skill %q was started, and it holds no instructions. Say so.", line(idOf(r.Entry)))
	}
	return []turn.Message{{Role: turn.User, Text: text, Meta: true}}
}

// escape keeps text of others from opening or closing the tags around it.
func escape(s string) string {
	return tags.Replace(s)
}

var tags = strings.NewReplacer("<command-", "&lt;command-", "</", "&lt;/", "<system-reminder", "&lt;system-reminder")

// line is escape for text that has to stay on one line.
func line(s string) string { return escape(strings.Join(strings.Fields(s), " ")) }

func repeatNote(id string) string {
	return fmt.Sprintf("Skill %q is already loaded above, with the same text and arguments. Follow it again from the start; it is not repeated here.", id)
}

// overrideNote tells the model what an override changes.
func overrideNote(id string, o turn.Override) string {
	var lines []string
	add := func(what string, v ...string) {
		if s := strings.Join(v, ", "); s != "" {
			lines = append(lines, "- "+what+": "+line(s))
		}
	}
	add("allowed without asking", o.AllowedTools...)
	add("refused", o.DisallowedTools...)
	add("model", o.Model)
	add("effort", o.Effort)
	if len(lines) == 0 {
		return ""
	}
	return reminder(fmt.Sprintf("While skill %q is active, until the end of this turn:", line(id)), lines)
}

// Variants is the note on nested skills of the same name (spec D-1), which is
// part of Messages; empty if there are none.
func (r *Result) Variants() string { return r.variants }

// variantsNote lists the nested skills of the same bare name, when it was the
// bare name that was called (spec D-1). A model is told only of those that it
// may be told of.
func variantsNote(e *catalog.Entry, req Request, env Env) string {
	if e.Winner != nil || e.Origin.Below != "" && strings.HasPrefix(e.ID, e.Origin.Below+":") {
		return ""
	}
	if name := Named(req.Name); strings.Contains(name, ":") && name != e.ID {
		return "" // a qualified name: whoever used it knows which one they mean
	}
	var lines []string
	for _, v := range env.Catalog.Variants(e) {
		// The text is for a model whoever calls, since a model will read it.
		if ok, _ := env.Catalog.VisibleToModel(v, env.active); ok {
			lines = append(lines, "- "+line(v.ID)+" for files below "+line(v.Origin.Below)+"/")
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return reminder(fmt.Sprintf("Parts of this workspace have a skill %q of their own. "+
		"If the task touches files below one of these directories, call that skill as well:", line(e.ID)), lines)
}

// missingNote tells the model and the person which skills e needs and are not
// here (spec G-1); nothing when it has all.
func missingNote(e *catalog.Entry, env Env) (note, notice string) {
	if env.Catalog == nil || len(e.Run.Requires) == 0 {
		return "", ""
	}
	missing := env.Catalog.Missing(e)
	if len(missing) == 0 {
		return "", ""
	}
	lines := make([]string, len(missing))
	for i, name := range missing {
		lines[i] = "- " + line(name)
	}
	return reminder(fmt.Sprintf("Skill %q needs skills that are not here. Do not make up what they would say; tell the user if the task needs them:", line(idOf(e))), lines),
		fmt.Sprintf("skill %s needs skills that are not here: %s", idOf(e), strings.Join(missing, ", "))
}

func reminder(head string, lines []string) string {
	return "<system-reminder>\n" + head + "\n" + strings.Join(lines, "\n") + "\n</system-reminder>"
}

// ToolResult is the short text that the Skill tool answers a model with (spec
// I-5, I-8). Messages of an inline skill follow it.
func (r *Result) ToolResult() string {
	id := idOf(r.Entry)
	switch {
	case r.Mode != skill.Fork:
		return "Launching skill: " + id
	case r.Fork == nil:
		return fmt.Sprintf("Skill %q was not started", id)
	case r.Fork.Task != "":
		return fmt.Sprintf("Skill %q runs in the background as task %s; its result will follow", id, r.Fork.Task)
	case strings.TrimSpace(r.Fork.Text) == "":
		return "Skill execution completed"
	}
	return fmt.Sprintf("Skill %q completed (forked).\n\nResult:\n%s", id, r.Fork.Text)
}
