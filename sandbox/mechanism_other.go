//go:build !linux && !darwin

package sandbox

// mechanisms: there is none on this system.
func mechanisms() []mechanism { return nil }
