package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

// The limits of one skill of the Skills extension (spec X-6).
const (
	maxResources = 512
	maxTotal     = 16 << 20 // bytes
)

// An Offer is one skill as a server lists it by the Skills extension.
type Offer struct {
	URI         string          // of SKILL.md
	Frontmatter json.RawMessage // an object: all fields of SKILL.md
	Resources   []Resource      // every file, SKILL.md among them
	// Dynamic says that the server does not tell what the files are: nothing can
	// be checked, and no approval can be bound to them.
	Dynamic bool
}

// A Resource is one file of a skill.
type Resource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and 64 hexadecimal digits
	Size   int64  `json:"size"`   // bytes
}

// A SkillClient lists and reads the skills of one server. It is called from
// several goroutines.
type SkillClient interface {
	Skills(ctx context.Context) ([]Offer, error)
	// Skill asks anew for the skill with this URI.
	Skill(ctx context.Context, uri string) (Offer, error)
	// Read returns the bytes of a resource, as the server sends them now.
	Read(ctx context.Context, uri string) ([]byte, error)
}

// offered makes the entries of the Skills extension. taken are the ids of the
// server's prompts, which keep them. A server may offer one skill in both ways, for
// clients that know only one; the prompt, which it compiles itself, stands for both.
func (s Source) offered(ctx context.Context, taken []string, prompts []*skill.Skill) ([]*skill.Skill, []skill.Problem, error) {
	if s.Skills == nil {
		return nil, nil, nil
	}
	offers, err := s.Skills.Skills(ctx)
	if err != nil {
		return nil, nil, err
	}
	path := "mcp:" + s.Server
	offers = slices.SortedFunc(slices.Values(offers), func(a, b Offer) int { return strings.Compare(a.URI, b.URI) })
	var problems []skill.Problem
	if len(offers) > maxPrompts {
		problems = append(problems, problem("too-many-prompts", skill.Error, path,
			fmt.Sprintf("the server offers %d skills; only the first %d are used", len(offers), maxPrompts), "ask for fewer skills in the server's configuration"))
		offers = offers[:maxPrompts]
	}
	used := map[string]bool{}
	for _, id := range taken {
		used[id] = true
	}
	var out []*skill.Skill
	for i, o := range offers {
		if i > 0 && o.URI == offers[i-1].URI {
			continue
		}
		sk, found, err := s.offer(o)
		problems = append(problems, found...)
		if err != nil {
			problems = append(problems, problem("mcp-skill", skill.Error, path,
				fmt.Sprintf("the skill %s is not used: %v", strconv.Quote(shorten(o.URI)), err), "tell the server's author"))
			continue
		}
		id := promptName(sk.Name)
		if slices.ContainsFunc(prompts, func(p *skill.Skill) bool {
			return p.ID == ServerName(s.Server)+":"+id && p.Description == sk.Description
		}) {
			problems = append(problems, problem("duplicate-prompt", skill.Info, path,
				fmt.Sprintf("the server offers %q as a prompt and as a skill; the prompt is used", id), "nothing needs to be done"))
			continue
		}
		for n := 2; used[id]; n++ {
			id = promptName(sk.Name) + "-" + strconv.Itoa(n)
		}
		used[id] = true
		sk.ID = ServerName(s.Server) + ":" + id
		if sk.Name == id {
			sk.Name = "" // it says no more than the id
		}
		out = append(out, sk)
	}
	return out, problems, nil
}

// offer makes the entry of one skill, without its id.
func (s Source) offer(o Offer) (*skill.Skill, []skill.Problem, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	sk, err := s.fill(o.header())
	if err != nil {
		return nil, nil, err
	}
	if dir := strings.TrimSuffix(o.URI, "/SKILL.md"); sk.Name != dir[strings.LastIndexByte(dir, '/')+1:] {
		return nil, nil, fmt.Errorf("its name %q is not the last part of its address", sk.Name)
	}
	var problems []skill.Problem
	if o.Dynamic && len(sk.Run.AllowedTools) > 0 {
		sk.Run.AllowedTools = []string{} // still a limit, and no grant
		problems = append(problems, problem("mcp-skill", skill.Warning, "mcp:"+s.Server,
			fmt.Sprintf("the skill %q grants nothing: the server does not say what its files are, so no approval can be bound to them", shorten(o.URI)), "tell the server's author"))
	}
	sk.Content.Body = &offerBody{source: s, held: o, skill: sk}
	return sk, problems, nil
}

