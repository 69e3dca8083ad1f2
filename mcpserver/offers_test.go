package mcpserver_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func names(t *testing.T, cs *mcp.ClientSession) (out []string) {
	t.Helper()
	for p, err := range cs.Prompts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p.Name)
	}
	return out
}

func TestPrompts(t *testing.T) { // spec X-8: a person picks prompts
	w := open(t, skills)
	w.write("mig", "---\nname: Migrate\ndescription: Moves\nargument-hint: <component> <from>\narguments: [component, from, to]\n---\nMove $component from $from to $to|$ARGUMENTS\n")
	w.write("copy", "---\ndescription: Copies\n---\nCopy $0 and $1.\n")
	w.refresh()
	cs := w.connect(nil)
	if got := strings.Join(names(t, cs), " "); got != "copy explore gofiles grants greet mig private shell strict" {
		t.Errorf("prompts %s", got)
	}
	for _, tt := range []struct {
		name string
		args map[string]string
		want string
	}{
		{"private", map[string]string{"args": "now"}, "Private now."},
		{"mig", map[string]string{"component": "Search Bar", "from": "React"}, `Move Search Bar from React to |"Search Bar" React`},
		{"mig", map[string]string{"to": "Vue"}, `Move  from  to Vue|`},
		{"copy", map[string]string{"args": `"a b" c`}, "Copy a b and c."},
		{"explore", map[string]string{"args": "x"}, "Find x."},
	} {
		res, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: tt.name, Arguments: tt.args})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := textOf(t, []mcp.Content{res.Messages[0].Content}); !strings.Contains(got, tt.want) || res.Messages[0].Role != "user" {
			t.Errorf("%s: %q; want %q", tt.name, got, tt.want)
		}
	}
	for name, args := range map[string]map[string]string{"mig": {"componet": "x"}, "hidden": nil, "gone": nil} {
		_, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: args})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: %v", name, err)
		}
		if name == "mig" && !strings.Contains(err.Error(), "did you mean component") {
			t.Errorf("%v", err)
		}
	}
	// What a person was given, the client may read on.
	if got, isError := call(t, cs, "SkillRead", object{"skill": "private", "path": "SKILL.md"}); isError {
		t.Errorf("after the prompt: %q", got)
	}
}

func TestResources(t *testing.T) {
	w := open(t, skills)
	w.write(".claude/skills/greet/refs/ä b.md", "reference")
	w.write("odd name", "---\ndescription: Odd\n---\nOdd.\n")
	w.write("sub/.claude/skills/nested/SKILL.md", "---\ndescription: Below sub\n---\nNested.\n")
	w.refresh()
	cs := w.connect(nil)
	call(t, cs, "SkillSearch", object{"query": "x", "file": "sub/a.txt"})
	res, err := cs.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var uris []string
	for _, r := range res.Resources {
		uris = append(uris, r.URI)
		got, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI})
		if err != nil || len(got.Contents) != 1 || !strings.HasPrefix(got.Contents[0].Text, "---\n") || got.Contents[0].MIMEType != "text/markdown" {
			t.Errorf("%s: %v", r.URI, err)
		}
	}
	for _, want := range []string{"skill://greet/SKILL.md", "skill:///odd%20name/SKILL.md", "skill://nested/SKILL.md"} {
		if !slices.Contains(uris, want) {
			t.Errorf("no %s in %q", want, uris)
		}
	}
	if slices.Contains(uris, "skill://private/SKILL.md") || slices.Contains(uris, "skill://gofiles/SKILL.md") {
		t.Errorf("resources %q", uris)
	}
	for uri, want := range map[string]string{
		"skill://greet/refs/%C3%A4%20b.md": "reference",
		"skill://greet/none.md":            "",
		"skill://greet/..%2F..%2FSKILL.md": "",
		"skill://greet":                    "",
		"skill://private/SKILL.md":         "",
		"skill://none/SKILL.md":            "",
		"file:///etc/passwd":               "",
	} {
		got, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if want == "" != (err != nil) || err == nil && got.Contents[0].Text != want {
			t.Errorf("%s: %v, %v", uri, got, err)
		}
	}
}

func TestCompletion(t *testing.T) {
	w := open(t, skills)
	w.write(".claude/skills/greet/refs/a.md", "reference")
	cs := w.connect(nil)
	complete := func(name, value string, chosen map[string]string) []string {
		res, err := cs.Complete(t.Context(), &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "skill://{skill}/{+path}"},
			Argument: mcp.CompleteParamsArgument{Name: name, Value: value}, Context: &mcp.CompleteContext{Arguments: chosen}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Completion.Values
	}
	if got := complete("skill", "gr", nil); !slices.Equal(got, []string{"grants", "greet"}) {
		t.Errorf("skills %q", got)
	}
	if got := complete("path", "re", map[string]string{"skill": "greet"}); !slices.Equal(got, []string{"refs/a.md"}) {
		t.Errorf("files %q", got)
	}
	if got := complete("path", "", map[string]string{"skill": "private"}); len(got) > 0 {
		t.Errorf("files of a skill for people alone: %q", got)
	}
}

