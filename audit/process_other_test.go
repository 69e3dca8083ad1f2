//go:build !unix

package audit_test

// limit has no counterpart here.
func limit() {}