// fill reads a header by the rules for files, and keeps what strangers may say:
// words, switches that hide the skill, and the tools it wants (spec C-13).
func (s Source) fill(header []byte) (*skill.Skill, error) {
	doc, _ := frontmatter.Parse("mcp:"+s.Server, header)
	if doc.Refused != "" {
		return nil, fmt.Errorf("its frontmatter cannot be read: %s", doc.Refused)
	}
	var read skill.Skill
	doc.Fill(&read, false)
	if read.Name == "" {
		return nil, errors.New("its frontmatter has no name")
	}
	return &skill.Skill{
		Summary: skill.Summary{Name: shorten(read.Name), Description: shorten(read.Description), WhenToUse: shorten(read.WhenToUse),
			ArgumentHint: shorten(read.ArgumentHint), Version: shorten(read.Version)},
		Trigger: skill.Trigger{HiddenFromUser: read.Trigger.HiddenFromUser, HiddenFromModel: read.Trigger.HiddenFromModel},
		Run:     skill.Run{Mode: s.mode(), AllowedTools: read.Run.AllowedTools, DisallowedTools: read.Run.DisallowedTools},
		Origin:  skill.Origin{Source: skill.MCP, Owner: s.Server},
		Content: skill.Content{Arguments: read.Content.Arguments, Positional: read.Content.Positional},
	}, nil
}

// check says why an offer cannot be used, or nil.
func (o Offer) check() error {
	switch {
	case !strings.HasSuffix(o.URI, "/SKILL.md"):
		return errors.New("its address does not end with /SKILL.md")
	case o.Dynamic:
		return nil
	case len(o.Resources) > maxResources:
		return fmt.Errorf("it has %d files; %d are the limit", len(o.Resources), maxResources)
	}
	seen, total := map[string]bool{}, int64(0)
	for _, r := range o.Resources {
		digest, sha := strings.CutPrefix(r.Digest, "sha256:")
		raw, err := hex.DecodeString(digest)
		switch {
		case !sha || err != nil || len(raw) != sha256.Size:
			return fmt.Errorf("%q has no usable digest", shorten(r.URI))
		case r.Size < 0 || r.Size > maxTotal:
			return fmt.Errorf("%q has the size %d", shorten(r.URI), r.Size)
		case seen[r.URI]:
			return fmt.Errorf("%q is listed twice", shorten(r.URI))
		}
		seen[r.URI] = true
		total += r.Size
	}
	switch {
	case total > maxTotal:
		return fmt.Errorf("its files have %d bytes together; %d are the limit", total, maxTotal)
	case !seen[o.URI]:
		return errors.New("its list of files does not hold its SKILL.md")
	}
	return nil
}

// header writes the frontmatter as a file has it. JSON values are YAML values.
func (o Offer) header() []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(o.Frontmatter, &fields) != nil {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("---\n")
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		var v bytes.Buffer
		if json.Compact(&v, fields[k]) != nil {
			continue
		}
		value := v.String()
		var text string
		if json.Unmarshal(fields[k], &text) == nil && string(fields[k]) != "null" {
			value = frontmatter.Quote(text)
		}
		fmt.Fprintf(&b, "%s: %s\n", frontmatter.Quote(k), value)
	}
	b.WriteString("---\n")
	return b.Bytes()
}

