package schema

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A word is one keyword: how its operand is read.
type word struct {
	name string
	read func(r *reading, operand any) error
}

// A reading is one keyword of one schema.
type reading struct {
	c    *compiler
	n    *node
	p    place
	m    map[string]any // the schema
	name string
}

func (r *reading) bad(format string, args ...any) error {
	return &Error{below(r.p.at, r.name), fmt.Sprintf(format, args...)}
}

func (r *reading) check(c check) error {
	r.n.checks = append(r.n.checks, c)
	return nil
}

// words are the keywords that ask something. All others, formats among them,
// are notes (spec A-7).
func words() []word {
	return []word{
		{"$ref", readRef}, {"$dynamicRef", readDynamic}, {"$recursiveRef", readDynamic},
		{"type", readType}, {"enum", readEnum}, {"const", readConst},
		{"multipleOf", readMultiple},
		{"maximum", bound("at most", func(c int) bool { return c <= 0 })},
		{"exclusiveMaximum", bound("less than", func(c int) bool { return c < 0 })},
		{"minimum", bound("at least", func(c int) bool { return c >= 0 })},
		{"exclusiveMinimum", bound("more than", func(c int) bool { return c > 0 })},
		{"maxLength", size(length, "characters", true)}, {"minLength", size(length, "characters", false)},
		{"pattern", readPattern},
		{"maxItems", size(items, "items", true)}, {"minItems", size(items, "items", false)},
		{"uniqueItems", readUnique},
		{"maxProperties", size(members, "keys", true)}, {"minProperties", size(members, "keys", false)},
		{"required", readRequired}, {"dependentRequired", readDependentRequired},
		{"$defs", readDefs}, {"definitions", readDefs},
		{"prefixItems", readPrefix}, {"items", readItems}, {"contains", readContains},
		{"minContains", readCount}, {"maxContains", readCount},
		{"properties", readProperties}, {"patternProperties", readPatterns}, {"additionalProperties", readAdditional},
		{"propertyNames", readNames}, {"dependentSchemas", readDependent}, {"dependencies", readDependent},
		{"allOf", readAllOf}, {"anyOf", readAnyOf}, {"oneOf", readOneOf}, {"not", readNot}, {"if", readIf},
		{"unevaluatedItems", readRestItems}, {"unevaluatedProperties", readRest},
	}
}

var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

func readType(r *reading, operand any) error {
	list, many := operand.([]any)
	if !many {
		list = []any{operand}
	}
	var want []string
	for _, t := range list {
		s, _ := t.(string)
		if !slices.Contains(types, s) {
			return r.bad("%s is no type; the types are %s", show(t), strings.Join(types, ", "))
		}
		want = append(want, s)
	}
	if len(want) == 0 {
		return r.bad("it names no type")
	}
	return r.check(func(v *visit, value any, at string, _ *looked) {
		k := kind(value)
		if !slices.Contains(want, k) && !(k == "integer" && slices.Contains(want, "number")) {
			v.add(at, "is %s and has to be %s", withArticle(k), withArticle(strings.Join(want, " or ")))
		}
	})
}

func withArticle(s string) string {
	if strings.HasPrefix(s, "null") {
		return s
	}
	if strings.ContainsRune("aio", rune(s[0])) {
		return "an " + s
	}
	return "a " + s
}

func readEnum(r *reading, operand any) error {
	list, ok := operand.([]any)
	if !ok || len(list) == 0 {
		return r.bad("it has to be a list of values")
	}
	known, shown := map[string]bool{}, make([]string, len(list))
	for i, x := range list {
		known[canonical(x)], shown[i] = true, show(x)
	}
	return r.check(func(v *visit, value any, at string, _ *looked) {
		if !known[canonical(value)] {
			v.add(at, "is %s and has to be one of %s", show(value), clip(strings.Join(shown, ", ")))
		}
	})
}

func readConst(r *reading, operand any) error {
	want := canonical(operand)
	return r.check(func(v *visit, value any, at string, _ *looked) {
		if canonical(value) != want {
			v.add(at, "is %s and has to be %s", show(value), show(operand))
		}
	})
}

func readMultiple(r *reading, operand any) error {
	of, ok := operand.(*big.Rat)
	if !ok || of.Sign() <= 0 {
		return r.bad("it has to be a number above 0, and not %s", show(operand))
	}
	return r.check(func(v *visit, value any, at string, _ *looked) {
		if n, ok := value.(*big.Rat); ok && !new(big.Rat).Quo(n, of).IsInt() {
			v.add(at, "is %s and has to be a multiple of %s", show(value), show(operand))
		}
	})
}

