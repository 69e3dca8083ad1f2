// Package servers starts the MCP servers of a workspace beside a command and
// joins what they offer to its engine (spec X-6). A command waits for servers
// only as far as it names them or lists what they offer.
package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool/remote"
	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpclient/sdk"
	"github.com/knack-skills/knack/mcpconfig"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/mcp"
)

// How long a command waits for servers that have not answered yet.
const (
	forName  = 5 * time.Second // for the one that it names
	forTools = 5 * time.Second // for those whose tools a conversation has
	forList  = 2 * time.Second // for those whose skills it lists
)

// Options is how servers are started.
type Options struct {
	Engine  *knack.Engine
	Flags   []string // --mcp-config
	Version string   // of this program
	// Notice is told what the person should know, by whoever calls Open or a
	// method: what happens meanwhile waits for the next call.
	Notice func(string)
	// Report is told what is wrong with the configuration.
	Report func(skill.Problem)
	// Only leaves servers out by their names; nil starts all.
	Only func(name string) bool
	// Ask asks the person about a server of the repository; nil when nobody is
	// there. known is false when they did not answer.
	Ask func(ctx context.Context, s mcpconfig.Server) (yes, known bool, err error)
}

// A Set is the servers of one command. A nil Set has none. It is safe for
// concurrent use.
type Set struct {
	o     Options
	fleet *mcpclient.Fleet

	mu     sync.Mutex // guards the fields below
	joined map[*mcpclient.Server]*mcp.Source
	waits  []string // notices
}

// maxNotices is how many notices wait; later ones are lost.
const maxNotices = 100

// Open starts the servers of the workspace and returns at once, unless a person
// is asked about one. Without any there is nothing to start.
func Open(ctx context.Context, o Options) (*Set, error) {
	config := o.Engine.MCPServers(o.Flags)
	if o.Only != nil {
		other := func(s mcpconfig.Server) bool { return !o.Only(s.Name) }
		config.Servers, config.Waiting = slices.DeleteFunc(config.Servers, other), slices.DeleteFunc(config.Waiting, other)
	}
	for _, p := range config.Problems {
		o.Report(p)
	}
	list, err := approve(ctx, o, config)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	s := &Set{o: o, joined: map[*mcpclient.Server]*mcp.Source{}}
	s.fleet = mcpclient.Start(mcpclient.Options{
		Servers: list, Dialer: sdk.Dialer{Version: o.Version}, Dir: o.Engine.Dir(),
		Env:    append(os.Environ(), "CLAUDE_PROJECT_DIR="+o.Engine.ProjectDir(), "KNACK_PROJECT_DIR="+o.Engine.ProjectDir()),
		Access: SignIn(o.Engine, nil, 0),
		Notice: s.notice, Changed: s.changed, Memory: mcpclient.Memory{Dir: o.Engine.MCPMemory()},
	})
	return s, nil
}

// approve adds the servers of the repository that the person lets start.
func approve(ctx context.Context, o Options, config mcpconfig.Set) ([]mcpconfig.Server, error) {
	list := config.Servers
	var open []string
	for _, s := range config.Waiting {
		yes, known := false, false
		if o.Ask != nil {
			var err error
			if yes, known, err = o.Ask(ctx, s); err != nil {
				return nil, err
			}
		}
		if !known {
			open = append(open, s.Name)
			continue
		}
		if err := o.Engine.MCPApprovals().Answer(o.Engine.ProjectDir(), s.Name, s.Hash, yes); err != nil {
			o.Notice("the answer holds for this run only: " + err.Error())
		}
		if yes {
			list = append(list, s)
		}
	}
	if len(open) > 0 {
		o.Notice(fmt.Sprintf("MCP servers of %s are not started, because nobody has approved them: %s; read the file, then run `knack mcp approve %s`, or name them in the setting enabledMcpjsonServers of your own settings",
			config.Waiting[0].Path, strings.Join(open, ", "), open[0]))
	}
	return list, nil
}

func (s *Set) notice(n string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waits) < maxNotices {
		s.waits = append(s.waits, n)
	}
}

// tell hands over the notices that wait.
func (s *Set) tell() {
	s.mu.Lock()
	list := s.waits
	s.waits = nil
	s.mu.Unlock()
	for _, n := range list {
		s.o.Notice(n)
	}
}

// changed joins a server that has answered, or reads it again.
func (s *Set) changed(ctx context.Context, server *mcpclient.Server) {
	s.mu.Lock()
	src, again := s.joined[server]
	if !again {
		inline := s.o.Engine.Settings().MCPInline
		made := server.Source(inline != nil && *inline)
		src = &made
		s.joined[server] = src
	}
	s.mu.Unlock()
	join := s.o.Engine.Join
	if again {
		join = s.o.Engine.Reread
	}
	if _, err := join(ctx, src); err != nil && ctx.Err() == nil {
		s.notice(fmt.Sprintf("what MCP server %s offers was not read: %v", server.Config.Name, err))
	}
}

// WaitForSkills waits for the servers whose skills are listed, and says which are
// silent. One that was silent before is not waited for.
func (s *Set) WaitForSkills(ctx context.Context) {
	s.wait(ctx, forList, func(_, silent bool) bool { return !silent })
}

// WaitForTools waits for the servers of which nobody knows what tools they have,
// and says which are silent. An earlier session knows those of most servers, so
// that a conversation begins at once.
func (s *Set) WaitForTools(ctx context.Context) {
	s.wait(ctx, forTools, func(tools, silent bool) bool { return !tools && !silent })
}

