package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Value asks for one line of text. A secret is not shown while it is typed, and
// is not asked for where it would be. known is false for an empty line and when
// the person did not answer.
func (t *Terminal) Value(ctx context.Context, text, question string, secret bool) (value string, known bool, err error) {
	release, err := t.hold(ctx)
	if err != nil {
		return "", false, err
	}
	defer release()
	if secret {
		restore, ok := t.hide()
		if !ok {
			return "", false, nil
		}
		defer restore()
	}
	if _, err := io.WriteString(t.out, text); err != nil {
		return "", false, fmt.Errorf("asking on the terminal: %w", err)
	}
	value, err = t.prompt(ctx, t.style.Bold(question+": "))
	switch {
	case errors.Is(err, errEnd):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	if secret {
		fmt.Fprintln(t.out) // the one that was typed is hidden, too
	}
	return value, value != "", nil
}