func bound(say string, fits func(compared int) bool) func(*reading, any) error {
	return func(r *reading, operand any) error {
		limit, ok := operand.(*big.Rat)
		if !ok {
			return r.bad("it has to be a number, and not %s", show(operand))
		}
		return r.check(func(v *visit, value any, at string, _ *looked) {
			if n, ok := value.(*big.Rat); ok && !fits(n.Cmp(limit)) {
				v.add(at, "is %s and has to be %s %s", show(value), say, show(operand))
			}
		})
	}
}

// The sizes; -1 is for values that have none.
func length(v any) int {
	if s, ok := v.(string); ok {
		return utf8.RuneCountInString(s)
	}
	return -1
}

func items(v any) int {
	if list, ok := v.([]any); ok {
		return len(list)
	}
	return -1
}

func members(v any) int {
	if m, ok := v.(map[string]any); ok {
		return len(m)
	}
	return -1
}

func size(of func(any) int, unit string, most bool) func(*reading, any) error {
	return func(r *reading, operand any) error {
		limit, err := r.count(operand)
		if err != nil {
			return err
		}
		return r.check(func(v *visit, value any, at string, _ *looked) {
			switch n := of(value); {
			case n < 0:
			case most && n > limit:
				v.add(at, "has %d %s and may have %d", n, unit, limit)
			case !most && n < limit:
				v.add(at, "has %d %s and needs %d", n, unit, limit)
			}
		})
	}
}

// count reads a number of things.
func (r *reading) count(operand any) (int, error) {
	n, ok := operand.(*big.Rat)
	if !ok || !n.IsInt() || n.Sign() < 0 {
		return 0, r.bad("it has to be a whole number from 0, and not %s", show(operand))
	}
	if !n.Num().IsInt64() || n.Num().Int64() > 1<<31-1 {
		return 1<<31 - 1, nil // more than any value has
	}
	return int(n.Num().Int64()), nil
}

// pattern compiles a regular expression.
func (r *reading) pattern(operand any) (*regexp.Regexp, error) {
	s, ok := operand.(string)
	if !ok {
		return nil, r.bad("it has to be a regular expression, and not %s", show(operand))
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, r.bad("%s is no regular expression that is known here (the syntax is RE2, without look-around and back references): %v", show(operand), err)
	}
	return re, nil
}

func readPattern(r *reading, operand any) error {
	re, err := r.pattern(operand)
	if err != nil {
		return err
	}
	return r.check(func(v *visit, value any, at string, _ *looked) {
		if s, ok := value.(string); ok && !re.MatchString(s) {
			v.add(at, "is %s and has to match the pattern %s", show(value), show(operand))
		}
	})
}

func readUnique(r *reading, operand any) error {
	on, ok := operand.(bool)
	if !ok {
		return r.bad("it has to be true or false, and not %s", show(operand))
	}
	if !on {
		return nil
	}
	return r.check(func(v *visit, value any, at string, _ *looked) {
		seen := map[string]int{}
		list, _ := value.([]any)
		for i, x := range list {
			c := canonical(x)
			if first, twice := seen[c]; twice {
				v.add(at, "holds the same at %d and %d; its items have to differ", first, i)
				return
			}
			seen[c] = i
		}
	})
}

// texts reads a list of names.
func (r *reading) texts(operand any) ([]string, error) {
	list, ok := operand.([]any)
	if !ok {
		return nil, r.bad("it has to be a list of names, and not %s", show(operand))
	}
	var out []string
	for _, x := range list {
		s, ok := x.(string)
		if !ok {
			return nil, r.bad("%s is no name", show(x))
		}
		out = append(out, s)
	}
	return out, nil
}

func readRequired(r *reading, operand any) error {
	names, err := r.texts(operand)
	if err != nil {
		return err
	}
	return r.check(func(v *visit, value any, at string, _ *looked) {
		if m, ok := value.(map[string]any); ok {
			missing(v, m, at, names, "")
		}
	})
}

func missing(v *visit, m map[string]any, at string, names []string, why string) {
	for _, name := range names {
		if _, ok := m[name]; !ok {
			v.add(below(at, clip(name)), "is missing%s", why)
		}
	}
}

func readDependentRequired(r *reading, operand any) error {
	m, ok := operand.(map[string]any)
	if !ok {
		return r.bad("it has to be an object of lists of names, and not %s", show(operand))
	}
	for _, name := range keys(m) {
		names, err := r.texts(m[name])
		if err != nil {
			return err
		}
		r.n.checks = append(r.n.checks, dependent(name, names))
	}
	return nil
}

func dependent(name string, names []string) check {
	return func(v *visit, value any, at string, _ *looked) {
		if m, ok := value.(map[string]any); ok {
			if _, has := m[name]; has {
				missing(v, m, at, names, "; "+show(name)+" needs it")
			}
		}
	}
}
