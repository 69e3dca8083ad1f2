//go:build !unix

package mcpserver

const nonBlocking = 0