func (s *Set) wait(ctx context.Context, patience time.Duration, worth func(tools, silent bool) bool) {
	if s == nil {
		return
	}
	defer s.tell()
	list := slices.DeleteFunc(s.fleet.Servers(), func(server *mcpclient.Server) bool { return !worth(server.Known()) })
	var names []string
	for _, server := range s.fleet.Wait(ctx, patience, list) {
		names = append(names, server.Config.Name)
	}
	if len(names) > 0 && ctx.Err() == nil {
		s.notice(fmt.Sprintf("MCP servers that have not answered within %s: %s", patience, strings.Join(names, ", ")))
	}
}

// WaitFor waits for the servers that a message names by a skill of theirs, as
// /server:prompt or /mcp__server__prompt, or by a resource, @server:address.
func (s *Set) WaitFor(ctx context.Context, message string) {
	if s == nil {
		return
	}
	defer s.tell()
	named := []*mcpclient.Server{}
	for _, server := range s.fleet.Servers() {
		if mentions(message, server.Config.Name) {
			named = append(named, server)
		}
	}
	for _, server := range s.fleet.Wait(ctx, forName, named) {
		if ctx.Err() == nil {
			s.notice(fmt.Sprintf("MCP server %s has not answered within %s", server.Config.Name, forName))
		}
	}
}

// WaitForName is WaitFor for the name of one skill.
func (s *Set) WaitForName(ctx context.Context, name string) {
	s.WaitFor(ctx, "/"+strings.TrimPrefix(strings.TrimSpace(name), "/"))
}

// Mentions returns which servers a message may mean something of, and those that
// are named besides.
func Mentions(message string, besides ...string) func(server string) bool {
	return func(server string) bool {
		return mentions(message, server) || slices.ContainsFunc(besides, func(name string) bool {
			return mcpclient.Named(server, name)
		})
	}
}

// mentions reports whether a message may mean something of a server.
func mentions(message, server string) bool {
	forms := []string{"/" + mcp.ServerName(server) + ":", "/" + server + ":", "/mcp__" + mcpconfig.Label(server) + "__", "/mcp__" + mcp.ServerName(server) + "__",
		"@" + server + ":", "@" + mcp.ServerName(server) + ":"}
	return slices.ContainsFunc(forms, func(f string) bool { return strings.Contains(message, f) })
}

// Tools returns the tools of all servers that have answered by now, or are known
// from an earlier session. They stay the tools of the session: a list that changed
// would cost the whole cached beginning of every request (spec L-1).
func (s *Set) Tools() (out []agent.Tool) {
	if s == nil {
		return nil
	}
	defer s.tell()
	for _, server := range s.fleet.Servers() {
		tools, notices := remote.Tools(server)
		out = append(out, tools...)
		for _, n := range notices {
			s.notice(n)
		}
		known, _ := server.Known()
		if state, _ := server.Status(); state == mcpclient.Connecting && !known {
			s.notice(fmt.Sprintf("MCP server %s is not there yet: its skills will be, its tools in the next session", server.Config.Name))
		}
	}
	return append(out, remote.List{Fleet: s.fleet}, remote.Read{Fleet: s.fleet})
}

// Starts says what a server is: what is run, or where it is.
func Starts(s mcpconfig.Server) string {
	if s.Transport != mcpconfig.Stdio {
		return s.URL
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}

// CallTool calls a tool for a hook, and returns its text.
func (s *Set) CallTool(ctx context.Context, server, tool string, input map[string]any) (string, error) {
	if s == nil {
		return "", fmt.Errorf("there is no MCP server %q: none is configured", server)
	}
	to, err := s.fleet.Server(server)
	if err != nil {
		return "", err
	}
	if input == nil {
		input = map[string]any{}
	}
	args, err := json.Marshal(input)
	if err != nil {
		return "", fmt.Errorf("its input: %w", err)
	}
	r, err := to.Call(ctx, tool, args, nil)
	switch {
	case err != nil:
		return "", err
	case r.IsError:
		return "", errors.New(mcpclient.Text(r.Content))
	}
	return mcpclient.Text(r.Content), nil
}

// Read returns a resource for a message that refers to it as @server:address.
// known is false when there is no such server.
func (s *Set) Read(ctx context.Context, server, uri string) (text string, known bool, err error) {
	if s == nil {
		return "", false, nil
	}
	from, err := s.fleet.Server(server)
	if err != nil {
		return "", false, nil
	}
	text, err = from.Read(ctx, uri)
	return text, true, err
}

// A Status is one server as the first line of a stream has it.
type Status struct {
	Name   string          `json:"name"`
	Status mcpclient.State `json:"status"`
	Scope  mcpconfig.Scope `json:"scope"`
	Error  string          `json:"error,omitempty"`
	Denied bool            `json:"-"` // it does not let the person in
}

// Status returns how the servers are.
func (s *Set) Status() []Status {
	out := []Status{}
	if s == nil {
		return out
	}
	for _, server := range s.fleet.Servers() {
		state, why := server.Status()
		st := Status{Name: server.Config.Name, Status: state, Scope: server.Config.Scope}
		if why != nil {
			st.Error = why.Error()
			_, st.Denied = errors.AsType[*mcpclient.DeniedError](why)
		}
		out = append(out, st)
	}
	return out
}

// Close ends the servers.
func (s *Set) Close() error {
	if s == nil {
		return nil
	}
	s.tell()
	return s.fleet.Close()
}