// Verify reports whether data is what the offer says of a file (spec X-6).
func (o Offer) Verify(uri string, data []byte) error {
	if o.Dynamic {
		if len(data) > maxTotal {
			return fmt.Errorf("%s has %d bytes; %d are the limit", uri, len(data), maxTotal)
		}
		return nil
	}
	i := slices.IndexFunc(o.Resources, func(r Resource) bool { return r.URI == uri })
	if i < 0 {
		return fmt.Errorf("%s is no file of this skill", uri)
	}
	r := o.Resources[i]
	if int64(len(data)) != r.Size {
		return fmt.Errorf("%s has %d bytes, and the server has said %d", uri, len(data), r.Size)
	}
	if sum := sha256.Sum256(data); !strings.EqualFold(hex.EncodeToString(sum[:]), strings.TrimPrefix(r.Digest, "sha256:")) {
		return fmt.Errorf("%s is not what the server has said: its digest differs", uri)
	}
	return nil
}

// An offerBody reads one skill. Nothing is kept between calls (spec X-7).
type offerBody struct {
	source Source
	held   Offer
	skill  *skill.Skill
}

// Load reads SKILL.md and checks it against the list. When the server has
// changed it, the new list decides, if it still offers the same to a reader.
func (b *offerBody) Load(ctx context.Context) (skill.Instructions, error) {
	in, err := b.load(ctx, b.held)
	if err == nil || ctx.Err() != nil {
		return in, err
	}
	now, again := b.source.Skills.Skill(ctx, b.held.URI)
	if again != nil || now.URI != b.held.URI || now.check() != nil || reflect.DeepEqual(now, b.held) {
		return in, err
	}
	return b.load(ctx, now)
}

func (b *offerBody) load(ctx context.Context, o Offer) (skill.Instructions, error) {
	what := fmt.Sprintf("the skill %s of MCP server %s", o.URI, b.source.Server)
	data, err := b.source.Skills.Read(ctx, o.URI)
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("read %s: %w", what, err)
	}
	if err := o.Verify(o.URI, data); err != nil {
		return skill.Instructions{}, fmt.Errorf("%s is not used: %w", what, err)
	}
	file, err := b.source.fill(data)
	if err == nil && !o.Dynamic {
		listed, _ := b.source.fill(o.header())
		err = b.differs(file, listed)
	}
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("%s is not used: %w", what, err)
	}
	body, _, err := frontmatter.SplitBody(data)
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("%s is not used: %w", what, err)
	}
	in := instructions(body+b.files(o), what)
	// What is approved is the file and every digest beside it (spec S-14).
	in.Source = strings.ToValidUTF8(string(data), "\uFFFD") + o.digests()
	return in, nil
}

// differs compares the file with what was listed of it and what is in force.
func (b *offerBody) differs(file, listed *skill.Skill) error {
	if listed == nil {
		return errors.New("its frontmatter cannot be read")
	}
	switch {
	case file.Name != listed.Name, file.Summary != listed.Summary,
		!reflect.DeepEqual(file.Trigger, listed.Trigger), !reflect.DeepEqual(file.Run, listed.Run), !reflect.DeepEqual(file.Content, listed.Content):
		return errors.New("the frontmatter of its SKILL.md is not what the server lists")
	case !reflect.DeepEqual(file.Run.AllowedTools, b.skill.Run.AllowedTools) && len(file.Run.AllowedTools) > 0:
		return errors.New("it asks for other tools than when it was listed; list the skills again")
	}
	return nil
}

// files tells the reader where the other files of the skill are.
func (b *offerBody) files(o Offer) string {
	var names []string
	for _, r := range o.Resources {
		if r.URI != o.URI {
			names = append(names, "- "+r.URI)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("\n\nFiles of this skill, on the MCP server %s:\n%s\n", b.source.Server, strings.Join(names, "\n"))
}

// digests lists the files of an offer with what they consist of.
func (o Offer) digests() string {
	lines := make([]string, len(o.Resources))
	for i, r := range o.Resources {
		lines[i] = fmt.Sprintf("\n%s %d %s", r.Digest, r.Size, r.URI)
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
