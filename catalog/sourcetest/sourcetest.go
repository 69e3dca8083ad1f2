// Package sourcetest checks that an implementation of catalog.Source keeps the
// contract that package catalog relies on. Every source runs it in its tests.
package sourcetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/skill"
)

// loads is how many calls of Load run at once.
const loads = 8

// Run checks src, which must be set up and unchanging, as subtests of t:
// repeated loads are equal (spec C-11), concurrent loads are safe (run it under
// the race detector), a context that has ended ends the load with its error,
// each skill has an id and an origin, and no value is changed after Load
// returned it.
func Run(t *testing.T, src catalog.Source) {
	t.Helper()
	for _, c := range []struct {
		name  string
		check func(context.Context, catalog.Source) error
	}{
		{"repeated loads are equal", repeated},
		{"concurrent loads are equal", concurrent},
		{"a cancelled context ends the load", cancelled},
		{"every skill is complete", complete},
		{"nothing changes after it was returned", unchanged},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.check(t.Context(), src); err != nil {
				t.Error(err)
			}
		})
	}
}

// repeated reports whether two loads give different results.
func repeated(ctx context.Context, src catalog.Source) error {
	first, err := picture(ctx, src)
	if err != nil {
		return err
	}
	second, err := picture(ctx, src)
	if err != nil {
		return err
	}
	return diff(first, second)
}

// concurrent reports whether loads at the same time give different results.
func concurrent(ctx context.Context, src catalog.Source) error {
	want, err := picture(ctx, src)
	if err != nil {
		return err
	}
	errs := make([]error, loads)
	var wg sync.WaitGroup
	for i := range loads {
		wg.Go(func() {
			got, err := picture(ctx, src)
			errs[i] = errors.Join(err, diff(want, got))
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// cancelled reports whether a load goes on after its context has ended.
func cancelled(ctx context.Context, src catalog.Source) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := src.Load(ctx); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("loading with a cancelled context returned %v, want context.Canceled", err)
	}
	return nil
}

// complete reports skills and problems that lack what the catalog needs.
func complete(ctx context.Context, src catalog.Source) error {
	skills, problems, err := src.Load(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i, s := range skills {
		switch {
		case s == nil:
			errs = append(errs, fmt.Errorf("skill %d is nil", i))
		case s.ID == "":
			errs = append(errs, fmt.Errorf("skill %d (%s) has no id", i, s.Origin.Path))
		case s.Origin.Source == "":
			errs = append(errs, fmt.Errorf("skill %q has no origin", s.ID))
		case s.Content.Body == nil:
			errs = append(errs, fmt.Errorf("skill %q has no body", s.ID))
		}
	}
	for _, p := range problems {
		if p.Code == "" || p.Severity == "" || p.Message == "" {
			errs = append(errs, fmt.Errorf("problem without code, severity or message: %+v", p))
		}
	}
	return errors.Join(errs...)
}

// unchanged reports whether a later load changed the values of an earlier one.
func unchanged(ctx context.Context, src catalog.Source) error {
	skills, problems, err := src.Load(ctx)
	if err != nil {
		return err
	}
	before := draw(skills, problems)
	if _, err := picture(ctx, src); err != nil {
		return err
	}
	return diff(before, draw(skills, problems))
}

func picture(ctx context.Context, src catalog.Source) ([]byte, error) {
	skills, problems, err := src.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return draw(skills, problems), nil
}

// draw writes everything that can be compared, a line for each value. Bodies
// and callbacks count by their presence.
func draw(skills []*skill.Skill, problems []skill.Problem) []byte {
	var b bytes.Buffer
	for _, s := range skills {
		if s == nil {
			b.WriteString("nil\n")
			continue
		}
		t, c := s.Trigger, s.Content
		fmt.Fprintf(&b, "%#v %v %v %v %q %v ", s.Summary, t.HiddenFromUser, t.HiddenFromModel, t.Conditional, t.Paths, t.Enabled != nil)
		drawValue(&b, reflect.ValueOf(s.Run))
		fmt.Fprintf(&b, " %#v %q %v %d %q %v\n", s.Origin, c.Arguments, c.Positional, c.Bytes, c.Extra, c.Body != nil)
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "%#v\n", p)
	}
	return b.Bytes()
}

// drawValue writes v by value: what pointers lead to, never where they point.
func drawValue(b *bytes.Buffer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		drawValue(b, v.Elem())
	case reflect.Struct:
		b.WriteByte('{')
		for i := range v.NumField() {
			fmt.Fprintf(b, "%s:", v.Type().Field(i).Name)
			drawValue(b, v.Field(i))
			b.WriteByte(' ')
		}
		b.WriteByte('}')
	case reflect.Slice, reflect.Array:
		b.WriteByte('[')
		for i := range v.Len() {
			drawValue(b, v.Index(i))
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case reflect.Func:
		fmt.Fprintf(b, "func:%v", v.IsNil())
	default:
		fmt.Fprintf(b, "%#v", v) // maps print with sorted keys
	}
}

// diff reports the first line on which two pictures differ.
func diff(want, got []byte) error {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range max(len(w), len(g)) {
		var a, b []byte
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if !bytes.Equal(a, b) {
			return fmt.Errorf("results differ at item %d:\n%s\n%s", i+1, a, b)
		}
	}
	return nil
}
