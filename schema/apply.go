package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// sub is the schema in the value of a keyword, for parts of the value.
func (r *reading) sub(at string, raw any) (*node, error) {
	return r.c.node(place{at: below(r.p.at, r.name) + at, raw: raw, base: r.p.base})
}

// inPlace is sub for schemas that see the same value.
func (r *reading) inPlace(at string, raw any) (*node, error) {
	n, err := r.sub(at, raw)
	if err == nil {
		r.n.same = append(r.n.same, n)
	}
	return n, err
}

func (r *reading) list(operand any, get func(string, any) (*node, error)) ([]*node, error) {
	raw, ok := operand.([]any)
	if !ok || len(raw) == 0 {
		return nil, r.bad("it has to be a list of schemas")
	}
	out := make([]*node, len(raw))
	for i, x := range raw {
		var err error
		if out[i], err = get("/"+strconv.Itoa(i), x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *reading) object(operand any) (map[string]any, error) {
	m, ok := operand.(map[string]any)
	if !ok {
		return nil, r.bad("it has to be an object of schemas, and not %s", show(operand))
	}
	return m, nil
}

func (r *reading) schemas(operand any, get func(string, any) (*node, error)) (map[string]*node, error) {
	m, err := r.object(operand)
	if err != nil {
		return nil, err
	}
	out := map[string]*node{}
	for _, name := range keys(m) {
		if out[name], err = get(below("", name), m[name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readRef(r *reading, operand any) error {
	ref, ok := operand.(string)
	if !ok {
		return r.bad("it has to be a text, and not %s", show(operand))
	}
	to, err := r.c.reference(r.p, ref)
	if err != nil {
		return r.bad("%v", err)
	}
	n, err := r.c.node(to)
	if err != nil {
		return err
	}
	r.n.same = append(r.n.same, n)
	return r.check(func(v *visit, value any, at string, l *looked) { n.eval(v, value, at, l) })
}

func readDynamic(r *reading, _ any) error { return r.bad("it is not supported; use $ref") }

func readDefs(r *reading, operand any) error {
	_, err := r.schemas(operand, r.sub) // they are checked, also when nothing refers to them
	return err
}

func readPrefix(r *reading, operand any) error {
	nodes, err := r.list(operand, r.sub)
	if err != nil {
		return err
	}
	return r.check(func(v *visit, value any, at string, l *looked) {
		list, _ := value.([]any)
		for i, n := range nodes[:min(len(nodes), len(list))] {
			n.eval(v, list[i], at+"/"+strconv.Itoa(i), nil)
			l.item(i)
		}
	})
}

// readItems reads both forms: a schema for all items after the prefix, and the
// list of earlier drafts, after which additionalItems counts.
func readItems(r *reading, operand any) error {
	from := 0
	if list, ok := r.m["prefixItems"].([]any); ok {
		from = len(list)
	}
	if list, ok := operand.([]any); ok {
		if len(list) > 0 {
			if err := readPrefix(r, operand); err != nil {
				return err
			}
		}
		rest, has := r.m["additionalItems"]
		if !has {
			return nil
		}
		from, operand = len(list), rest
		r = &reading{c: r.c, n: r.n, p: r.p, m: r.m, name: "additionalItems"}
	}
	n, err := r.sub("", operand)
	if err != nil {
		return err
	}
	return r.check(func(v *visit, value any, at string, l *looked) {
		list, _ := value.([]any)
		for i := from; i < len(list); i++ {
			n.eval(v, list[i], at+"/"+strconv.Itoa(i), nil)
			l.item(i)
		}
	})
}

func readCount(r *reading, operand any) error { // it counts with contains
	_, err := r.count(operand)
	return err
}

func readContains(r *reading, operand any) error {
	n, err := r.sub("", operand)
	if err != nil {
		return err
	}
	least, most := 1, 1<<31-1
	for word, to := range map[string]*int{"minContains": &least, "maxContains": &most} {
		if v, ok := r.m[word]; ok {
			if *to, err = (&reading{p: r.p, name: word}).count(v); err != nil {
				return err
			}
		}
	}
	return r.check(func(v *visit, value any, at string, l *looked) {
		list, ok := value.([]any)
		if !ok {
			return
		}
		found := 0
		for i, x := range list {
			if ok, _ := n.try(v, x, at+"/"+strconv.Itoa(i), nil); ok {
				found++
				l.item(i)
			}
		}
		if found < least || found > most {
			v.add(at, "holds %d items that fit %s", found, wanted(least, most))
		}
	})
}

func wanted(least, most int) string {
	if most == 1<<31-1 {
		return fmt.Sprintf("and needs at least %d", least)
	}
	return fmt.Sprintf("and needs %d to %d", least, most)
}

func readProperties(r *reading, operand any) error {
	nodes, err := r.schemas(operand, r.sub)
	if err != nil {
		return err
	}
	return r.check(func(v *visit, value any, at string, l *looked) {
		m, _ := value.(map[string]any)
		for _, name := range keys(m) {
			if n := nodes[name]; n != nil {
				n.eval(v, m[name], below(at, name), nil)
				l.name(name)
			}
		}
	})
}

func readPatterns(r *reading, operand any) error {
	nodes, err := r.schemas(operand, r.sub)
	if err != nil {
		return err
	}
	type pattern struct {
		re *regexp.Regexp
		n  *node
	}
	var patterns []pattern
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		re, err := r.pattern(name)
		if err != nil {
			return err
		}
		patterns = append(patterns, pattern{re, nodes[name]})
	}
	return r.check(func(v *visit, value any, at string, l *looked) {
		m, _ := value.(map[string]any)
		for _, name := range keys(m) {
			for _, p := range patterns {
				if p.re.MatchString(name) {
					p.n.eval(v, m[name], below(at, name), nil)
					l.name(name)
				}
			}
		}
	})
}

func readAdditional(r *reading, operand any) error {
	n, err := r.sub("", operand)
	if err != nil {
		return err
	}
	named, _ := r.m["properties"].(map[string]any)
	var patterns []*regexp.Regexp
	others, _ := r.m["patternProperties"].(map[string]any)
	for _, text := range keys(others) {
		if re, err := regexp.Compile(text); err == nil { // its own keyword reports it
			patterns = append(patterns, re)
		}
	}
	return r.check(func(v *visit, value any, at string, l *looked) {
		m, _ := value.(map[string]any)
	next:
		for _, name := range keys(m) {
			if _, ok := named[name]; ok {
				continue
			}
			for _, re := range patterns {
				if re.MatchString(name) {
					continue next
				}
			}
			n.eval(v, m[name], below(at, name), nil)
			l.name(name)
		}
	})
}

func readNames(r *reading, operand any) error {
	n, err := r.sub("", operand)
	if err != nil {
		return err
	}
	return r.check(func(v *visit, value any, at string, _ *looked) {
		m, _ := value.(map[string]any)
		for _, name := range keys(m) {
			if ok, why := n.try(v, name, "", nil); !ok && len(why) > 0 {
				v.add(below(at, clip(name)), "has a name that does not fit: it %s", why[0].Message)
			}
		}
	})
}

// readDependent reads dependentSchemas, and the dependencies of earlier drafts,
// which may also be names.
func readDependent(r *reading, operand any) error {
	m, err := r.object(operand)
	if err != nil {
		return err
	}
	for _, name := range keys(m) {
		if _, ok := m[name].([]any); ok && r.name == "dependencies" {
			names, err := r.texts(m[name])
			if err != nil {
				return err
			}
			r.n.checks = append(r.n.checks, dependent(name, names))
			continue
		}
		n, err := r.inPlace(below("", name), m[name])
		if err != nil {
			return err
		}
		r.n.checks = append(r.n.checks, func(v *visit, value any, at string, l *looked) {
			if m, ok := value.(map[string]any); ok {
				if _, has := m[name]; has {
					n.eval(v, value, at, l)
				}
			}
		})
	}
	return nil
}
