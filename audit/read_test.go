package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/knack-skills/knack/audit"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 5_600_000, time.FixedZone("", 3600))

func write(t *testing.T, path string, list ...audit.Record) {
	t.Helper()
	log := &audit.Log{Path: path, Now: func() time.Time { return noon }}
	for _, r := range list {
		if err := log.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLine: the text of a record (spec S-12), which scripts read.
func TestLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	write(t, path,
		audit.Record{SessionID: "s1", AgentID: "main", Kind: audit.Decision, Tool: "Bash", Rule: "Bash(git *)", Source: "user", Outcome: "allow"}.
			With(map[string]string{"command": "git log >x && echo <y>"}),
		audit.Record{Kind: audit.Invocation, Skill: "deploy", SkillHash: "abc", Outcome: "error", Detail: []byte("no JSON\n\xff")})
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"time":"2026-11-30T11:00:00.005Z","session_id":"s1","agent_id":"main","kind":"decision","tool":"Bash","rule":"Bash(git *)","source":"user","outcome":"allow","detail":{"command":"git log >x && echo <y>"}}
{"time":"2026-11-30T11:00:00.005Z","session_id":"","kind":"invocation","skill":"deploy","skill_hash":"abc","outcome":"error","detail":"no JSON\n` + `\ufffd` + `"}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log := &audit.Log{Path: path}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var told []error
	sink := audit.Tell(log, func(err error) { told = append(told, err) })
	for range 3 {
		if err := sink.Write(audit.Record{Kind: audit.Hook}); err == nil {
			t.Error("a closed log takes records")
		}
	}
	if len(told) != 1 || !strings.Contains(told[0].Error(), "lost a record") {
		t.Errorf("told %v", told)
	}
}

// TestAnyRecord: whatever a record holds, it is one line of bounded length that
// reads as a record again.
func TestAnyRecord(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.IntRange(0, 80_000), func(n int) string { return strings.Repeat("\x01é\\", n/4) }),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		r := audit.Record{SessionID: text.Draw(t, "session"), Kind: audit.Command, Tool: text.Draw(t, "tool"), Rule: text.Draw(t, "rule"), Outcome: "ok"}
		if rapid.Bool().Draw(t, "raw") {
			r.Detail = []byte(text.Draw(t, "detail"))
		} else {
			r = r.With(map[string]any{"a": text.Draw(t, "a"), "list": []string{text.Draw(t, "b"), "x"}, "exit_code": 7})
		}
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := (&audit.Log{Path: path}).Write(r); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(data); len(s) > audit.MaxLine || strings.Count(s, "\n") != 1 || !strings.HasSuffix(s, "\n") {
			t.Fatalf("%d bytes, %d newlines", len(s), strings.Count(s, "\n"))
		}
		for e, err := range audit.Read(context.Background(), path, audit.Filter{}) {
			if err != nil || e.Damage != "" || e.Record.Kind != audit.Command {
				t.Fatalf("%+v %v", e, err)
			}
		}
	})
}

// TestShortened: of a long detail what stands beside the long text is kept.
func TestShortened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	write(t, path,
		audit.Record{Kind: audit.Command}.With(map[string]any{"command": strings.Repeat("x", 100_000), "exit_code": 7}),
		audit.Record{Kind: audit.Command}.With(make([]int, 100_000)))
	var got []string
	for e := range audit.Read(t.Context(), path, audit.Filter{}) {
		got = append(got, string(e.Record.Detail))
	}
	if len(got) != 2 || !strings.Contains(got[0], `"exit_code":7`) || !strings.Contains(got[0], "… [67232 bytes more]") ||
		!strings.HasPrefix(got[1], `{"shortened":"[0,0,`) || !strings.Contains(got[1], "bytes more]") {
		t.Errorf("%.300q", got)
	}
}

// TestDamage: what is no record is said with its number and hides nothing.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	good := `{"time":"2026-11-30T11:00:00.005Z","kind":"hook","session_id":"s","outcome":"ok"}`
	text := strings.Join([]string{good, `{"time":`, "", good + "\r", strings.Repeat("x", 3<<20), `{}`, `[]`, good, `{"time":"2026-11-3`}, "\n")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"1 ok", "2 it is no record: unexpected end of JSON input", "4 ok", "5 it is longer than 1024 KiB, which no record is",
		"6 it is no record: it has no time, or no kind", "7 it is no record: json: cannot unmarshal array into Go value of type audit.Record",
		"8 ok", "9 its end is missing: it is being written, or its writer was killed"}
	list, err := audit.Last(t.Context(), path, audit.Filter{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, lines(list)); diff != "" {
		t.Errorf("from the end: %s", diff)
	}
	if diff := cmp.Diff(want, lines(all(t, path, audit.Filter{}))); diff != "" {
		t.Errorf("from the beginning: %s", diff)
	}
	// No filter can say whether it wants a line that nobody can read.
	if got := len(all(t, path, audit.Filter{Session: []string{"none"}})); got != 5 {
		t.Errorf("%d damaged lines", got)
	}
}

