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

// hide switches the echo of a console off.
func hide(f *os.File) (restore func(), ok bool) {
	console := windows.Handle(f.Fd())
	var before uint32
	if windows.GetConsoleMode(console, &before) != nil || windows.SetConsoleMode(console, before&^windows.ENABLE_ECHO_INPUT) != nil {
		return nil, false
	}
	return func() { _ = windows.SetConsoleMode(console, before) }, true
}
