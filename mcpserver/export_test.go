package mcpserver

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Library is the server of the library, for tests that add to what it offers.
func (s *Server) Library() *mcp.Server { return s.mcp }
