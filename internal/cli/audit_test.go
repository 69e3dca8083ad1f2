package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knack-skills/knack/audit"
)

// records returns what knack audit --json prints.
func (w *world) records(args ...string) (out []audit.Record) {
	w.t.Helper()
	got := w.run(append([]string{"audit", "--json"}, args...)...)
	if got.code != 0 || strings.Contains(got.stderr, "damaged") {
		w.t.Fatalf("%+v", got)
	}
	for line := range strings.Lines(got.stdout) {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			w.t.Fatalf("%v in %s", err, line)
		}
		out = append(out, r)
	}
	return out
}

// TestAudited: whoever starts a skill, with a model or without, it is on
// record, with what was decided and run for it (spec S-12, I-13).
func TestAudited(t *testing.T) {
	w := newWorld(t)
	w.skill("runs", "---\ndescription: runs\nallowed-tools: Bash(touch *)\n---\n!`touch made`\n")
	w.skill("refused", "---\ndescription: refused\n---\n!`touch never`\n")
	call := `{"calls":[{"name":"Skill","input":{"skill":"aaa"}},{"name":"Bash","input":{"command":"touch never","description":"d"}}]}`
	w.run("-p", "/runs", "--trust")
	w.run("-p", "/refused", "--trust")
	w.run("-p", "/aab")
	w.requests(`{"steps":[`+call+`,{"text":"end"}]}`, "-p", "go", "--trust")
	var got []string
	for _, r := range w.records("--kind", "invocation", "--kind", "command") {
		var d audit.Invoked
		if err := json.Unmarshal(r.Detail, &d); err != nil {
			// The detail of a command has other keys.
			d.By = ""
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Kind, r.Skill, r.Outcome, d.By)))
		if hash := w.hash(r.Skill); r.Kind == audit.Invocation && r.Outcome == "ok" && r.SkillHash != hash {
			t.Errorf("skill %s has hash %q in the log, and %q", r.Skill, r.SkillHash, hash)
		}
	}
	want := []string{"command runs ok", "invocation runs ok user", "invocation refused blocked user", "invocation aaa ok model"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if list := w.records("--kind", "decision", "--outcome", "deny"); len(list) != 2 || list[0].Skill != "refused" || list[1].Tool != "Bash" {
		t.Errorf("refusals: %+v", list)
	}
	fi, err := os.Stat(filepath.Join(w.dir, "state", "audit.jsonl"))
	if err != nil || os.PathSeparator == '/' && fi.Mode().Perm() != 0o600 {
		t.Error(fi.Mode(), err)
	}
}

// hash is that of knack show.
func (w *world) hash(id string) string {
	var s struct{ Hash string }
	if err := json.Unmarshal([]byte(w.run("show", id, "--json").stdout), &s); err != nil {
		w.t.Fatal(err)
	}
	return s.Hash
}

// TestNotAudited: what only looks leaves no record, and makes no log.
func TestNotAudited(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{{"list"}, {"show", "aaa"}, {"explain", "aaa", "--by", "model"}, {"check"}, {"doctor"},
		{"permissions", "explain", "Skill", `{"skill":"aaa"}`}, {"audit"}} {
		w.run(args...)
		if _, err := os.Lstat(filepath.Join(w.dir, "state", "audit.jsonl")); err == nil {
			t.Fatalf("knack %s writes the audit log", strings.Join(args, " "))
		}
	}
}

// TestAuditTogether: processes that work at once tear no line and lose none.
func TestAuditTogether(t *testing.T) {
	w := newWorld(t)
	var group sync.WaitGroup
	const n = 8
	for range n {
		group.Go(func() {
			if out, err := w.command(t.Context(), "-p", "/aaa").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
	sessions := map[string]bool{}
	for _, r := range w.records("--kind", "invocation") {
		sessions[r.SessionID] = true
	}
	if len(sessions) != n {
		t.Errorf("%d sessions of %d", len(sessions), n)
	}
}

// TestAuditUnwritable: a log that cannot be written stops nobody, and is said
// once, with what to do.
func TestAuditUnwritable(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(filepath.Join(w.dir, "state", "audit.jsonl"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := w.run("-p", "/aaa /zzz x")
	if out.code != 0 || strings.Count(out.stderr, "the audit log has lost a record") != 1 || !strings.Contains(out.stderr, "KNACK_STATE_DIR") {
		t.Errorf("%+v", out)
	}
}

// TestAuditFollow: records appear as they come, over a rotation, until Ctrl-C.
func TestAuditFollow(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("there is no interrupt to send")
	}
	w := newWorld(t)
	w.run("-p", "/aaa")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := w.command(ctx, "audit", "--follow", "--json", "--kind", "invocation")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	log := filepath.Join(w.dir, "state", "audit.jsonl")
	for i, skill := range []string{"aaa", "zzz", "aaa"} {
		switch i {
		case 1:
			w.run("-p", "/zzz")
		case 2:
			if err := os.Rename(log, log+".1"); err != nil {
				t.Fatal(err)
			}
			w.run("-p", "/aaa")
		}
		if !lines.Scan() || !strings.Contains(lines.Text(), `"skill":"`+skill+`"`) {
			t.Fatalf("line %d is %q", i+1, lines.Text())
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("a line too many: %s", lines.Text())
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d", code)
	}
}
