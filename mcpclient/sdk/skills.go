package sdk

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	source "github.com/knack-skills/knack/source/mcp"
)

// The Skills extension, which the SDK does not know.
const (
	skillsExtension = "io.modelcontextprotocol/skills"
	skillsList      = "skills/list"
	skillsGet       = "skills/get"
)

type listParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type listResult struct {
	mcp.ResultBase
	Skills     []wireSkill `json:"skills"`
	NextCursor string      `json:"nextCursor"`
}

type getParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

type getResult struct {
	mcp.ResultBase
	Skill wireSkill `json:"skill"`
}

// A wireSkill is one entry. Its resources are a list or the word "dynamic".
type wireSkill struct {
	URI         string          `json:"uri"`
	Frontmatter json.RawMessage `json:"frontmatter"`
	Resources   json.RawMessage `json:"resources"`
}

// offer reads an entry. Anything but a list and "dynamic" leaves it without
// files, which makes it one that is not used.
func (w wireSkill) offer() source.Offer {
	o := source.Offer{URI: w.URI, Frontmatter: w.Frontmatter}
	var word string
	if json.Unmarshal(w.Resources, &word) == nil && word == "dynamic" {
		o.Dynamic = true
		return o
	}
	if json.Unmarshal(w.Resources, &o.Resources) != nil {
		o.Resources = nil
	}
	return o
}

func addSkillMethods(c *mcp.Client) error {
	return errors.Join(
		mcp.AddSendingCustomMethod[*listParams, *listResult](c, skillsList),
		mcp.AddSendingCustomMethod[*getParams, *getResult](c, skillsGet))
}

// ListSkills implements [mcpclient.Skills].
func (p *peer) ListSkills(ctx context.Context) ([]source.Offer, error) {
	return pages(ctx, func(ctx context.Context, cursor string) ([]source.Offer, string, error) {
		r, err := mcp.CallCustomMethod[*listParams, *listResult](ctx, p.s, skillsList, &listParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		var out []source.Offer
		for _, w := range r.Skills {
			out = append(out, w.offer())
		}
		return out, r.NextCursor, nil
	})
}

// GetSkill implements [mcpclient.Skills].
func (p *peer) GetSkill(ctx context.Context, uri string) (source.Offer, error) {
	r, err := mcp.CallCustomMethod[*getParams, *getResult](ctx, p.s, skillsGet, &getParams{URI: uri})
	if err != nil {
		return source.Offer{}, err
	}
	return r.Skill.offer(), nil
}
