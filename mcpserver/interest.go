package mcpserver

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/session"
)

// A sum stands for what a client reads at a URI; the zero sum for nothing.
type sum [sha256.Size]byte

// An interest is one resource that one client wants to hear of.
type interest struct {
	path       string // of the file, if nobody else watches it; absolute
	last       sum    // of what the client can have read since it asked, or was told last
	generation uint64 // of the snapshot in which last was read
	live       bool   // the library knows it too, so that a notice arrives
}

// A subscriber is one client with its interests, by URI.
type subscriber struct {
	client *mcp.ServerSession
	own    *session.Session
	wants  map[string]*interest
}

// interests are those of all clients. They are safe for concurrent use.
type interests struct {
	mu    sync.Mutex // guards what follows
	by    map[*mcp.ServerSession]*subscriber
	due   map[string]map[*mcp.ServerSession]bool // whom a notice that is being sent is for
	again bool                                   // something changed since the look began
	ended chan struct{}                          // of the look that is going on; nil without
}

// has reports whether a client has asked for uri, and how much it has asked for.
func (n *interests) has(client *mcp.ServerSession, uri string) (asked bool, all int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	who := n.by[client]
	if who == nil {
		return false, 0
	}
	return who.wants[uri] != nil, len(who.wants)
}

// add notes what a client wants to hear of, and reports whether there was room.
// What it has asked for before stays as it is: a notice that is on its way is
// not lost.
func (n *interests) add(client *mcp.ServerSession, own *session.Session, uri string, i interest) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	who := n.by[client]
	if who == nil {
		who = &subscriber{client: client, own: own, wants: map[string]*interest{}}
		if n.by == nil {
			n.by = map[*mcp.ServerSession]*subscriber{}
		}
		n.by[client] = who
	}
	if who.wants[uri] != nil {
		return true
	}
	if len(who.wants) >= maxSubscriptions {
		return false
	}
	who.wants[uri] = &i
	return true
}

// activate says that notices about uri arrive from now on. late reports that
// the skills may have changed since what the client can read was looked at.
func (n *interests) activate(client *mcp.ServerSession, uri string, generation uint64) (late bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	who := n.by[client]
	if who == nil || who.wants[uri] == nil {
		return false
	}
	i := who.wants[uri]
	late = !i.live && i.generation != generation
	i.live = true
	return late
}

func (n *interests) remove(client *mcp.ServerSession, uri string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	who := n.by[client]
	if who == nil {
		return
	}
	delete(who.wants, uri)
	if len(who.wants) == 0 {
		delete(n.by, client)
	}
}

// forget removes a client and returns what it had asked for.
func (n *interests) forget(client *mcp.ServerSession) (uris []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if who := n.by[client]; who != nil {
		uris = slices.Collect(maps.Keys(who.wants))
	}
	delete(n.by, client)
	return uris
}

// asked returns who wants to hear of which URI.
func (n *interests) asked() map[string][]*subscriber {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[string][]*subscriber{}
	for _, who := range n.by {
		for uri, i := range who.wants {
			if i.live {
				all[uri] = append(all[uri], who)
			}
		}
	}
	return all
}

// update notes what a client can read now, and makes a notice due if that is
// something else than before.
func (n *interests) update(client *mcp.ServerSession, uri string, now sum) {
	n.mu.Lock()
	defer n.mu.Unlock()
	who := n.by[client]
	if who == nil || who.wants[uri] == nil || who.wants[uri].last == now {
		return
	}
	who.wants[uri].last = now
	if n.due == nil {
		n.due = map[string]map[*mcp.ServerSession]bool{}
	}
	if n.due[uri] == nil {
		n.due[uri] = map[*mcp.ServerSession]bool{}
	}
	n.due[uri][client] = true
}

// files are those that have to be watched for the sake of clients, in order.
func (n *interests) files() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[string]bool{}
	for _, who := range n.by {
		for _, i := range who.wants {
			if i.path != "" {
				all[i.path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// changed returns the URIs about which notices are due, in order.
func (n *interests) changed() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.due))
}

// isDue reports whether a notice about uri is for this client.
func (n *interests) isDue(client *mcp.ServerSession, uri string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.due[uri][client]
}

func (n *interests) told(uri string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.due, uri)
}

// begin reports whether a look has to begin: somebody wants to hear of
// something, and no look is going on. One that is will look once more.
func (n *interests) begin() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.by) == 0 {
		return false
	}
	if n.ended != nil {
		n.again = true
		return false
	}
	n.ended = make(chan struct{})
	return true
}

// end reports whether the look is over; otherwise it has to look once more.
func (n *interests) end() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.again {
		n.again = false
		return false
	}
	close(n.ended)
	n.ended = nil
	return true
}

// wait returns when no look is going on.
func (n *interests) wait() {
	n.mu.Lock()
	ended := n.ended
	n.mu.Unlock()
	if ended != nil {
		<-ended
	}
}
