//go:build !unix

package shelltest

const nonblock = 0
