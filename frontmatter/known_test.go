package frontmatter

import "testing"

// TestKnownFields: each field of the table is described, and nothing else is.
func TestKnownFields(t *testing.T) {
	known := KnownFields()
	if len(known) != len(table) || len(meanings) != len(table) {
		t.Errorf("%d described, %d meanings, %d fields", len(known), len(meanings), len(table))
	}
	for i, k := range known {
		if k.Name != table[i].name || k.Value == "" || k.Meaning == "" {
			t.Errorf("%s: incomplete %+v", table[i].name, k)
		}
		for _, s := range k.Spellings {
			if f := lookup(s); f == nil || f.name != k.Name {
				t.Errorf("%s: the spelling %s is not read", k.Name, s)
			}
		}
	}
}
