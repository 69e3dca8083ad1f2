package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/llm"
)

// begun is a world in whose session a person typed one skill and a model called
// another, and in which one was never used.
func begun(t *testing.T) *world {
	w := newWorld(t)
	w.skill("walk", "---\ndescription: about walks\n---\nWalk with $ARGUMENTS.\n")
	w.skill("look", "---\ndescription: about looks\n---\nLook at $ARGUMENTS.\n")
	w.skill("idle", "---\ndescription: about nothing\n---\nIdle.\n")
	out, asked := w.requests(`{"steps":[`+calls(skillCall("look", "the sky"))+`,{"text":"both are done"}]}`, "-p", "/walk 5m x")
	if out.code != 0 || len(asked) != 2 {
		t.Fatalf("%+v", out)
	}
	return w
}

// compactions are the two ways to come to one; each leaves a session that goes
// on, and returns what the model was sent first after it.
func compactions() map[string]func(*testing.T, *world) recordedRequest {
	next := func(t *testing.T, w *world, script string, n int, line ...string) recordedRequest {
		t.Helper()
		out, asked := w.requests(script, append(line, "--continue")...)
		if out.code != 0 || len(asked) != n {
			t.Fatalf("%d requests: %+v", len(asked), out)
		}
		return asked[n-1]
	}
	return map[string]func(*testing.T, *world) recordedRequest{
		"asked for": func(t *testing.T, w *world) recordedRequest {
			next(t, w, `{"steps":[{"text":"THE SUMMARY"}]}`, 1, "-p", "/compact")
			return next(t, w, `{"steps":[{"text":"on"}]}`, 1, "-p", "thanks, looks fine")
		},
		"by itself": func(t *testing.T, w *world) recordedRequest {
			next(t, w, `{"steps":[{"text":"full","usage":{"input_tokens":190000}}]}`, 1, "-p", "more")
			return next(t, w, `{"steps":[`+calls(`{"name":"Glob","input":{"pattern":"*"}}`)[:len(calls(`{"name":"Glob","input":{"pattern":"*"}}`))-1]+
				`,"usage":{"input_tokens":190000}},{"text":"THE SUMMARY"},{"text":"on"}]}`, 3, "-p", "thanks, looks fine")
		},
	}
}

// TestCasesCompaction: skills of both triggers come back once, with arguments
// that belong to the past; every other skill can still be reached; new words are
// nobody's arguments.
func TestCasesCompaction(t *testing.T) { // spec M-2, L-7
	for name, compact := range compactions() {
		w := begun(t)
		r := compact(t, w)
		all := []recordedRequest{r}
		restored := texts(all, "These skills were invoked in the part that is gone")
		if len(restored) != 1 || len(texts(all, "THE SUMMARY")) != 1 {
			t.Fatalf("%s: %d restorations", name, len(restored))
		}
		at := 0
		for _, want := range []string{"They are no new request", "## Skill walk", "not to be acted on again: 5m x", "Walk with 5m x.",
			"## Skill look", "not to be acted on again: the sky", "Look at the sky."} {
			i := strings.Index(restored[0][at:], want)
			if i < 0 {
				t.Fatalf("%s: %q is missing, or too early, in %s", name, want, restored[0])
			}
			at += i
		}
		for _, not := range []string{"Walk with thanks", "Look at thanks", "looks fine\nWalk"} {
			if len(texts(all, not)) != 0 {
				t.Errorf("%s: %q", name, not)
			}
		}
		if len(texts(all, "idle")) == 0 || len(texts(all, "about nothing")) != 0 {
			t.Errorf("%s: a skill that was never used is not named, or has its description again", name)
		}
		last := r.Messages[len(r.Messages)-1]
		if name == "asked for" && !slices.ContainsFunc(last.Content, func(b llm.Block) bool { return b.Text == "thanks, looks fine" }) {
			t.Errorf("%s: the last message is %+v", name, last)
		}
		reached(t, w)
	}
}

