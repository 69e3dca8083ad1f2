package hookexec

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/gitignore"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/permission"
)

// group runs the matching entries of one group side by side. before are the
// entries of earlier groups.
func (r *Runner) group(ctx context.Context, entries, before []Entry, in hook.Input) (hook.Outcome, []Result) {
	results := r.all(ctx, r.pick(entries, in), in)
	out := hook.Combine(outcomes(results))
	if len(out.UpdatedInput) == 0 {
		return out, results
	}
	// Earlier groups, and those of this one that are trusted more than who
	// changed the input, judge it anew: what they let pass was something else,
	// and their "if" may speak of what it is now.
	now := changed(in, out.UpdatedInput)
	again := r.all(ctx, r.pick(slices.Concat(awaited(before), above(entries, results)), now), now)
	for _, a := range again {
		a.Outcome.UpdatedInput = nil
		out = hook.Then(out, a.Outcome)
	}
	return out, append(results, again...)
}

func outcomes(results []Result) []hook.Outcome {
	list := make([]hook.Outcome, len(results))
	for i, res := range results {
		list[i] = res.Outcome
	}
	return list
}

// above returns the entries that outrank the one whose change counts.
func above(entries []Entry, results []Result) []Entry {
	i := slices.IndexFunc(results, func(res Result) bool { return len(res.Outcome.UpdatedInput) > 0 })
	rank := ranks[results[i].Entry.Level]
	return slices.DeleteFunc(awaited(entries), func(e Entry) bool { return ranks[e.Level] <= rank })
}

// awaited returns the entries that have a say.
func awaited(entries []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Handler.Async })
}

// changed is in with another tool input. What "if" rules cover was worked out
// for the old one, so a rule about the tool covers the new one as well.
func changed(in hook.Input, input json.RawMessage) hook.Input {
	before := in.Covers
	in.ToolInput = input
	in.Covers = func(rule string) bool {
		if before != nil && before(rule) {
			return true
		}
		parsed, err := permission.ParseRule(rule)
		return err == nil && parsed.Tool == in.ToolName
	}
	return in
}

// pick returns the entries that match in, each handler of one source once.
func (r *Runner) pick(entries []Entry, in hook.Input) []Entry {
	var run []Entry
	seen := map[string]bool{}
	for _, e := range entries {
		if !r.matches(e, in) {
			continue
		}
		if same := e.Level + "\x00" + e.Owner + "\x00" + does(e.Handler); !seen[same] {
			seen[same] = true
			run = append(run, e)
		}
	}
	return run
}

// does is what a handler does, as a key: handlers that differ in their "if",
// their time limit or their message do the same.
func does(h hook.Handler) string {
	h.If, h.Timeout, h.StatusMessage = "", 0, ""
	key, err := json.Marshal(h)
	if err != nil { // an input that JSON cannot hold: equal to nothing
		return h.Type + h.Server + h.Tool
	}
	return string(key)
}

func (r *Runner) matches(e Entry, in hook.Input) bool {
	own := e.Level == Skill || e.Level == Agent
	if !hook.FiresFor(e.Event, in.Event, own) || !hook.Matches(e.Event, e.Matcher, in, r.file) {
		return false
	}
	return e.Handler.If == "" || in.Covers != nil && in.Covers(e.Handler.If)
}

// file reports whether a path lies in the project and matches a gitignore
// pattern, or one of several with "|" between.
func (r *Runner) file(pattern, path string) bool {
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(r.opts.ProjectDir, path)
		if r.opts.ProjectDir == "" || err != nil {
			return false
		}
		path = rel
	}
	_, ok := gitignore.Compile(strings.Split(pattern, "|")...).Match(filepath.ToSlash(path), false)
	return ok
}

// all runs entries side by side and returns their results in order.
func (r *Runner) all(ctx context.Context, entries []Entry, in hook.Input) []Result {
	payload := encode(in)
	results := make([]Result, len(entries))
	var wg sync.WaitGroup
	for i, e := range entries {
		if e.Handler.Async {
			results[i] = r.background(ctx, e, in, payload)
			continue
		}
		wg.Go(func() { results[i] = r.one(ctx, e, in, payload) })
	}
	wg.Wait()
	return results
}

// encode is what hooks are told. Shell scripts search it for "<" and "&" as
// they were written.
func encode(in hook.Input) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(in); err != nil {
		return nil // texts, and JSON that was checked
	}
	return b.Bytes()
}
