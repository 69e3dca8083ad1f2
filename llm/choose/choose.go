// Package choose turns the name of a model into a provider and that provider's
// id (spec K-12), and knows which model is taken when nobody names one (spec
// It connects to nothing and knows no provider's code: it answers with
// plain values. Everything here is a pure function of its arguments.
package choose

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A Provider is a way to reach models.
type Provider string

// The providers.
const (
	Anthropic  Provider = "anthropic"
	OpenAI     Provider = "openai"      // Responses
	OpenAIChat Provider = "openai-chat" // Chat Completions, at any address
	Gemini     Provider = "gemini"
	Offline    Provider = "offline"
	Scripted   Provider = "scripted"
)

// A Choice is one model.
type Choice struct {
	Provider Provider
	ID       string // as the provider names it; the file of a scripted model; empty for offline
	Suffix   string // "[1m]", or empty
}

// String is the full name, which [Resolve] reads back.
func (c Choice) String() string {
	switch c.Provider {
	case Offline:
		return string(Offline)
	case Scripted:
		return string(Scripted) + ":" + c.ID
	}
	return string(c.Provider) + "/" + c.ID + c.Suffix
}

// Options is what names depend on. The zero value knows the built-in aliases
// and no key.
type Options struct {
	Aliases map[string]string   // modelAliases of the settings; they stand before the built-in ones
	Getenv  func(string) string // nil means an empty environment
	// NoScripted refuses scripted models: the name comes from a file that came
	// with the workspace, which must not play the part of the model.
	NoScripted bool
}

func (o Options) getenv(name string) string {
	if o.Getenv == nil {
		return ""
	}
	return strings.TrimSpace(o.Getenv(name))
}

// elsewhere reports whether OPENAI_BASE_URL names a server that is not
// OpenAI's. Such servers speak Chat Completions (spec A-2), and any id may be
// one of theirs.
func (o Options) elsewhere() bool {
	base := o.getenv(baseURL)
	if base == "" {
		return false
	}
	u, err := url.Parse(base)
	return err != nil || !strings.EqualFold(u.Hostname(), "api.openai.com")
}

// An UnknownError reports a name that is no model.
type UnknownError struct {
	Name   string
	Reason string   // empty when nothing is known of it
	Near   []string // up to three names that look like it
}

func (e *UnknownError) Error() string {
	text := fmt.Sprintf("unknown model %q", e.Name)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if len(e.Near) > 0 {
		quoted := make([]string, len(e.Near))
		for i, n := range e.Near {
			quoted[i] = fmt.Sprintf("%q", n)
		}
		return text + "; did you mean " + strings.Join(quoted, " or ") + "?"
	}
	return text + "; write anthropic/ID, openai/ID, openai-chat/ID, gemini/ID, offline, scripted:FILE, or an alias such as sonnet"
}

// Resolve reads a name: PROVIDER/ID, offline, scripted:FILE, an alias, or an id
// whose beginning tells the provider. An empty name and "default" mean
// [Default]. The error is an [*UnknownError], or that of Default.
func Resolve(name string, o Options) (Choice, error) {
	name = strings.TrimSpace(name)
	if name == "" || strings.EqualFold(name, "default") || strings.EqualFold(name, "inherit") {
		return Default(o)
	}
	full, suffix, err := o.expand(name)
	if err != nil {
		return Choice{}, err
	}
	c, unknown := o.parse(full)
	if c.Provider == Scripted && full != name {
		// Whoever names a script is asked about, not whoever wrote an alias.
		unknown = &UnknownError{Reason: "an alias cannot lead to a scripted model"}
	}
	if unknown != nil {
		unknown.Name = name
		return Choice{}, unknown
	}
	if suffix != "" && c.Provider != Offline && c.Provider != Scripted {
		c.Suffix = suffix
	}
	return c, nil
}

// expand follows aliases. A name in its own definition means the built-in
// alias: {"opus": "opus[1m]"} is no circle.
func (o Options) expand(name string) (full, suffix string, err error) {
	seen := map[string]bool{}
	for full = name; ; {
		base, own, bad := cutSuffix(full)
		if bad != "" {
			return "", "", &UnknownError{Name: name, Reason: bad}
		}
		suffix = cmp.Or(suffix, own)
		next, ok := o.Aliases[base]
		if seen[base] {
			ok = false
		}
		seen[base] = true
		if !ok {
			if id, ok := aliases[strings.ToLower(base)]; ok {
				return id, suffix, nil
			}
			if _, again := o.Aliases[base]; again {
				return "", "", &UnknownError{Name: name, Reason: "its alias in the settings leads back to itself"}
			}
			return base, suffix, nil
		}
		if full = strings.TrimSpace(next); full == "" {
			return "", "", &UnknownError{Name: name, Reason: "its alias in the settings is empty"}
		}
	}
}

