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

// Report is docs/conformance.md.
func Report(all []Scenario) string {
	var b strings.Builder
	passed := 0
	for _, s := range all {
		if s.Failed == 0 {
			passed++
		}
	}
	fmt.Fprintf(&b, `# Conformance

The result of the public conformance suite of the Model Context Protocol,
%s, against `+"`knack mcp --http`"+`. It is made by a test
(`+"`go test ./internal/lab/foreign -run Conformance -update`"+`), which fails when a
scenario that passed does not pass any more.

%d of %d scenarios pass. The others call for what only the suite's demonstration
server has, and what `+"`knack mcp`"+` does not offer.

| scenario | result |
|---|---|
`, "`"+Suite+"`", passed, len(all))
	for _, s := range all {
		result := "passes"
		if s.Failed > 0 {
			result = NotOffered[s.Name]
		}
		fmt.Fprintf(&b, "| %s | %s |\n", s.Name, result)
	}
	return b.String()
}