func all(t *testing.T, path string, f audit.Filter) (out []audit.Entry) {
	t.Helper()
	for e, err := range audit.Read(t.Context(), path, f) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func lines(list []audit.Entry) (out []string) {
	for _, e := range list {
		if e.Damage == "" {
			out = append(out, fmt.Sprint(e.Line, " ", e.Record.Outcome))
		} else {
			out = append(out, fmt.Sprint(e.Line, " ", e.Damage))
		}
	}
	return out
}

// TestLast: reading from the end finds what reading from the beginning finds.
func TestLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for i := range rapid.IntRange(0, 40).Draw(t, "lines") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				b.WriteString(strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 65535, 65536, 200_000}).Draw(t, "length")))
			default:
				fmt.Fprintf(&b, `{"time":"2026-11-30T11:00:00.005Z","kind":"%s","outcome":"%d"}`, rapid.SampledFrom([]string{"hook", "command"}).Draw(t, "what"), i)
			}
			b.WriteByte('\n')
		}
		text := b.String()
		text = text[:len(text)-rapid.IntRange(0, min(30, len(text))).Draw(t, "torn")]
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f := audit.Filter{Kind: rapid.SampledFrom([][]string{nil, {"hook"}}).Draw(t, "filter")}
		n := rapid.IntRange(1, 10).Draw(t, "n")
		var want []string
		records := 0
		for e, err := range audit.Read(context.Background(), path, f) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Damage == "" {
				records++
			}
			want = append(want, lines([]audit.Entry{e})...)
		}
		got, err := audit.Last(context.Background(), path, f, n)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < len(want) && records < n || len(got) > len(want) {
			t.Fatalf("%d of %d entries", len(got), len(want))
		}
		if diff := cmp.Diff(want[len(want)-len(got):], lines(got)); len(got) > 0 && diff != "" {
			t.Fatal(diff)
		}
		found := 0
		for _, e := range got {
			if e.Damage == "" {
				found++
			}
		}
		if found != min(n, records) {
			t.Fatalf("%d records of the last %d", found, n)
		}
	})
}

func TestFilter(t *testing.T) {
	r := audit.Record{Time: noon, SessionID: "3f2a-1", AgentID: "main", Kind: audit.Decision, Tool: "Skill",
		Skill: "deploy:eu", Rule: "Skill(deploy:*)", Source: "/home/u/.claude/settings.json", Outcome: "deny"}
	for name, tt := range map[string]struct {
		f    audit.Filter
		want bool
	}{
		"nothing asked":    {audit.Filter{}, true},
		"since then":       {audit.Filter{Since: noon}, true},
		"since later":      {audit.Filter{Since: noon.Add(1)}, false},
		"until then":       {audit.Filter{Until: noon}, false},
		"until later":      {audit.Filter{Until: noon.Add(1)}, true},
		"session":          {audit.Filter{Session: []string{"3f2a-1"}}, true},
		"part of it":       {audit.Filter{Session: []string{"3f2a"}}, false},
		"its beginning":    {audit.Filter{Session: []string{"3f2a*"}}, true},
		"one of two":       {audit.Filter{Outcome: []string{"ask", "deny"}}, true},
		"two fields":       {audit.Filter{Outcome: []string{"deny"}, Agent: []string{"a1"}}, false},
		"kind":             {audit.Filter{Kind: []string{"hook"}}, false},
		"tool":             {audit.Filter{Tool: []string{"Skill"}}, true},
		"case":             {audit.Filter{Tool: []string{"skill"}}, false},
		"skill":            {audit.Filter{Skill: []string{"deploy:*"}}, true},
		"middle":           {audit.Filter{Source: []string{"*/.claude/*"}}, true},
		"both ends":        {audit.Filter{Source: []string{"/home/*settings.json"}}, true},
		"stars in order":   {audit.Filter{Source: []string{"*settings*.claude*"}}, false},
		"end too short":    {audit.Filter{Skill: []string{"deploy:eu*u"}}, false},
		"rule with a star": {audit.Filter{Rule: []string{"Skill(deploy:*)"}}, true},
		"empty":            {audit.Filter{Skill: []string{""}}, false},
	} {
		if got := tt.f.Wants(&r); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "audit.jsonl")
	if got := all(t, path, audit.Filter{}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got, err := audit.Last(t.Context(), path, audit.Filter{}, 3); err != nil || len(got) > 0 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	write(t, path, make([]audit.Record, 1000)...)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var last error
	n := 0
	for _, err := range audit.Read(ctx, path, audit.Filter{}) {
		last = err
		n++
	}
	if !errors.Is(last, context.Canceled) || n == 1000 {
		t.Errorf("%d entries, then %v", n, last)
	}
	if _, err := audit.Last(ctx, path, audit.Filter{}, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func BenchmarkRead(b *testing.B) {
	path := hundredThousand(b)
	f := audit.Filter{Skill: []string{"deploy*"}, Outcome: []string{"deny"}}
	for b.Loop() {
		for _, err := range audit.Read(b.Context(), path, f) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

func BenchmarkLast(b *testing.B) {
	path := hundredThousand(b)
	for b.Loop() {
		if list, err := audit.Last(b.Context(), path, audit.Filter{}, 20); err != nil || len(list) != 20 {
			b.Fatal(list, err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	log := &audit.Log{Path: filepath.Join(b.TempDir(), "audit.jsonl")}
	r := record(1)
	for b.Loop() {
		if err := log.Write(r); err != nil {
			b.Fatal(err)
		}
	}
}

func record(i int) audit.Record {
	return audit.Record{Time: noon, SessionID: "3f2a7c1e-0000-4000-8000-000000000000", AgentID: "main", Kind: audit.Decision,
		Tool: "Bash", Skill: "deploy", Rule: "Bash(git status *)", Source: "/home/u/.claude/settings.json",
		Outcome: []string{"allow", "deny"}[i%2]}.With(map[string]any{"command": "git status --short", "reason": "allowed by a rule"})
}

func hundredThousand(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "audit.jsonl")
	log := &audit.Log{Path: path}
	for i := range 100_000 {
		if err := log.Write(record(i)); err != nil {
			b.Fatal(err)
		}
	}
	return path
}