// cutSuffix takes "[1m]" off a name.
func cutSuffix(name string) (base, suffix, bad string) {
	i := strings.LastIndexByte(name, '[')
	if i < 0 || !strings.HasSuffix(name, "]") || strings.HasPrefix(name, string(Scripted)+":") {
		return name, "", ""
	}
	suffix = strings.ToLower(name[i:])
	if _, ok := suffixes[suffix]; !ok {
		return "", "", fmt.Sprintf("there is no suffix %s, only [1m]", name[i:])
	}
	return strings.TrimSpace(name[:i]), suffix, ""
}

// parse reads a name without aliases.
func (o Options) parse(name string) (Choice, *UnknownError) {
	if name == string(Offline) {
		return Choice{Provider: Offline}, nil
	}
	if file, ok := strings.CutPrefix(name, string(Scripted)+":"); ok {
		switch {
		case o.NoScripted:
			return Choice{}, &UnknownError{Reason: "a scripted model can only be named on the command line or in the person's own settings"}
		case file == "":
			return Choice{}, &UnknownError{Reason: "the file is missing: scripted:FILE"}
		}
		return Choice{Provider: Scripted, ID: file}, nil
	}
	if bad := strings.IndexFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }); bad >= 0 {
		return Choice{}, &UnknownError{Reason: "an id holds no blanks and no control characters"}
	}
	provider, id, slash := strings.Cut(name, "/")
	if slash {
		if p := Provider(strings.ToLower(provider)); slices.Contains(remote, p) {
			if id == "" {
				return Choice{}, &UnknownError{Reason: "the id is missing: " + string(p) + "/ID"}
			}
			return o.at(p, id), nil
		}
	}
	for _, p := range prefixes {
		if strings.HasPrefix(strings.ToLower(name), p.prefix) && !slash {
			return o.at(p.provider, name), nil
		}
	}
	if o.elsewhere() { // its ids are anything: "llama3.3", "org/model"
		return Choice{Provider: OpenAIChat, ID: name}, nil
	}
	return Choice{}, &UnknownError{Near: o.near(name)}
}

// at is the model id of p; another server than OpenAI's speaks Chat Completions.
func (o Options) at(p Provider, id string) Choice {
	if p == OpenAI && o.elsewhere() {
		p = OpenAIChat
	}
	return Choice{Provider: p, ID: id}
}

// Default is the model that is taken when nobody names one: that of the first
// provider whose key is set, else offline (spec A-2). It fails when
// OPENAI_BASE_URL alone is set, because nobody knows what that server has.
func Default(o Options) (Choice, error) {
	for _, d := range defaults {
		if o.getenv(d.key) == "" {
			continue
		}
		if d.provider == OpenAI && o.elsewhere() {
			break
		}
		return Choice{Provider: d.provider, ID: d.id}, nil
	}
	if o.elsewhere() {
		return Choice{}, &UnknownError{Name: "default", Reason: fmt.Sprintf("%s is set, and what models that server has is not known; name one: --model openai-chat/ID, or \"model\" in the settings", baseURL)}
	}
	return Choice{Provider: Offline}, nil
}

// Ready says what is missing for a model to be used, or nil.
func (c Choice) Ready(o Options) error {
	for _, d := range defaults {
		if d.provider == c.Provider && o.getenv(d.key) == "" {
			return fmt.Errorf("model %s needs a key: set %s", c, d.key)
		}
	}
	if c.Provider == OpenAIChat && !o.elsewhere() && o.getenv("OPENAI_API_KEY") == "" {
		return fmt.Errorf("model %s needs a server or a key: set %s, or OPENAI_API_KEY", c, baseURL)
	}
	return nil
}

// Window is the size of the context in tokens: 200,000 for models that are not
// in the table.
func (c Choice) Window() int {
	if n := suffixes[c.Suffix]; n > 0 {
		return n
	}
	id := strings.ToLower(c.ID[strings.LastIndexByte(c.ID, '/')+1:])
	if c.Provider != Offline && c.Provider != Scripted {
		for _, w := range windows {
			if strings.HasPrefix(id, w.prefix) {
				return w.tokens
			}
		}
	}
	return defaultWindow
}
