package settings

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/skill"
)

// Rules returns the merged permission rules. Allow rules of the project level
// and of the local level are left out until the workspace is trusted (spec
// S-9); deny and ask rules of all levels always hold. Rules that do not parse
// are problems.
//
// With allowManagedPermissionRulesOnly, allow rules of other levels are left
// out too (spec S-6, S-11): deny and ask rules only make things stricter, so
// those of everybody stay. Each file whose rules are left out is a problem.
// Rules come strongest level first, each with its file, level and root.
func (s *Settings) Rules(trusted bool) (permission.Rules, []skill.Problem) {
	var (
		rules    permission.Rules
		problems []skill.Problem
	)
	only := s.AllowManagedPermissionRulesOnly != nil && *s.AllowManagedPermissionRulesOnly
	for i := range s.Files {
		f := &s.Files[i]
		p := &f.Values.Permissions
		rules.Deny = append(rules.Deny, s.parse(f, "deny", p.Deny, &problems)...)
		rules.Ask = append(rules.Ask, s.parse(f, "ask", p.Ask, &problems)...)
		allow := s.parse(f, "allow", p.Allow, &problems)
		switch {
		case len(allow) == 0:
		case only && f.Level != ManagedLevel:
			problems = append(problems, leftOut(f, allow, "rule-not-managed",
				"managed settings let only their own allow rules count (allowManagedPermissionRulesOnly)",
				"ask the administrator to add the rules to the managed settings"))
		case !trusted && f.Level.fromWorkspace():
			problems = append(problems, leftOut(f, allow, "rule-untrusted", "the workspace is not trusted", fixTrust))
		default:
			rules.Allow = append(rules.Allow, allow...)
		}
	}
	return rules, problems
}

// parse reads one list of one file, without doubles.
func (s *Settings) parse(f *File, list string, texts []string, problems *[]skill.Problem) []permission.Rule {
	var rules []permission.Rule
	seen := map[string]bool{}
	for i, text := range texts {
		rule, err := permission.ParseRule(text)
		if err != nil {
			at := f.places[fmt.Sprintf("permissions.%s[%d]", list, i)]
			*problems = append(*problems, skill.Problem{
				Code: "permission-rule", Severity: skill.Error, Path: f.Path, Line: at.line, Column: at.column,
				Message: fmt.Sprintf("permissions.%s: %v; the rule is left out", list, err),
				Fix:     "write Tool or Tool(specifier), such as Bash(git log:*)",
			})
			continue
		}
		if seen[rule.Text] {
			continue
		}
		seen[rule.Text] = true
		rule.From, rule.Scope, rule.Root = f.Path, string(f.Level), s.rootOf(f)
		rules = append(rules, rule)
	}
	return rules
}

// rootOf returns the directory that "/x" in a path specifier of f is relative
// to (spec S-8): the user's settings directory for the user's file, the
// directory of a file named by --settings, the directory whose .claude holds a
// file of the project, else the project.
func (s *Settings) rootOf(f *File) string {
	switch {
	case f.Level == UserLevel:
		return filepath.Dir(f.Path)
	case f.Level.fromWorkspace():
		return filepath.Dir(filepath.Dir(f.Path))
	case f.Level == CommandLineLevel && f.Path != inlinePath:
		if abs, err := filepath.Abs(f.Path); err == nil {
			return filepath.Dir(abs)
		}
	}
	return s.Root
}

// leftOut is one problem for all allow rules of a file.
func leftOut(f *File, rules []permission.Rule, code, why, fix string) skill.Problem {
	const most = 5
	var texts []string
	for _, r := range rules[:min(most, len(rules))] {
		texts = append(texts, cut(r.Text))
	}
	if n := len(rules) - len(texts); n > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", n))
	}
	at := f.places["permissions.allow"]
	return skill.Problem{
		Code: code, Severity: skill.Warning, Path: f.Path, Line: at.line, Column: at.column,
		Message: fmt.Sprintf("allow rules not in force, because %s: %s", why, strings.Join(texts, ", ")),
		Fix:     fix,
	}
}
