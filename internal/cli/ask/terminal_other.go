//go:build !unix && !windows

package ask

import (
	"errors"
	"os"
)

func openTerminal() (in, out *os.File, err error) {
	return nil, nil, errors.ErrUnsupported
}

func isTerminal(*os.File) bool { return false }
