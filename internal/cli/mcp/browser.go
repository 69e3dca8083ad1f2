package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	"github.com/knack-skills/knack/mcpclient/oauth"
	"github.com/knack-skills/knack/text"
)

// browsers are the programs that open a page, by operating system; "" is the
// rest. The address is their last argument and no shell reads it.
var browsers = map[string][]string{
	"darwin":  {"open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
	"":        {"xdg-open"},
}

// browser is the command that opens a page.
func browser(getenv func(string) string, system, page string) []string {
	// The variable may name several, of which the first is the person's choice.
	own, _, _ := strings.Cut(getenv("BROWSER"), ":")
	if system == "windows" {
		own = getenv("BROWSER") // colons stand in paths there
	}
	cmd := strings.Fields(own)
	if system == "windows" && own != "" {
		cmd = []string{own}
	}
	if len(cmd) == 0 {
		var known bool
		if cmd, known = browsers[system]; !known {
			cmd = browsers[""]
		}
	}
	out, placed := []string{}, false
	for _, arg := range cmd {
		if strings.Contains(arg, "%s") {
			arg, placed = strings.ReplaceAll(arg, "%s", page), true
		}
		out = append(out, arg)
	}
	if !placed {
		out = append(out, page)
	}
	return out
}

// A visitor is the person at this terminal.
type visitor struct {
	name   string
	say    io.Writer
	paste  io.Reader // what they paste; nil means that a browser is opened
	getenv func(string) string
}

var _ oauth.Person = (*visitor)(nil)

// maxPasted bounds an address that is pasted, in bytes.
const maxPasted = 64 << 10

// Visit implements [oauth.Person].
func (v *visitor) Visit(ctx context.Context, page string) (answer string, err error) {
	if v.paste != nil {
		fmt.Fprintf(v.say, "To sign in at %s, open\n%s\nIf that browser runs on another machine, paste the address that it ends at:\n", text.Terminal(v.name), text.Terminal(page))
		line, err := bufio.NewReader(io.LimitReader(v.paste, maxPasted)).ReadString('\n')
		if err != nil && err != io.EOF {
			return "", err
		}
		return line, nil
	}
	fmt.Fprintf(v.say, "A browser opens, for you to sign in at %s. If it does not, open\n%s\n", text.Terminal(v.name), text.Terminal(page))
	cmd := browser(v.getenv, runtime.GOOS, page)
	c := exec.CommandContext(context.WithoutCancel(ctx), cmd[0], cmd[1:]...) // it stays when the person has answered
	if err := c.Start(); err != nil {
		fmt.Fprintf(v.say, "(no browser opens: %v)\n", err)
		return "", nil
	}
	go func() { _ = c.Wait() }() // how it ends says nothing about the person
	return "", nil
}
