package mcpserver

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Library is the server of the library, for tests that add to what it offers.
func (s *Server) Library() *mcp.Server { return s.mcp }

// Watched is how many subscriptions there are, of all clients.
func (s *Server) Watched() (n int) {
	s.interests.mu.Lock()
	defer s.interests.mu.Unlock()
	for _, who := range s.interests.by {
		n += len(who.wants)
	}
	return n
}

// Idle waits until nobody looks for changes of what clients watch.
func (s *Server) Idle() { s.interests.wait() }

// Clients is how many clients are remembered.
func (s *Server) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients)
}
