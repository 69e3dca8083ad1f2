package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/knack-skills/knack/internal/cli"
	"github.com/knack-skills/knack/sandbox"
)

// TestMain makes the test binary the command knack as well, so that scripts and
// tests run the real command line as a process of its own.
func TestMain(m *testing.M) {
	if code, mine := sandbox.Main(os.Args); mine {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){
		"knack": func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"tidy":  func() { os.Exit(tidy(os.Args[1:])) },
		"talk":  func() { os.Exit(talk(os.Args[1:])) },
		"visit": func() { os.Exit(visit(os.Args[1:])) },
	})
}

// TestScript runs the stories in testdata/script (-update rewrites what they
// expect). Each has a home, a state directory, a cache and a managed directory
// of its own. Besides the commands of testscript there are
//
//	exec tidy COMMAND...  run it, with what differs between runs replaced
//	exec talk FILE COMMAND...  run it, and talk to it line by line; see talk
//	exits CODE COMMAND... run it, and demand that exit code
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, isolated(env.WorkDir)...)
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// isolated returns the environment of a run whose files all lie below dir.
func isolated(dir string) []string {
	at := func(name string) string { return filepath.Join(dir, name) }
	return []string{
		"HOME=" + at("home"), "USERPROFILE=" + at("home"), "XDG_CACHE_HOME=" + at("cache"),
		"KNACK_STATE_DIR=" + at("state"), "KNACK_MANAGED_DIR=" + at("managed"),
		"CLAUDE_CONFIG_DIR=", "KNACK_TRUST=", "KNACK_KEYRING=off", "SLASH_COMMAND_TOOL_CHAR_BUDGET=",
		"ANTHROPIC_API_KEY=", "OPENAI_API_KEY=", "GEMINI_API_KEY=", "KNACK_RECORD=", // no test speaks to a model
		"OTEL_EXPORTER_OTLP_ENDPOINT=", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=", "OTEL_SDK_DISABLED=",
		"NO_COLOR=", "COLUMNS=80", "LC_ALL=C.UTF-8", "ROOT=" + dir,
		"KNACK_RECORD=", "ANTHROPIC_API_KEY=", "OPENAI_API_KEY=", "GEMINI_API_KEY=", // no key: the offline model
		"GORACE=atexit_sleep_ms=0", // under -race every process would end a second later
	}
}

// exits runs a command that has to end with the given code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%s ended with exit code %d, not %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// untidy is what differs between two runs of the same script.
var untidy = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`), "SESSION"},
	{regexp.MustCompile(`"ms": ?[0-9]+`), `"ms": 1`},
	{regexp.MustCompile(`in [0-9]+ ms`), "in 1 ms"},
}

// tidy runs a command and prints its output with the directory of the script
// as "$ROOT", session ids as SESSION and durations as 1.
func tidy(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = os.Stdin
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	clean := func(b []byte) string {
		s := strings.ReplaceAll(string(b), os.Getenv("ROOT"), "$ROOT")
		for _, u := range untidy {
			s = u.pattern.ReplaceAllString(s, u.with)
		}
		return s
	}
	fmt.Fprint(os.Stderr, clean(stderr.Bytes()))
	fmt.Fprint(os.Stdout, clean(stdout.Bytes()))
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 127
	}
	return 0
}
