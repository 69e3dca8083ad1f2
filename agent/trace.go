package agent

import "context"

// A Tracer frames what takes time, so that it can be traced as it nests: a turn,
// a tool call in it, the invocation that the call is, the turn of the subagent
// that runs it. Begin is told a [TurnStarted], [ToolStarted] or
// [InvocationStarted]. It returns the context of what happens inside, and what
// to call once with the event that ends it: a [TurnEnded], [ToolEnded] or
// [Invoked]. It is safe for concurrent use.
type Tracer interface {
	Begin(ctx context.Context, began Event) (inside context.Context, end func(ended Event))
}

// frame tells that something begins, and returns how to tell that it ended.
func (c *Conversation) frame(ctx context.Context, began Event) (context.Context, func(Event)) {
	c.observe(began)
	if c.opts.Trace == nil {
		return ctx, c.observe
	}
	ctx, end := c.opts.Trace.Begin(ctx, began)
	return ctx, func(ended Event) {
		end(ended)
		c.observe(ended)
	}
}
