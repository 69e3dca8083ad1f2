package frontmatter

import "testing"

// TestTable wants every field in kebab, snake and camel case, a bit for each in
// filler.seen, and no suggestion for what is already right.
func TestTable(t *testing.T) {
	if len(table) > 64 {
		t.Fatalf("%d fields do not fit into filler.seen", len(table))
	}
	for key, want := range map[string]string{
		"when_to_use": "when_to_use", "when-to-use": "when_to_use", "whenToUse": "when_to_use",
		"disable-model-invocation": "disable-model-invocation", "disable_model_invocation": "disable-model-invocation",
		"disableModelInvocation": "disable-model-invocation", "outputSchema": "output_schema", "max-attempts": "max_attempts",
	} {
		if f := lookup(key); f == nil || f.name != want {
			t.Errorf("%s: %+v", key, f)
		}
	}
	for i, f := range table {
		if index(f.name) != i {
			t.Errorf("%s is not found at its place", f.name)
		}
		if f.security && f.set == nil {
			t.Errorf("%s restricts or grants, but nothing reads it", f.name)
		}
	}
}

func TestSuggest(t *testing.T) {
	for key, want := range map[string]string{
		"descripton": "description", "descriptoin": "description", "Description": "description", "DESCRIPTION": "description",
		"allowed-tool": "allowed-tools", "AllowedTools": "allowed-tools", "allowed tools": "allowed-tools", "tools": "allowed-tools",
		"globs": "paths", "pathPatterns": "paths", "path": "paths", "user-invokable": "user-invocable", "contxt": "context",
		"author": "", "tags": "", "x": "", "desc": "", "keywords": "", "when_to_uze_it": "",
	} {
		if got := suggest(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}
