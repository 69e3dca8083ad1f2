//go:build !linux

package sandbox

import "errors"

// run is never reached: only Linux starts helpers.
func (p plan) run([]string) (int, error) { return 0, errors.New("this system has no such sandbox") }
