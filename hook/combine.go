package hook

import (
	"bytes"
	"slices"
	"strings"
)

// Combine joins what hooks said that ran side by side (spec H-7): deny beats
// ask beats allow beats no opinion, and any of them can block or stop. Of two
// that change the input, the first counts. A change of the input voids the
// allow of those that did not ask for it: they allowed something else.
func Combine(list []Outcome) Outcome {
	var out Outcome
	updater := slices.IndexFunc(list, func(o Outcome) bool { return len(o.UpdatedInput) > 0 })
	for i, o := range list {
		if updater >= 0 && i != updater {
			if len(o.UpdatedInput) > 0 && !bytes.Equal(o.UpdatedInput, list[updater].UpdatedInput) {
				out.Notices = append(out.Notices, "several hooks changed the input of one call; the change of the first one counts")
			}
			o = withoutAllow(o)
			o.UpdatedInput = nil
		}
		out = join(out, o)
	}
	return out.settled()
}

// Then joins what one group of hooks said with what the next one said, which
// saw the input as the first had changed it.
func Then(first, next Outcome) Outcome {
	if len(next.UpdatedInput) > 0 {
		first = withoutAllow(first)
	}
	return join(first, next).settled()
}

// Refuses reports that nothing after it matters: later groups do not run.
func (o Outcome) Refuses() bool { return o.Block || o.Stop || o.Opinion == Deny }

func withoutAllow(o Outcome) Outcome {
	if o.Opinion == Allow {
		o.Opinion, o.Reason = NoOpinion, ""
	}
	return o
}

// join adds b to a without judging the input.
func join(a, b Outcome) Outcome {
	switch {
	case b.Opinion > a.Opinion:
		a.Opinion, a.Reason = b.Opinion, b.Reason
	case b.Opinion == a.Opinion && b.Reason != "" && !strings.Contains(a.Reason, b.Reason):
		a.Reason = strings.TrimPrefix(a.Reason+"\n"+b.Reason, "\n")
	}
	a.Block = a.Block || b.Block
	if b.Stop {
		if a.StopReason == "" {
			a.StopReason = b.StopReason
		}
		a.Stop = true
	}
	if len(b.UpdatedInput) > 0 {
		a.UpdatedInput = b.UpdatedInput
	}
	a.Context = slices.Concat(a.Context, b.Context)
	a.Notices = slices.Concat(a.Notices, b.Notices)
	return a
}

// settled drops what a refusal makes void.
func (o Outcome) settled() Outcome {
	if o.Opinion == Deny {
		o.UpdatedInput = nil
	}
	return o
}