// reached: after the compaction a skill that was never used can be found and
// run, what appears is told alone, and what was restored is not loaded twice.
func reached(t *testing.T, w *world) {
	t.Helper()
	w.skill("fresh", "---\ndescription: about new things\n---\nFresh.\n")
	find := `{"name":"SkillSearch","input":{"query":"idle"}}`
	out, asked := w.requests(`{"steps":[`+calls(find, skillCall("idle", ""), skillCall("walk", "5m x"), skillCall("look", "a tree"))+`,{"text":"end"}]}`, "-p", "next", "--continue")
	if out.code != 0 || !strings.HasSuffix(outcomes(asked, false), "....") {
		t.Fatalf("%+v: %+v", out, resultsOf(asked))
	}
	if len(texts(asked, "Idle.")) != 1 || len(texts(asked, "Look at a tree.")) != 1 {
		t.Error("a skill cannot be run any more")
	}
	if got := texts(asked, "Walk with 5m x."); len(got) != 1 || len(texts(asked, `Skill "walk" is already loaded`)) != 1 {
		t.Errorf("what was restored stands there %d times", len(got))
	}
	if got := texts(asked, "about new things"); len(got) != 1 || strings.Contains(got[0], "about nothing") {
		t.Errorf("the news are %q", got)
	}
}

// TestCasesCompactionFails: nothing changes when there is no summary.
func TestCasesCompactionFails(t *testing.T) { // spec M-2
	w := begun(t)
	if out, _ := w.requests(`{"steps":[{"error":{"status":400,"message":"too long"}}]}`, "-p", "/compact", "--continue"); out.code != 1 || !strings.Contains(out.stderr, "too long") {
		t.Errorf("%+v", out)
	}
	out, asked := w.requests(`{"steps":[`+calls(skillCall("look", "the sky"))+`,{"text":"end"}]}`, "-p", "on", "--continue")
	if out.code != 0 || len(texts(asked, "both are done")) != 1 || len(texts(asked, "Walk with 5m x.")) != 1 || len(texts(asked, "Look at the sky.")) != 1 {
		t.Errorf("%+v", out)
	}
	wholeHistory(t, asked[len(asked)-1].Messages)
}

// TestCasesCompactionBudget: five long skills keep to the limits, cut at the end
// of a line with the place of the rest; the newest are chosen.
func TestCasesCompactionBudget(t *testing.T) { // spec M-2
	w := newWorld(t)
	var list []string
	for _, s := range []struct {
		id    string
		lines int
	}{{"s25k", 25 << 5}, {"s32k", 32 << 5}, {"s19k", 19 << 5}, {"s27k", 27 << 5}, {"s4k", 4 << 5}, {"s60k", 60 << 5}} {
		w.skill(s.id, "---\ndescription: d\n---\n"+strings.Repeat("Look at the file, then change it.\n", s.lines))
		list = append(list, skillCall(s.id, ""))
	}
	if out, _ := w.requests(`{"steps":[`+calls(list...)+`,{"text":"done"}]}`, "-p", "go"); out.code != 0 {
		t.Fatalf("%+v", out)
	}
	if out, _ := w.requests(`{"steps":[{"text":"THE SUMMARY"}]}`, "-p", "/compact", "--continue"); out.code != 0 {
		t.Fatalf("%+v", out)
	}
	_, asked := w.requests(`{"steps":[{"text":"on"}]}`, "-p", "on", "--continue")
	text := strings.Join(texts(asked, "These skills were invoked"), "")
	if n := strings.Count(text, "[Cut here: "); n < 3 || len(text) > 4*25_000 || !strings.Contains(text, "Look at the file, then change it.\n\n[Cut here:") {
		t.Errorf("%d are cut, %d bytes", n, len(text))
	}
	for _, id := range []string{"s60k", "s4k", "s27k"} {
		if !strings.Contains(text, "## Skill "+id+"\n") {
			t.Errorf("%s is not restored", id)
		}
	}
	if !strings.Contains(text, "Read "+w.path(".claude/skills/s60k/SKILL.md")) {
		t.Error("the cut does not say where the rest is")
	}
}
