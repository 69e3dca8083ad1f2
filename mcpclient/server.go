package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/knack-skills/knack/mcpconfig"
	"github.com/knack-skills/knack/source/mcp"
)

// A State is how a server is.
type State string

// The states, in the words of the first line of a stream.
const (
	Connecting State = "pending"
	Connected  State = "connected"
	Failed     State = "failed"
	Closed     State = "closed"
)

// A Server is one connection that comes and goes. It is safe for concurrent use.
type Server struct {
	Config mcpconfig.Server // read-only

	fleet   *Fleet
	settled chan struct{} // closed after the first attempt, with what it offers known
	known   bool          // there is a memory of it from earlier sessions
	silent  bool          // it says that nobody should wait
	wanted  chan struct{} // closed when somebody needs it
	wanting sync.Once
	learned remembered // what is kept of it; used by one goroutine

	mu    sync.Mutex // guards the fields below
	state State
	why   error // of Failed, and of an earlier attempt while Connecting
	conn  *Connection
	offer offer
	moved chan struct{} // closed and made anew when state changes
}

// An offer is what a server has listed last.
type offer struct {
	prompts   []mcp.Prompt
	tools     []Tool
	resources []Resource
	skills    []mcp.Offer
}

// Status returns the state of a server, and why it is not connected.
func (s *Server) Status() (State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == "" {
		return Connecting, nil
	}
	return s.state, s.why
}

func (s *Server) set(state State, conn *Connection, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.conn, s.why = state, conn, why
	close(s.moved)
	s.moved = make(chan struct{})
}

// Known reports whether an earlier session has learned something about a server:
// the tools that it offers, or that it is silent.
func (s *Server) Known() (tools, silent bool) { return s.known && !s.silent, s.silent }

// run connects, and connects again, until ctx ends.
func (s *Server) run(ctx context.Context) {
	defer s.set(Closed, nil, errClosed)
	pause, attempt, ever := firstPause, 0, false
	s.yield(ctx)
	for ctx.Err() == nil {
		began := time.Now()
		was, err := s.live(ctx, attempt)
		ever = ever || was
		if ctx.Err() != nil {
			if !ever && attempt == 0 && time.Since(began) > inVain {
				s.unanswered(false)
			}
			break
		}
		if was && time.Since(began) > steady {
			pause, attempt = firstPause, 0
		}
		attempt++
		last := hopeless(err) || attempt >= maxAttempts
		s.lost(was, err, attempt, last)
		if !ever && time.Since(began) > soon {
			s.unanswered(last)
		}
		s.settle()
		if last {
			<-ctx.Done()
			break
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause *= 2
	}
	s.settle()
}

// hopeless reports whether another attempt would end as this one did.
func hopeless(err error) bool {
	_, start := errors.AsType[*startError](err)
	_, denied := errors.AsType[*DeniedError](err)
	return start || denied
}

// want says that somebody needs a server now.
func (s *Server) want() { s.wanting.Do(func() { close(s.wanted) }) }

// yield lets the session begin first. What a known server offers is there anyway,
// and twenty programs that start at once would slow down the one that somebody is
// looking at.
func (s *Server) yield(ctx context.Context) {
	if !s.known {
		return
	}
	timer := time.NewTimer(headStart)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wanted:
	case <-ctx.Done():
	}
}

// lost notes that an attempt has ended, and tells the person what changes for
// them: the first failure, and the loss of what was there.
func (s *Server) lost(was bool, err error, attempt int, last bool) {
	name, state := s.Config.Name, Failed
	switch {
	case was && !last:
		state = Connecting
		s.fleet.opts.Notice(fmt.Sprintf("MCP server %s is lost: %v; its skills stay listed while it is connected again", name, err))
	case was || last && attempt > 1:
		s.fleet.opts.Notice(fmt.Sprintf("MCP server %s is lost for this session: %v", name, err))
	case attempt == 1:
		s.fleet.opts.Notice(fmt.Sprintf("MCP server %s is not available: %v", name, err))
	}
	s.set(state, nil, err)
}

func (s *Server) settle() {
	select {
	case <-s.settled:
	default:
		close(s.settled)
	}
}

