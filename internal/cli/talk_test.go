package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// talk runs a command that reads messages (--input-format stream-json), and does
// one line of a file after the other:
//
//	say TEXT           send a message
//	await TEXT         read what the command prints until a line has the text in it
//	do COMMAND ARGS... run a process of its own, such as one that changes files
//
// What the command prints is printed, and what it has not printed within a minute
// ends it.
func talk(args []string) int {
	script, err := os.ReadFile(args[0])
	if err != nil {
		return complain(err)
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return complain(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return complain(err)
	}
	if err := cmd.Start(); err != nil {
		return complain(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewReader(out)
	failed := 0
	for line := range strings.Lines(string(script)) {
		if err := act(strings.TrimSpace(line), in, lines); err != nil {
			failed = complain(fmt.Errorf("%s: %w", strings.TrimSpace(line), err))
			break
		}
	}
	in.Close()
	_, _ = io.Copy(os.Stdout, lines)
	if err := cmd.Wait(); err != nil {
		return complain(err)
	}
	return failed
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "talk:", err)
	return 1
}

func act(line string, in io.Writer, out *bufio.Reader) error {
	what, rest, _ := strings.Cut(line, " ")
	switch what {
	case "", "#":
		return nil
	case "say":
		return json.NewEncoder(in).Encode(map[string]any{"type": "user", "message": map[string]string{"role": "user", "content": rest}})
	case "await":
		for {
			got, err := out.ReadString('\n')
			fmt.Print(got)
			if strings.Contains(got, rest) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("it never came: %w", err)
			}
		}
	case "do":
		words := strings.Fields(rest)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stderr = os.Stderr
		return cmd.Run()
	}
	return fmt.Errorf("there is nothing called %q", what)
}
