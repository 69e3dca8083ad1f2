package skill

import "testing"

func TestProblemString(t *testing.T) {
	tests := []struct {
		p    Problem
		want string
	}{
		{Problem{Code: "c", Severity: Error, Message: "m", Path: "f", Line: 2, Column: 3}, "f:2:3: error: m [c]"},
		{Problem{Code: "c", Severity: Info, Message: "m", Path: "f", Line: 2}, "f:2: info: m [c]"},
		{Problem{Code: "c", Severity: Warning, Message: "m", Path: "f"}, "f: warning: m [c]"},
		{Problem{Code: "c", Severity: Warning, Message: "m"}, "warning: m [c]"},
	}
	for _, tt := range tests {
		if got := tt.p.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