// live is one connection from its beginning to its end. was reports that there
// was one; err says why there is none any more.
func (s *Server) live(ctx context.Context, attempt int) (was bool, err error) {
	// A message of an earlier connection must not count: each has its own channel.
	changed := make(chan struct{}, 1)
	patience := nextGreeting
	if attempt == 0 {
		patience = firstGreeting
	}
	greet, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it did not answer within %s", patience))
	defer cancel()
	l, err := s.dial(greet, attempt > 0, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		if cause := context.Cause(greet); cause != nil && ctx.Err() == nil {
			err = cause
		}
		return false, err
	}
	defer l.close()
	known := s.refresh(ctx, l.conn)
	s.set(Connected, l.conn, nil)
	if known {
		s.fleet.opts.Changed(ctx, s)
	}
	s.settle()
	if attempt > 0 {
		s.fleet.opts.Notice(fmt.Sprintf("MCP server %s is connected", s.Config.Name))
	}
	s.follow(ctx, l.conn, changed)
	if ctx.Err() != nil {
		return true, errClosed
	}
	return true, l.reason()
}

// follow looks at the lists again whenever the server says that they changed,
// more and more seldom when it keeps saying so.
func (s *Server) follow(ctx context.Context, c *Connection, changed <-chan struct{}) {
	pause := calm
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.Session.Done():
			return
		case <-changed:
		}
		if s.refresh(ctx, c) {
			s.fleet.opts.Changed(ctx, s)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-c.Session.Done():
		}
		timer.Stop()
		if len(changed) > 0 {
			pause = min(2*pause, maxCalm)
		} else {
			pause = calm
		}
	}
}

// refresh lists everything and reports whether something differs. A list that
// cannot be read stays what it was.
func (s *Server) refresh(ctx context.Context, c *Connection) (differs bool) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	s.mu.Lock()
	now := s.offer
	s.mu.Unlock()
	before := now
	var errs [4]error
	var wg sync.WaitGroup
	if c.Prompts != nil {
		wg.Go(func() { errs[0] = list(ctx, &now.prompts, c.Prompts.ListPrompts) })
	}
	if c.Tools != nil {
		wg.Go(func() { errs[1] = list(ctx, &now.tools, c.Tools.ListTools) })
	}
	if c.Resources != nil {
		wg.Go(func() { errs[2] = list(ctx, &now.resources, c.Resources.ListResources) })
	}
	if c.Skills != nil {
		wg.Go(func() { errs[3] = list(ctx, &now.skills, c.Skills.ListSkills) })
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil && ctx.Err() == nil {
		s.fleet.opts.Notice(fmt.Sprintf("MCP server %s does not say all that it offers: %v", s.Config.Name, err))
	}
	s.mu.Lock()
	s.offer = now
	s.mu.Unlock()
	if errs[1] == nil {
		s.learn(remembered{Tools: slices.Concat([]Tool{}, now.tools)}) // none is something to know
	}
	return !reflect.DeepEqual(before, now)
}

// unanswered remembers that waiting for a server was in vain. Tools that it
// offered in an earlier session stay known while there is hope.
func (s *Server) unanswered(last bool) {
	if last || s.learned.Tools == nil {
		s.learn(remembered{Silent: true})
	}
}

// learn keeps what is known about a server for later sessions.
func (s *Server) learn(r remembered) {
	if reflect.DeepEqual(r, s.learned) {
		return
	}
	if err := s.fleet.opts.Memory.remember(s.Config, s.fleet.opts.Dir, r); err != nil {
		s.fleet.opts.Notice(fmt.Sprintf("the tools of MCP server %s are not kept for the next session: %v", s.Config.Name, err))
	}
	s.learned = r
}

func list[T any](ctx context.Context, to *[]T, get func(context.Context) ([]T, error)) error {
	got, err := get(ctx)
	if err == nil {
		*to = got
	}
	return err
}

// connection returns the live connection. While the server is being connected it
// waits a moment; otherwise the error says why there is none.
func (s *Server) connection(ctx context.Context) (*Connection, error) {
	s.want()
	timer := time.NewTimer(waitForLost)
	defer timer.Stop()
	for {
		s.mu.Lock()
		state, conn, why, moved := s.state, s.conn, s.why, s.moved
		s.mu.Unlock()
		if conn != nil {
			return conn, nil
		}
		if state == Failed || state == Closed {
			return nil, fmt.Errorf("MCP server %s is not connected: %w", s.Config.Name, why)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-moved:
		case <-timer.C:
			if why == nil {
				why = errors.New("it does not answer")
			}
			return nil, fmt.Errorf("MCP server %s is not connected yet: %w", s.Config.Name, why)
		}
	}
}
