package frontmatter

import "slices"

// keyed collects entries, one for each key; the last of equal ones stays (spec
// F-4). It is linear in their number, whatever their keys are.
type keyed struct {
	entries []entry
	at      map[string]int // made when looking at all entries gets slow
	dropped int
}

// fewEntries is how many entries are compared one by one.
const fewEntries = 16

// add appends e. It returns the line of the entry that e replaces, or 0.
func (k *keyed) add(e entry) (earlier int) {
	if i := k.find(e.key); i >= 0 {
		earlier = k.entries[i].line
		k.entries[i].dropped = true
		if k.dropped++; k.dropped > fewEntries && 2*k.dropped > len(k.entries) {
			k.all()
		}
	}
	if k.entries = append(k.entries, e); k.at != nil {
		k.at[e.key] = len(k.entries) - 1
	}
	return earlier
}

func (k *keyed) find(key string) int {
	if k.at == nil && len(k.entries) < fewEntries {
		return slices.IndexFunc(k.entries, func(e entry) bool { return e.key == key && !e.dropped })
	}
	if k.at == nil {
		k.at = make(map[string]int, 4*fewEntries)
		for i := range k.entries {
			k.at[k.entries[i].key] = i // the last one counts
		}
	}
	if i, ok := k.at[key]; ok {
		return i
	}
	return -1
}

// all returns the entries that were not replaced.
func (k *keyed) all() []entry {
	if k.dropped > 0 {
		k.entries = slices.DeleteFunc(k.entries, func(e entry) bool { return e.dropped })
		k.at, k.dropped = nil, 0
	}
	return k.entries
}
