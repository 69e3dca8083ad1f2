//go:build unix

package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/internal/lab/killed"
)

// limit sets the largest file a writer may make, and keeps it alive when it
// wants more: writes then end in the middle, as on a full disk.
func limit() {
	if n, err := strconv.ParseUint(os.Getenv("AUDIT_LIMIT"), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			panic(err)
		}
	}
}

func writer(ctx context.Context, path, session string, n int, more ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "AUDIT_WRITER="+path, "AUDIT_SESSION="+session, "AUDIT_RECORDS="+strconv.Itoa(n))
	cmd.Env = append(cmd.Env, more...)
	return cmd
}

// TestKilled: kill -9 while records are written leaves at most one broken line
// for each writer that was killed, and the next writer begins on a new line.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "audit.jsonl")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	const rounds = 5
	for i := range rounds {
		killed.At(t, writer(ctx, path, fmt.Sprintf("s%d", i), 0), len("going\n"))
		log := &audit.Log{Path: path}
		if err := log.Write(audit.Record{Kind: audit.Decision, SessionID: "after", Outcome: "allow"}); err != nil {
			t.Fatal(err)
		}
	}
	whole, broken, after := 0, 0, 0
	for e, err := range audit.Read(ctx, path, audit.Filter{}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Damage != "":
			broken++
		case e.Record.SessionID == "after":
			after++
		default:
			whole++
		}
	}
	if after != rounds || broken > rounds || whole < rounds*20 {
		t.Errorf("%d records of those who came after, %d broken lines, %d whole", after, broken, whole)
	}
}

// TestTogether: processes and goroutines that append at once tear no line and
// lose none, also while the file is moved away under them.
func TestTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	const writers, records = 3, 400
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			if out, err := writer(ctx, path, fmt.Sprintf("s%d", i), records).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	files := []string{path}
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.%d", path, n)
		if n <= 5 && os.Rename(path, to) == nil {
			files = append(files, to)
		}
		select {
		case <-done:
		default:
			continue
		}
		break
	}
	got := map[string]int{}
	for _, f := range files {
		for e, err := range audit.Read(ctx, f, audit.Filter{}) {
			if err != nil || e.Damage != "" {
				t.Fatalf("%s line %d: %s %v", f, e.Line, e.Damage, err)
			}
			got[e.Record.SessionID]++
		}
	}
	for i := range writers {
		if n := got[fmt.Sprintf("s%d", i)]; n != records {
			t.Errorf("writer %d: %d records of %d", i, n, records)
		}
	}
}

// TestFull: a disk that takes no more costs records, each with an error that
// says what to do, and breaks neither the writer nor the lines after it.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out, err := writer(ctx, path, "s", 30, "AUDIT_LIMIT=50000").Output()
	if err == nil || !strings.Contains(string(out), "has lost a record") || !strings.Contains(string(out), "move it away") {
		t.Fatalf("%v\n%s", err, out)
	}
	log := &audit.Log{Path: path}
	if err := log.Write(audit.Record{Kind: audit.Decision, Outcome: "allow"}); err != nil {
		t.Fatal(err)
	}
	whole, broken := 0, 0
	for e := range audit.Read(ctx, path, audit.Filter{}) {
		if e.Damage != "" {
			broken++
		} else {
			whole++
		}
	}
	lost := bytes.Count(out, []byte("lost a record"))
	if whole != 31-lost || broken > 1 || lost == 0 {
		t.Errorf("%d whole, %d broken, %d lost", whole, broken, lost)
	}
}

// TestNotAFile: nothing is followed, waited for or written in place of a plain
// file, and the error says what to do.
func TestNotAFile(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(path string) error
		say  string
	}{
		"link": {func(p string) error { return os.Symlink(filepath.Join(filepath.Dir(p), "target"), p) }, "links are not followed"},
		"link to a file": {func(p string) error {
			target := filepath.Join(filepath.Dir(p), "other")
			if err := os.WriteFile(target, nil, 0o600); err != nil {
				return err
			}
			return os.Symlink(target, p)
		}, "links are not followed"},
		"pipe":      {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "move it away"},
		"directory": {func(p string) error { return os.Mkdir(p, 0o700) }, "KNACK_STATE_DIR"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "audit.jsonl")
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			log := &audit.Log{Path: path}
			for range 2 { // the second is tried again
				err := log.Write(audit.Record{Kind: audit.Hook})
				if err == nil || !strings.Contains(err.Error(), tt.say) || !strings.Contains(err.Error(), path) {
					t.Errorf("error %v", err)
				}
			}
			list, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range list {
				if fi, err := os.Stat(filepath.Join(dir, d.Name())); err == nil && fi.Mode().IsRegular() && fi.Size() > 0 {
					t.Errorf("%s was written", d.Name())
				}
			}
		})
	}
}

// TestModes: the log is for its owner alone.
func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "audit.jsonl")
	log := &audit.Log{Path: path}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("there is a directory before there is a record")
	}
	if err := log.Write(audit.Record{Kind: audit.Hook}); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if fi, err := os.Stat(p); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", p, fi.Mode(), err)
		}
	}
}

// TestStoppedWriter: somebody who holds the lock and does nothing delays one
// record, and makes none wait for ever.
func TestStoppedWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"time":"2026-`); err != nil {
		t.Fatal(err)
	}
	log := &audit.Log{Path: path}
	for range 20 {
		if err := log.Write(audit.Record{Kind: audit.Hook, Outcome: "ok"}); err != nil {
			t.Fatal(err)
		}
	}
	whole, broken := 0, 0
	for e := range audit.Read(t.Context(), path, audit.Filter{}) {
		if e.Damage == "" {
			whole++
		} else {
			broken++
		}
	}
	if whole != 20 || broken != 1 {
		t.Errorf("%d whole, %d broken", whole, broken)
	}
}
