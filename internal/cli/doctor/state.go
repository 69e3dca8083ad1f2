package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/session/transcript"
)

func state(e *knack.Engine) []Finding {
	d := e.TrustStore().Dir
	f := Finding{Area: "state", Name: "directory", Status: "ok", Detail: d}
	fi, err := os.Stat(d)
	const own = "set KNACK_STATE_DIR to a directory of your own"
	switch {
	case d == "":
		f.Status, f.Detail, f.Fix = "missing", "there is none, so nothing is remembered", own
	case errors.Is(err, fs.ErrNotExist):
		f.Status, f.Detail = "missing", d+": made on first use"
	case err != nil || !fi.IsDir():
		f.Status, f.Detail, f.Fix = "bad", d+": not a usable directory", own
	case runtime.GOOS != "windows" && fi.Mode().Perm()&0o022 != 0:
		// Whoever can write there can trust and approve in the person's name.
		f.Status, f.Detail = "bad", fmt.Sprintf("%s: others may write it (mode %04o), and with it what you trust", d, fi.Mode().Perm())
		f.Fix = "chmod 700 " + d
	case !writable(d):
		f.Status, f.Detail, f.Fix = "bad", d+": cannot be written, so nothing is remembered", own
	}
	out := []Finding{f}
	if f.Status == "ok" {
		out = append(out, auditLog(filepath.Join(d, audit.FileName)))
	}
	return append(out, transcripts(e, d)...)
}

// writable tries it, and leaves nothing behind.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return false
	}
	f.Close()
	return os.Remove(f.Name()) == nil
}

// auditLog says whether records can be added (spec S-12). It adds none.
func auditLog(path string) Finding {
	f := Finding{Area: "state", Name: "audit", Status: "ok", Detail: path}
	const fix = "move it away, or make it a file that you may write; until then nothing is on record"
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Status, f.Detail = "missing", path+": made with the first decision"
		return f
	case err != nil || !fi.Mode().IsRegular():
		f.Status, f.Detail, f.Fix = "bad", path+": no file that can be written", fix
		return f
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		f.Status, f.Detail, f.Fix = "bad", err.Error(), fix
		return f
	}
	file.Close()
	if runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		f.Status, f.Detail = "bad", fmt.Sprintf("%s: others may read or write it (mode %04o)", path, fi.Mode().Perm())
		f.Fix = "chmod 600 " + path
	}
	return f
}

// transcripts is where the sessions of this project are kept.
func transcripts(e *knack.Engine, stateDir string) []Finding {
	p, err := transcript.At(stateDir, e.ProjectDir())
	if err != nil {
		return nil // there is no state directory, which was said
	}
	f := Finding{Area: "state", Name: "transcripts", Status: "ok", Detail: p.Dir}
	if _, err := os.Stat(p.Dir); errors.Is(err, os.ErrNotExist) {
		f.Status, f.Detail = "missing", p.Dir+": no session of this project was kept yet"
	}
	return []Finding{f}
}
