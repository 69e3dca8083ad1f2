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

var scenario = regexp.MustCompile(`(?m)^[✓✗] (\S+): (\d+) passed, (\d+) failed`)

// Scenarios reads the summary of the suite.
func Scenarios(output string) (out []Scenario) {
	_, summary, _ := strings.Cut(output, "=== SUMMARY ===")
	for _, m := range scenario.FindAllStringSubmatch(summary, -1) {
		passed, _ := strconv.Atoi(m[2]) // digits, by the pattern
		failed, _ := strconv.Atoi(m[3])
		out = append(out, Scenario{m[1], passed, failed})
	}
	return out
}

const (
	demoTool     = "calls a tool of the suite's demonstration server by its name; this server has its three tools and no others"
	demoResource = "reads a resource of the suite's demonstration server by its URI; this server has skill:// resources alone"
	demoPrompt   = "gets a prompt that holds an image or a resource; the prompts of this server are the texts of skills"
	asksBack     = "calls a tool of the demonstration server that asks the client back; this server never does"
	noSubscribe  = "subscribes to a resource; this server announces changes of its lists, and offers no subscription"
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
	"resources-subscribe":           noSubscribe,
	"resources-unsubscribe":         noSubscribe,
	"prompts-get-embedded-resource": demoPrompt,
	"prompts-get-with-image":        demoPrompt,
}

// Report is docs/conformance.md, of a run against the server as it is and one
// against a server that has the demonstration's features besides.
func Report(own, demo []Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Conformance

The public conformance suite of the Model Context Protocol, `+"`%s`"+`,
against `+"`knack mcp --http`"+`. A test makes this page
(`+"`go test ./mcpserver -run Conformance -update`"+`) and fails when it is not true
any more.

The suite was written against a demonstration server, and many of its scenarios
call tools, resources and prompts that only that one has. So it runs twice: against
the server as it is, and against the same server with such tools, resources and
prompts added, to see that what lies between them and a client is right.

| | passed | failed | nothing to check |
|---|---|---|---|
| `+"`knack mcp`"+` | %s |
| with the demonstration's features | %s |

| scenario | `+"`knack mcp`"+` | with the demonstration's features |
|---|---|---|
`, Suite, tally(own), tally(demo))
	for i, s := range own {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.Name, s.result(), demo[i].result())
	}
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

func (s Scenario) result() string {
	switch {
	case s.Failed > 0:
		return NotOffered[s.Name]
	case s.Passed > 0:
		return "passes"
	}
	return nothing
}
