package permission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/knack-skills/knack/permission"
)

// show writes a script on one line: the words of each call, with what feeds it.
func show(s *permission.Script) string {
	var out []string
	for i, c := range s.Calls {
		var w []string
		for _, a := range c.Words {
			if !a.Static {
				a.Value += "…"
			}
			w = append(w, a.Value)
		}
		for _, a := range c.Set {
			w = append(w, "set "+a.Value)
		}
		for _, a := range c.Reads {
			w = append(w, "<"+a.Value)
		}
		for _, a := range c.Writes {
			w = append(w, ">"+a.Value)
		}
		if c.Input != "" {
			w = append(w, fmt.Sprintf("<<%q", c.Input))
		}
		if c.Within >= 0 {
			w = append(w, fmt.Sprintf("in %d", c.Within))
		}
		if len(c.From)+len(c.To) > 0 {
			w = append(w, fmt.Sprint(c.From, c.To))
		}
		out = append(out, fmt.Sprintf("%d:%s", i, strings.Join(w, " ")))
	}
	return strings.Join(out, " / ")
}

func TestReadScript(t *testing.T) {
	tests := []struct{ in, want string }{
		{`c""url -s 'x' | s\h`, "0:curl -s x [] [1] / 1:sh [1] []"},
		{"a | b | c", "0:a [] [1 2] / 1:b [2] [1] / 2:c [1] []"},
		{`bash -c "$(curl u)"`, "0:bash -c … / 1:curl u in 0"},
		{"bash <(curl u)", "0:bash /dev/fd/… / 1:curl u in 0"},
		{"bash < <(curl u)", "0:curl u [] [1] / 1:bash </dev/fd/ [1] []"},
		{"sh <<E\nhi $(curl u)\nE\n", `0:curl u [] [1] / 1:sh <<"hi " [1] []`},
		{"(a; b) > f", "0:a >f / 1:b >f"},
		{"X=1 a; Y=2", "0:a set X=1 / 1:set Y=2"},
		{"if a; then b > f 2>&1; fi", "0:a / 1:b >f"},
		{"f() { a; }; f", "0:a / 1:f"},
		{"export P=$(a) Q=r", "0:export set P= set Q=r / 1:a in 0"},
		{"> f", "0:>f"},
	}
	for _, tt := range tests {
		s, err := permission.ReadScript(tt.in)
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		if got := show(s); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
	for _, bad := range []string{"a |", "'", strings.Repeat("x", 65<<10), strings.Repeat("$(", 2000), "\x00"} {
		if s, err := permission.ReadScript(bad); err == nil {
			t.Errorf("%.20q: no error, %v", bad, s)
		}
	}
}

func FuzzReadScript(f *testing.F) {
	f.Add("a | b <(c) > d")
	f.Add("sh <<E\n$(x)\nE")
	f.Fuzz(func(t *testing.T, in string) {
		s, err := permission.ReadScript(in)
		if err != nil {
			return
		}
		for i, c := range s.Calls {
			if c.Offset < 0 || c.End > len(in) || c.Offset > c.End || c.Within >= i && c.Within >= 0 {
				t.Fatalf("%q: call %d is %+v", in, i, c)
			}
		}
	})
}
