package schema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func keys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// A place is a schema within the document.
type place struct {
	at   string // JSON pointer from the root
	raw  any
	base string // what references are relative to
}

// A compiler turns a document into nodes.
type compiler struct {
	raw       any
	words     []word
	nodes     map[string]*node // by pointer
	resources map[string]place // by URI without fragment
	anchors   map[string]place // by URI with fragment
	queue     []func() error   // nodes whose keywords are still to be read
	marks     bool             // some node asks what others have looked at
	old       bool             // draft 6 or 7, where nothing beside a $ref counts
}

func (c *compiler) compile() (*node, error) {
	root := place{raw: c.raw}
	m, _ := c.raw.(map[string]any)
	if err := c.dialect(m["$schema"]); err != nil {
		return nil, err
	}
	if err := c.index(root); err != nil {
		return nil, err
	}
	if id, ok := c.id(m); ok {
		root.base = withoutFragment(id)
	}
	n, err := c.node(root)
	for err == nil && len(c.queue) > 0 {
		next := c.queue[0]
		c.queue = c.queue[1:]
		err = next()
	}
	if err != nil {
		return nil, err
	}
	for _, at := range slices.Sorted(maps.Keys(c.nodes)) {
		c.nodes[at].marks = c.marks
		if err := c.nodes[at].loop(); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// dialects are the drafts that are read.
var dialects = []string{"draft-06/schema", "draft-07/schema", "draft/2019-09/schema", "draft/2020-12/schema"}

func (c *compiler) dialect(v any) error {
	s, ok := v.(string)
	if v == nil {
		return nil
	}
	_, after, _ := strings.Cut(strings.TrimSuffix(s, "#"), "://json-schema.org/")
	if !ok || !slices.Contains(dialects, after) {
		return &Error{"/$schema", fmt.Sprintf("%s is no dialect that is known; leave it out, or write https://json-schema.org/draft/2020-12/schema", show(v))}
	}
	c.old = strings.HasPrefix(after, "draft-")
	return nil
}

// id is the address that a schema gives itself.
func (c *compiler) id(m map[string]any) (string, bool) {
	id, ok := m["$id"].(string)
	if _, ref := m["$ref"]; !ok || ref && c.old || strings.HasPrefix(id, "#") {
		return "", false
	}
	return id, true
}

// The keywords whose values are schemas: one, a list of them, an object of them.
var (
	holdOne = []string{"additionalItems", "additionalProperties", "contains", "else", "if", "items", "not",
		"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
	holdList = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	holdMap  = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)

// index notes what references can lead to. What is no schema is left to node.
func (c *compiler) index(p place) error {
	m, ok := p.raw.(map[string]any)
	if !ok {
		return nil
	}
	if id, ok := c.id(m); ok {
		abs, err := join(p.base, id)
		if err != nil {
			return &Error{below(p.at, "$id"), err.Error()}
		}
		if p.base = withoutFragment(abs); c.resources[p.base].raw != nil {
			return &Error{below(p.at, "$id"), fmt.Sprintf("%q stands twice", clip(id))}
		}
		c.resources[p.base] = p
	} else if p.at == "" {
		c.resources[""] = p
	}
	for _, word := range []string{"$anchor", "$dynamicAnchor", "$id"} {
		if name, ok := m[word].(string); ok && strings.HasPrefix(name, "#") == (word == "$id") {
			c.anchors[p.base+"#"+strings.TrimPrefix(name, "#")] = p
		}
	}
	return each(m, func(at string, raw any) error {
		return c.index(place{p.at + at, raw, p.base})
	})
}

// each calls f with the schemas that a schema holds.
func each(m map[string]any, f func(at string, raw any) error) error {
	for _, k := range keys(m) {
		switch v := m[k].(type) {
		case []any:
			for i, x := range v {
				if slices.Contains(holdList, k) {
					if err := f(below("", k)+"/"+strconv.Itoa(i), x); err != nil {
						return err
					}
				}
			}
		case map[string]any:
			if slices.Contains(holdOne, k) {
				if err := f(below("", k), v); err != nil {
					return err
				}
			}
			if !slices.Contains(holdMap, k) {
				continue
			}
			for _, name := range keys(v) {
				if err := f(below(below("", k), name), v[name]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// node returns the node of a place; its keywords are read later.
func (c *compiler) node(p place) (*node, error) {
	if n := c.nodes[p.at]; n != nil {
		return n, nil
	}
	if len(c.nodes) >= maxNodes {
		return nil, &Error{"", fmt.Sprintf("holds more than %d schemas", maxNodes)}
	}
	n := &node{at: p.at}
	c.nodes[p.at] = n
	switch raw := p.raw.(type) {
	case bool:
		if !raw {
			n.checks = append(n.checks, func(v *visit, _ any, at string, _ *looked) { v.add(at, "is not allowed here") })
		}
	case map[string]any:
		if id, ok := c.id(raw); ok && p.at != "" {
			abs, err := join(p.base, id)
			if err != nil {
				return nil, &Error{below(p.at, "$id"), err.Error()}
			}
			p.base = withoutFragment(abs)
		}
		c.queue = append(c.queue, func() error { return c.keywords(n, p, raw) })
	default:
		return nil, &Error{p.at, fmt.Sprintf("is %s; a schema is an object, true or false", show(raw))}
	}
	return n, nil
}

func (c *compiler) keywords(n *node, p place, m map[string]any) error {
	_, refers := m["$ref"]
	refers = refers && c.old
	for _, w := range c.words {
		operand, ok := m[w.name]
		if !ok || refers && w.name != "$ref" {
			continue
		}
		if err := w.read(&reading{c: c, n: n, p: p, m: m, name: w.name}, operand); err != nil {
			return err
		}
	}
	return nil
}

// reference finds what a $ref refers to.
func (c *compiler) reference(p place, ref string) (place, error) {
	abs, err := join(p.base, ref)
	if err != nil {
		return place{}, err
	}
	uri, fragment, _ := strings.Cut(abs, "#")
	to, ok := c.resources[uri]
	if !ok {
		return place{}, fmt.Errorf("%q is not in this schema, and nothing is fetched; copy it below $defs", clip(ref))
	}
	if fragment, err = url.PathUnescape(fragment); err != nil {
		return place{}, fmt.Errorf("%q is no reference: %w", clip(ref), err)
	}
	if fragment == "" {
		return to, nil
	}
	if !strings.HasPrefix(fragment, "/") {
		if to, ok = c.anchors[uri+"#"+fragment]; ok {
			return to, nil
		}
		return place{}, fmt.Errorf("%q: there is no $anchor of that name", clip(ref))
	}
	for _, name := range strings.Split(fragment[1:], "/") {
		if to, ok = c.member(to, strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")); !ok {
			return place{}, fmt.Errorf("%q leads to nothing: there is no %s", clip(ref), clip(to.at))
		}
	}
	return to, nil
}

// member is one step of a pointer.
func (c *compiler) member(p place, name string) (place, bool) {
	out := place{at: below(p.at, name), base: p.base}
	ok := false
	switch raw := p.raw.(type) {
	case map[string]any:
		out.raw, ok = raw[name]
		if id, has := c.id(raw); has && p.at != "" {
			if abs, err := join(p.base, id); err == nil {
				out.base = withoutFragment(abs)
			}
		}
	case []any:
		i, err := strconv.Atoi(name)
		if ok = err == nil && i >= 0 && i < len(raw) && strconv.Itoa(i) == name; ok {
			out.raw = raw[i]
		}
	}
	return out, ok
}

func withoutFragment(uri string) string {
	uri, _, _ = strings.Cut(uri, "#")
	return uri
}

func join(base, ref string) (string, error) {
	r, err := url.Parse(ref)
	if err != nil {
		return "", fmt.Errorf("%q is no reference", clip(ref))
	}
	b, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("%q is no address", clip(base))
	}
	if base == "" || strings.HasPrefix(ref, "#") {
		if strings.HasPrefix(ref, "#") {
			return base + ref, nil
		}
		return ref, nil
	}
	return b.ResolveReference(r).String(), nil
}
