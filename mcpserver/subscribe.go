package mcpserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/catalog"
)

// What one client may ask to hear of.
const (
	maxSubscriptions = 256  // resources
	maxURI           = 2048 // bytes of one's URI
)

// The messages of the protocol that have to do with subscriptions.
const (
	subscribeMethod   = "resources/subscribe"
	unsubscribeMethod = "resources/unsubscribe"
	updatedMethod     = "notifications/resources/updated"
	listeningMethod   = "notifications/subscriptions/acknowledged"
)

// subscribe lets a client hear of changes of what it may read. It answers
// resources/subscribe and, from the version 2026-07-28 of the protocol on,
// what is asked for with subscriptions/listen.
func (s *Server) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	if len(uri) > maxURI {
		return invalid(fmt.Errorf("the URI has %d bytes; one that is watched has at most %d", len(uri), maxURI))
	}
	full := invalid(fmt.Errorf("a client may watch %d resources, and this one does: unsubscribe from some first", maxSubscriptions))
	// Asked before the file is read, so that asking for too much costs nothing.
	asked, all := s.interests.has(req.Session, uri)
	if !asked && all >= maxSubscriptions {
		return full
	}
	own, generation := s.sessionOf(req.Session), s.engine.Snapshot().Generation
	f, err := s.fileAt(ctx, own, uri)
	if err != nil {
		return err
	}
	i := interest{path: s.pathAt(uri), last: sha256.Sum256(f.Data), generation: generation}
	if !s.interests.add(req.Session, own, uri, i) {
		return full
	}
	if i.path != "" {
		s.engine.WatchMore()
	}
	return nil
}

// pathAt is where a file is that belongs to a skill besides its SKILL.md, which
// is watched anyway. It is empty for what has no place on the disk.
func (s *Server) pathAt(uri string) string {
	e, p, ok := split(s.engine.Snapshot(), uri)
	if !ok || e.Origin.Dir == "" {
		return ""
	}
	name, err := clean(p)
	if err != nil || name == mainFile {
		return ""
	}
	return filepath.Join(e.Origin.Dir, filepath.FromSlash(name))
}

// Files are the files, absolute, that clients wait for and that are not among
// those of which skills are made. They are for [knack.WatchOptions].
func (s *Server) Files() []string { return s.interests.files() }

// FileChanged tells clients that wait for a file of [Server.Files] if it differs.
func (s *Server) FileChanged(context.Context, string) { s.lookAgain() }

// unsubscribe ends what subscribe began. Ending what has not begun is fine.
func (s *Server) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	s.interests.remove(req.Session, req.Params.URI)
	return nil
}

// subscribed notes that the library knows a subscription. A change that came
// between reading the file and now is not missed.
func (s *Server) subscribed(client *mcp.ServerSession, uri string) {
	if s.interests.activate(client, uri, s.engine.Snapshot().Generation) {
		s.lookAgain()
	}
}

// asking sees what clients ask for. It keeps the library's own road, by which
// the subscriptions of a client that is gone are ended: the library forgets the
// client itself, and keeps the URIs.
func (s *Server) asking(next mcp.MethodHandler) mcp.MethodHandler {
	s.end = func(client *mcp.ServerSession) {
		for _, uri := range s.interests.forget(client) {
			// Nobody is left who could be told that it failed.
			_, _ = next(context.Background(), unsubscribeMethod, &mcp.UnsubscribeRequest{Session: client, Params: &mcp.UnsubscribeParams{URI: uri}})
		}
	}
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if r, ok := req.(*mcp.SubscribeRequest); ok && method == subscribeMethod && err == nil {
			s.subscribed(r.Session, r.Params.URI)
		}
		return res, err
	}
}

// telling sees what clients are told: of a change only those for whom there is
// one. What one may read, another may not.
func (s *Server) telling(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		client, _ := req.GetSession().(*mcp.ServerSession)
		if p, ok := req.GetParams().(*mcp.ResourceUpdatedNotificationParams); ok && method == updatedMethod && !s.interests.isDue(client, p.URI) {
			return nil, nil
		}
		res, err := next(ctx, method, req)
		if p, ok := req.GetParams().(*mcp.SubscriptionsAcknowledgedParams); ok && method == listeningMethod && err == nil {
			for _, uri := range p.Notifications.ResourceSubscriptions {
				s.subscribed(client, uri)
			}
		}
		return res, err
	}
}

// lookAgain finds out, beside everything else, which of the resources that
// clients wait for differ, and tells them.
func (s *Server) lookAgain() {
	if !s.interests.begin() {
		return
	}
	go func() {
		for {
			s.look(context.Background()) // it belongs to all clients, and ends by itself
			if s.interests.end() {
				return
			}
		}
	}()
}

// look does so once. Rules are asked again, hooks are not: a notice says that
// something differs, and reading it is a call of its own.
func (s *Server) look(ctx context.Context) {
	snap := s.engine.Snapshot()
	read := sums{}
	for uri, clients := range s.interests.asked() {
		e, p, ok := split(snap, uri)
		var now sum
		if ok {
			now = read.of(ctx, s, e, p)
		}
		for _, who := range clients {
			mine := now
			if ok {
				if _, err := s.readable(ctx, who.own, calledBy(e)); err != nil {
					mine = sum{} // a change too: there is nothing to read for this one
				}
			}
			s.interests.update(who.client, uri, mine)
		}
	}
	for _, uri := range s.interests.changed() {
		if err := s.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
			s.log.Warn("clients are not told that a resource has changed", "uri", uri, "reason", err)
		}
		s.interests.told(uri)
	}
}

// sums are of the files that were read during one look: many clients, and many
// spellings of a URI, may mean the same.
type sums map[fileOf]sum

type fileOf struct{ skill, path string }

// of is zero for a file that nobody may read, or that cannot be read.
func (read sums) of(ctx context.Context, s *Server, e *catalog.Entry, p string) sum {
	name, err := clean(p)
	if err != nil {
		return sum{}
	}
	key := fileOf{calledBy(e), name}
	now, done := read[key]
	if !done {
		if f, err := s.readFile(ctx, e, name); err == nil {
			now = sha256.Sum256(f.Data)
		}
		read[key] = now
	}
	return now
}
