package foreign

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Suite is the conformance suite of the protocol, at the version whose result
// docs/conformance.md holds.
const Suite = "@modelcontextprotocol/conformance@0.1.16"

// A Scenario is what the suite said about one of its scenarios.
type Scenario struct {
	Name           string
	Passed, Failed int
}

var (
	scenario = regexp.MustCompile(`(?m)^[✓✗] (\S+): (\d+) passed, (\d+) failed`)
	alone    = regexp.MustCompile(`(?m)^Passed: (\d+)/\d+, (\d+) failed`)
)

// Scenarios reads the summary of the suite, of servers or of clients.
func Scenarios(output string) (out []Scenario) {
	_, summary, _ := strings.Cut(output, "SUMMARY ===")
	for _, m := range scenario.FindAllStringSubmatch(summary, -1) {
		passed, _ := strconv.Atoi(m[2]) // digits, by the pattern
		failed, _ := strconv.Atoi(m[3])
		out = append(out, Scenario{m[1], passed, failed})
	}
	return out
}

// Alone reads what the suite says about one client scenario that was run alone.
func Alone(name, output string) (Scenario, bool) {
	m := alone.FindStringSubmatch(output)
	if m == nil {
		return Scenario{}, false
	}
	passed, _ := strconv.Atoi(m[1]) // digits, by the pattern
	failed, _ := strconv.Atoi(m[2])
	return Scenario{name, passed, failed}, true
}

const (
	demoTool     = "calls a tool of the suite's demonstration server by its name; this server has its three tools and no others"
	demoResource = "reads a resource of the suite's demonstration server by its URI; this server has skill:// resources alone"
	demoPrompt   = "gets a prompt that holds an image or a resource; the prompts of this server are the texts of skills"
	asksBack     = "calls a tool of the demonstration server that asks the client back; this server never does"
	demoWatch    = "subscribes to a resource of the suite's demonstration server; this server has skill:// resources alone"
	nothing      = "finds nothing to check"
)

// NotOffered says why a scenario cannot pass: the suite was written against a
// demonstration server, and some scenarios call for what only that one has.
var NotOffered = map[string]string{
	"tools-call-simple-text":        demoTool,
	"tools-call-image":              demoTool,
	"tools-call-audio":              demoTool,
	"tools-call-embedded-resource":  demoTool,
	"tools-call-mixed-content":      demoTool,
	"tools-call-with-logging":       demoTool,
	"tools-call-error":              demoTool,
	"tools-call-with-progress":      demoTool,
	"json-schema-2020-12":           demoTool,
	"tools-call-sampling":           asksBack,
	"tools-call-elicitation":        asksBack,
	"elicitation-sep1034-defaults":  asksBack,
	"elicitation-sep1330-enums":     asksBack,
	"resources-read-text":           demoResource,
	"resources-read-binary":         demoResource,
	"resources-templates-read":      demoResource,
	"resources-subscribe":           demoWatch,
	"resources-unsubscribe":         demoWatch,
	"prompts-get-embedded-resource": demoPrompt,
	"prompts-get-with-image":        demoPrompt,
}

// The reasons of [NotSpoken].
const (
	itself  = "an extension: the client signs in as itself, with no person; this one signs persons in"
	crossed = "an extension: tokens by way of an identity provider of the company, which this client does not know"
	nobody  = "asks the person through the client; this one has nobody to ask during a call, and so does not announce that it can"
)

// NotSpoken says why a client scenario cannot pass, or is empty.
func NotSpoken(name string) string {
	return map[string]string{
		"elicitation-sep1034-client-defaults": nobody,
		"auth/client-credentials-jwt":         itself,
		"auth/client-credentials-basic":       itself,
		"auth/cross-app-access-complete-flow": crossed,
	}[name]
}

// Report is docs/conformance.md, of a run against the server as it is, one
// against a server that has the demonstration's features besides, and one of our
// client against the suite's servers.
func Report(own, demo, client []Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Conformance

The public conformance suite of the Model Context Protocol, `+"`%s`"+`,
against `+"`knack mcp --http`"+`, and against the client with which a session uses the
servers of others. A test makes this page
(`+"`go test ./mcpserver -run Conformance -update`"+`) and fails when it is not true
any more.

## The server

The suite was written against a demonstration server, and many of its scenarios
call tools, resources and prompts that only that one has. So it runs twice: against
the server as it is, and against the same server with such tools, resources and
prompts added, to see that what lies between them and a client is right. The
resource that is subscribed to stands for a skill there: subscriptions are the
server's own.

| | passed | failed | nothing to check |
|---|---|---|---|
| `+"`knack mcp`"+` | %s |
| with the demonstration's features | %s |

| scenario | `+"`knack mcp`"+` | with the demonstration's features |
|---|---|---|
`, Suite, tally(own), tally(demo))
	for i, s := range own {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.Name, s.result(NotOffered[s.Name]), demo[i].result(NotOffered[s.Name]))
	}
	fmt.Fprintf(&b, `
## The client

The suite starts a server for each scenario, and a program that connects to it as
a session does and calls each tool that is listed.

| passed | failed | nothing to check |
|---|---|---|
| %s |

| scenario | client |
|---|---|
`, tally(client))
	for _, s := range client {
		fmt.Fprintf(&b, "| %s | %s |\n", s.Name, s.result(NotSpoken(s.Name)))
	}
	b.WriteString("\nIn the scenarios for signing in (`auth/`) the program stands for a person who says\n" +
		"yes to everything. A session has nobody like that: it uses what `knack mcp login`\n" +
		"has kept, and a server that wants more is not available, and the person is told why.\n")
	return b.String()
}

func tally(all []Scenario) string {
	var passed, failed, empty int
	for _, s := range all {
		switch {
		case s.Failed > 0:
			failed++
		case s.Passed > 0:
			passed++
		default:
			empty++
		}
	}
	return fmt.Sprintf("%d | %d | %d", passed, failed, empty)
}

// result is a cell of a table; why is the reason of a failure.
func (s Scenario) result(why string) string {
	switch {
	case s.Failed > 0:
		return why
	case s.Passed > 0:
		return "passes"
	}
	return nothing
}
