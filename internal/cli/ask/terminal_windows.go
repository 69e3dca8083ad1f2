package ask

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// openTerminal opens the console of the process.
func openTerminal() (in, out *os.File, err error) {
	if in, err = os.OpenFile("CONIN$", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	if out, err = os.OpenFile("CONOUT$", os.O_RDWR, 0); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, out, nil
}

func isTerminal(f *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
}

// flush drops what was typed before there was a question.
func flush(f *os.File) { _ = windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
