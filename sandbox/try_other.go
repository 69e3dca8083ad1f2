//go:build !unix

package sandbox

// There is no mechanism on these systems, so nothing is ever tried.

func (trial) network() string   { return "not tried" }
func (trial) sockets() string   { return "not tried" }
func (trial) processes() string { return "not tried" }
func (trial) children() string  { return "not tried" }
