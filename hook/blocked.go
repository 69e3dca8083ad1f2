package hook

import (
	"cmp"
	"fmt"
)

// A BlockedError reports what a hook did not let through (spec H-6).
type BlockedError struct {
	Event  Event
	Reason string
}

// Error says what was blocked and why.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("a %s hook blocked this: %s", e.Event, cmp.Or(e.Reason, "it gave no reason"))
}

// A StoppedError reports that a hook ended the turn (continue: false).
type StoppedError struct {
	Event  Event
	Reason string
}

// Error says which hook it was and why.
func (e *StoppedError) Error() string {
	return fmt.Sprintf("a %s hook ended the turn: %s", e.Event, cmp.Or(e.Reason, "it gave no reason"))
}

// Err is what o means for an event that can only go on or not: nil, a
// [*StoppedError] or a [*BlockedError].
func (o Outcome) Err(e Event) error {
	switch {
	case o.Stop:
		return &StoppedError{e, o.StopReason}
	case o.Refuses():
		return &BlockedError{e, o.Reason}
	}
	return nil
}
