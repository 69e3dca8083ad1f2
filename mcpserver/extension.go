package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/session"
)

// The Skills extension of the protocol.
const (
	extensionID = "io.modelcontextprotocol/skills"
	listMethod  = "skills/list"
	getMethod   = "skills/get"
)

// skillsPage is how many skills one answer to skills/list holds: their files are
// read for it.
const skillsPage = 50

// A skillEntry is one skill, as the extension tells it.
type skillEntry struct {
	URI         string          `json:"uri"`
	Frontmatter json.RawMessage `json:"frontmatter"`
	Resources   []skillResource `json:"resources"`
}

// A skillResource is one file of a skill.
type skillResource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and 64 hexadecimal digits
	Size   int64  `json:"size"`
}

// fresh is what every answer of the extension holds: files may change at any
// time, and what a client may see depends on the client.
type fresh struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
	TTLMs      int    `json:"ttlMs"`
	CacheScope string `json:"cacheScope"`
}

func now() fresh { return fresh{ResultType: "complete", CacheScope: "private"} }

type skillsListParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type skillsListResult struct {
	fresh
	Skills     []skillEntry `json:"skills"`
	NextCursor string       `json:"nextCursor,omitempty"`
}

type skillsGetParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

type skillsGetResult struct {
	fresh
	Skill skillEntry `json:"skill"`
}

func (s *Server) addExtension() {
	// Both names are free, which is all that could be wrong.
	err := mcp.AddReceivingCustomMethod(s.mcp, listMethod, func(ctx context.Context, c *mcp.ServerSession, p *skillsListParams) (*skillsListResult, error) {
		if p == nil {
			p = &skillsListParams{}
		}
		return s.skillsList(ctx, s.sessionOf(c), p.Cursor)
	})
	if err == nil {
		err = mcp.AddReceivingCustomMethod(s.mcp, getMethod, func(ctx context.Context, c *mcp.ServerSession, p *skillsGetParams) (*skillsGetResult, error) {
			if p == nil {
				p = &skillsGetParams{}
			}
			return s.skillsGet(ctx, s.sessionOf(c), p.URI)
		})
	}
	if err != nil {
		panic(err)
	}
}

// skillsList lists the skills whose entry a client can verify. A cursor is the
// URI of the last skill that was looked at, so that it stays good over a reload.
func (s *Server) skillsList(ctx context.Context, own *session.Session, cursor string) (*skillsListResult, error) {
	var entries []*catalog.Entry
	for e := range s.engine.Snapshot().ModelView(own.Active) {
		if uriOf(e, mainFile) > cursor {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b *catalog.Entry) int { return strings.Compare(uriOf(a, mainFile), uriOf(b, mainFile)) })
	res := &skillsListResult{fresh: now(), Skills: []skillEntry{}}
	if len(entries) > skillsPage {
		entries = entries[:skillsPage]
		res.NextCursor = uriOf(entries[skillsPage-1], mainFile)
	}
	for _, e := range entries {
		entry, err := s.verifiable(ctx, e)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			s.log.Info("a skill is not offered by the Skills extension", "skill", calledBy(e), "reason", err)
			continue
		}
		res.Skills = append(res.Skills, *entry)
	}
	return res, nil
}

func (s *Server) skillsGet(ctx context.Context, own *session.Session, uri string) (*skillsGetResult, error) {
	unknown := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: plain(fmt.Sprintf("unknown skill %q", uri))}
	e, p, ok := split(s.engine.Snapshot(), uri)
	if !ok || p != mainFile {
		return nil, unknown
	}
	e, err := s.readable(ctx, own, calledBy(e))
	if err != nil {
		return nil, invalid(err)
	}
	entry, err := s.verifiable(ctx, e)
	if err != nil {
		return nil, invalid(err)
	}
	return &skillsGetResult{fresh: now(), Skill: *entry}, nil
}

// verifiable describes a skill with the digests of all its files. The error says
// why a client could not hold what it reads against that.
func (s *Server) verifiable(ctx context.Context, e *catalog.Entry) (*skillEntry, error) {
	d, err := openFolder(ctx, e)
	if err != nil {
		return nil, err
	}
	defer d.close()
	front, name, err := frontmatterOf(d.main)
	if err != nil {
		return nil, err
	}
	if id := calledBy(e); name != id[strings.LastIndexAny(id, ":/")+1:] {
		return nil, fmt.Errorf("its frontmatter gives it the name %q, which is not the end of its id", name)
	}
	paths, more, err := d.list(ctx, maxListed)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, fmt.Errorf("it has more than %d files", maxListed)
	}
	out := &skillEntry{URI: uriOf(e, mainFile), Frontmatter: front}
	left := int64(maxSkill)
	for _, p := range paths {
		if err := s.mayRead(e, p); err != nil {
			return nil, err
		}
		f, err := d.read(p, min(left, maxFile))
		if err != nil {
			return nil, err
		}
		left -= int64(len(f.Data))
		sum := sha256.Sum256(f.Data)
		out.Resources = append(out.Resources, skillResource{uriOf(e, p), "sha256:" + hex.EncodeToString(sum[:]), int64(len(f.Data))})
	}
	return out, nil
}