// What the Skills extension sends, as a client of others would read it.
type (
	listParams struct{ mcp.ParamsBase }
	listResult struct {
		mcp.ResultBase
		ResultType string       `json:"resultType"`
		Skills     []skillEntry `json:"skills"`
	}
	getParams struct {
		mcp.ParamsBase
		URI string `json:"uri"`
	}
	getResult struct {
		mcp.ResultBase
		Skill skillEntry `json:"skill"`
	}
	skillEntry struct {
		URI         string         `json:"uri"`
		Frontmatter map[string]any `json:"frontmatter"`
		Resources   []struct {
			URI    string `json:"uri"`
			Digest string `json:"digest"`
			Size   int    `json:"size"`
		} `json:"resources"`
	}
)

func TestExtension(t *testing.T) { // what is read has the digest and size that were told
	w := open(t, map[string]string{
		"greet":  "---\r\nname: greet\r\ndescription: Greets\r\nversion: 1.10\r\ndate: 2026-01-02\r\ntags: [a, {b: true}]\r\nnothing:\r\n---\r\nHello.\r\n",
		"other":  "---\nname: different\ndescription: Another name\n---\nHello.\n",
		"broken": "---\nname: broken\ndescription: Use when: asked\n---\nHello.\n",
		"plain":  "No frontmatter.\n",
	})
	w.write(".claude/skills/greet/logo.png", "\x89PNG\x00")
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for _, err := range []error{
		mcp.AddSendingCustomMethod[*listParams, *listResult](c, "skills/list"),
		mcp.AddSendingCustomMethod[*getParams, *getResult](c, "skills/get"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cs := w.connectWith(c)
	if init := cs.InitializeResult(); init == nil || init.Capabilities.Extensions["io.modelcontextprotocol/skills"] == nil {
		t.Errorf("the extension is not announced")
	}
	list, err := mcp.CallCustomMethod[*listParams, *listResult](t.Context(), cs, "skills/list", &listParams{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Skills) != 1 || list.ResultType != "complete" || list.Skills[0].URI != "skill://greet/SKILL.md" {
		t.Fatalf("%+v", list)
	}
	got, err := mcp.CallCustomMethod[*getParams, *getResult](t.Context(), cs, "skills/get", &getParams{URI: "skill://greet/SKILL.md"})
	if err != nil {
		t.Fatal(err)
	}
	front := got.Skill.Frontmatter
	if front["version"] != 1.1 || front["date"] != "2026-01-02" || front["nothing"] != nil || len(front) != 6 {
		t.Errorf("frontmatter %v", front)
	}
	if len(got.Skill.Resources) != 2 {
		t.Fatalf("resources %v", got.Skill.Resources)
	}
	for _, r := range got.Skill.Resources {
		res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI})
		if err != nil {
			t.Fatal(err)
		}
		data := res.Contents[0].Blob
		if res.Contents[0].Text != "" {
			data = []byte(res.Contents[0].Text)
		}
		if sum := sha256.Sum256(data); r.Digest != "sha256:"+hex.EncodeToString(sum[:]) || r.Size != len(data) {
			t.Errorf("%s: %d bytes are not what was told: %d, %s", r.URI, len(data), r.Size, r.Digest)
		}
	}
	for _, uri := range []string{"skill://none/SKILL.md", "skill://greet/logo.png", "", "skill://other/SKILL.md"} {
		_, err := mcp.CallCustomMethod[*getParams, *getResult](t.Context(), cs, "skills/get", &getParams{URI: uri})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

// TestListChanged: clients are told of what changed, and of nothing else.
func TestListChanged(t *testing.T) {
	w := open(t, skills)
	tools, prompts, resources := make(chan bool, 9), make(chan bool, 9), make(chan bool, 9)
	cs := w.connect(&mcp.ClientOptions{
		ToolListChangedHandler:     func(_ ctx, _ *mcp.ToolListChangedRequest) { tools <- true },
		PromptListChangedHandler:   func(_ ctx, _ *mcp.PromptListChangedRequest) { prompts <- true },
		ResourceListChangedHandler: func(_ ctx, _ *mcp.ResourceListChangedRequest) { resources <- true },
	})
	w.write("fresh", "---\ndescription: Fresh\n---\nFresh.\n")
	w.refresh()
	for _, c := range []chan bool{tools, prompts, resources} {
		select {
		case <-c:
		case <-t.Context().Done():
		}
	}
	if got := names(t, cs); !slices.Contains(got, "fresh") {
		t.Errorf("prompts %q", got)
	}
	w.refresh() // nothing is new
	w.write("private", "---\ndescription: Changed\ndisable-model-invocation: true\n---\nPrivate.\n")
	w.refresh() // and now a prompt alone
	<-prompts
	if len(tools)+len(prompts)+len(resources) > 0 {
		t.Errorf("told of %d tools, %d prompts, %d resources that did not change", len(tools), len(prompts), len(resources))
	}
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Tools[0].Description, "- fresh: Fresh") {
		t.Errorf("the tool %s does not name the new skill", res.Tools[0].Name)
	}
}
