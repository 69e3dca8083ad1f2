//go:build unix

package file_test

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNeverWaits: pipes, sockets and devices are refused at once, also behind a
// link.
func TestNeverWaits(t *testing.T) {
	b := newBench(t)
	if err := syscall.Mkfifo(b.path("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe", b.path("link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(b.dir) // names of sockets are short
	l, err := net.Listen("unix", "sock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, what := range map[string]string{"pipe": "a named pipe", "link": "a named pipe", "sock": "a socket", "/dev/zero": "a device", "/dev/null": "a device"} {
		for tool, in := range map[string]args{
			"Read":  {"file_path": name},
			"Write": {"file_path": name, "content": "x"},
			"Edit":  {"file_path": name, "old_string": "a", "new_string": "b"},
		} {
			has(t, b.call(tool, in), "! ", "is "+what+", and only regular files")
		}
	}
}

func TestLinks(t *testing.T) { // spec S-8
	b := newBench(t)
	b.put("real", "a\n")
	for link, target := range map[string]string{"link": "real", "dangling": "made/new", "twice": "link"} {
		if err := os.Symlink(target, b.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	// The target is what was read and what is changed, by whichever name.
	b.call("Read", args{"file_path": "twice"})
	has(t, b.call("Edit", args{"file_path": "link", "old_string": "a", "new_string": "b"}), "Changed")
	b.want("real", "b\n")
	if target, err := os.Readlink(b.path("link")); err != nil || target != "real" {
		t.Errorf("the link is gone: %q, %v", target, err)
	}
	has(t, b.call("Write", args{"file_path": "dangling", "content": "new\n"}), "Created")
	b.want("made/new", "new\n")

	p := b.plan("Write", args{"file_path": "link", "content": "x"})
	if err := os.Remove(b.path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", b.path("link")); err != nil {
		t.Fatal(err)
	}
	if r, err := p.Run(t.Context(), env("main")); err != nil || !r.IsError {
		t.Errorf("a link that leads elsewhere after the permission is followed: %+v, %v", r, err)
	}
	if _, err := os.Stat(b.path("other")); err == nil {
		t.Error("the other target was written")
	}
}

func TestRights(t *testing.T) {
	b := newBench(t)
	b.put("f", "a\n")
	mode := func() os.FileMode {
		info, err := os.Stat(b.path("f"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	for _, m := range []os.FileMode{0o755, 0o600, 0o640 | os.ModeSetgid, 0o666} {
		if err := os.Chmod(b.path("f"), m); err != nil {
			t.Fatal(err)
		}
		b.call("Read", args{"file_path": "f"})
		b.call("Write", args{"file_path": "f", "content": m.String()})
		b.want("f", m.String())
		if got := mode(); got != m {
			t.Errorf("mode %v becomes %v", m, got)
		}
	}
	if err := os.Chmod(b.path("f"), 0o444); err != nil {
		t.Fatal(err)
	}
	b.call("Read", args{"file_path": "f"})
	has(t, b.call("Write", args{"file_path": "f", "content": "x"}), "! DIR/f is read-only (mode 444)")
	if entries, err := filepath.Glob(b.path(".knack-*")); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestUmask: a new file has the rights that the person wants new files to have.
func TestUmask(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	b := newBench(t)
	b.call("Write", args{"file_path": "d/f", "content": "x"})
	for name, want := range map[string]os.FileMode{"d": 0o700, "d/f": 0o600} {
		if info, err := os.Stat(b.path(name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
