//go:build !unix

package approval

const nonBlocking = 0
