package shell_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/shell/shelltest"
)

func TestExec(t *testing.T) { shelltest.Run(t, shell.Exec{}) }

// One stream's file stops at 64 MiB; the command goes on and nothing is silent
// (spec P-11).
func TestExecFlood(t *testing.T) {
	dir := t.TempDir()
	out, err := shell.Exec{}.Run(t.Context(), shell.Command{
		Line: "head -c 70000000 /dev/zero; echo end >&2", Limit: 1000, Spill: dir, Timeout: time.Minute,
	})
	if err != nil || out.Exit != 0 || string(out.Stderr) != "end\n" {
		t.Fatalf("exit %d, stderr %q, error %v", out.Exit, out.Stderr, err)
	}
	if !out.Lost || len(out.Stdout) != 1000 {
		t.Errorf("lost %v, %d bytes kept", out.Lost, len(out.Stdout))
	}
	f, err := os.Open(out.StdoutFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if size := info.Size(); size < 64<<20 || size > 64<<20+200 {
		t.Errorf("file has %d bytes, want 64 MiB and a note", size)
	}
	tail := make([]byte, 60)
	if _, err := f.ReadAt(tail, info.Size()-60); err != nil || !strings.Contains(string(tail), "67108864 bytes was not saved") {
		t.Errorf("file ends with %q (%v)", tail, err)
	}
}

func TestExecShortestTimeout(t *testing.T) {
	out, err := shell.Exec{}.Run(t.Context(), shell.Command{Line: "sleep 300", Timeout: 1})
	if err != nil || !out.TimedOut || out.Exit != 137 {
		t.Errorf("timed out %v, exit %d, error %v", out.TimedOut, out.Exit, err)
	}
}

func TestExecStripsNUL(t *testing.T) {
	out, err := shell.Exec{}.Run(t.Context(), shell.Command{
		Line: `echo "$0 $1 $X"`, Args: []string{"a\x00b", "c"}, Env: []string{"X=d\x00e"},
	})
	if err != nil || string(out.Stdout) != "ab c de\n" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}

func TestAvailable(t *testing.T) {
	for _, name := range []string{"", "bash"} {
		if err := (shell.Exec{}).Available(name); err != nil {
			t.Errorf("Available(%q): %v", name, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	for name, want := range map[string]string{
		"bash":       "bash was not found on PATH: install bash",
		"":           "bash was not found on PATH: install bash",
		"powershell": "pwsh was not found on PATH: install PowerShell 7",
		"fish":       `unknown shell "fish": use bash or powershell`,
	} {
		err := shell.Exec{}.Available(name)
		var missing *shell.MissingError
		if !errors.As(err, &missing) || missing.Shell != name || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Available(%q) = %v, want %q", name, err, want)
		}
	}
}

// A program of the working directory is not an installed interpreter.
func TestAvailableIgnoresWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bash"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("PATH", ".")
	if err := (shell.Exec{}).Available("bash"); err == nil {
		t.Error("./bash was taken for bash")
	}
}

// PowerShell gets arguments through the environment, never as program text
// (spec P-9). The stand-in prints what it was started with.
func TestPowershellArguments(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\nprintf '[%s]' \"$@\"\nprintf '|%s|%s' \"$KNACK_POSITIONAL_0\" \"$KNACK_POSITIONAL_1\"\n"
	if err := os.WriteFile(filepath.Join(dir, "pwsh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := shell.Exec{}.Run(t.Context(), shell.Command{
		Line: "Get-Item $0", Shell: "powershell", Args: []string{"a; Remove-Item x", "$(whoami)"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "[-NoLogo][-NoProfile][-NonInteractive][-OutputFormat][Text][-Command][" +
		"${0} = [string]$env:KNACK_POSITIONAL_0\n${1} = [string]$env:KNACK_POSITIONAL_1\n" +
		"$LASTEXITCODE = 0\nGet-Item $0\n" +
		"if ($?) { exit 0 } elseif ($LASTEXITCODE) { exit $LASTEXITCODE } else { exit 1 }\n]" +
		"|a; Remove-Item x|$(whoami)"
	if got := string(out.Stdout); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func BenchmarkExec(b *testing.B) {
	for b.Loop() {
		if _, err := (shell.Exec{}).Run(b.Context(), shell.Command{Line: ":"}); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleExec() {
	// Arguments never become program text.
	out, err := shell.Exec{}.Run(context.Background(), shell.Command{
		Line: `echo "hello, $0"`,
		Args: []string{"$(whoami); exit 1"},
	})
	fmt.Printf("%s%d %v\n", out.Stdout, out.Exit, err)
	// Output:
	// hello, $(whoami); exit 1
	// 0 <nil>
}
