package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// trialTime bounds the trial of one mechanism.
const trialTime = 20 * time.Second

// Probe tries every promise with real processes, mechanism after mechanism,
// until one holds all of them, and returns what the best one holds. The first
// call does the work, some tens of milliseconds; later ones repeat its answer.
func (s *Sandbox) Probe(ctx context.Context) (Report, error) {
	_, r, err := s.choose(ctx)
	return r, err
}

// choose returns the mechanism that holds most, nil where none does anything.
func (s *Sandbox) choose(ctx context.Context) (*mechanism, Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.report != nil {
		return s.chosen, *s.report, nil
	}
	best := s.none()
	var chosen *mechanism
	for i := range s.mechanisms {
		m := &s.mechanisms[i]
		r, why := s.tryOne(ctx, m)
		if err := ctx.Err(); err != nil {
			return nil, Report{}, err
		}
		tried := best.Tried
		switch {
		case why != "":
			tried = append(tried, m.name+": "+why)
		case r.worth() > best.worth():
			if chosen != nil {
				tried = append(tried, chosen.name+": holds less")
			}
			best, chosen = r, m
		default:
			tried = append(tried, m.name+": holds no more")
		}
		best.Tried = tried
		if len(best.Missing()) == 0 {
			break
		}
	}
	s.report, s.chosen = &best, chosen
	return chosen, best, nil
}

// none is the report of no sandbox at all.
func (s *Sandbox) none() Report {
	r := Report{Tried: []string{}}
	if len(s.mechanisms) == 0 {
		r.Tried = append(r.Tried, "this system has none that knack can use")
	}
	for _, t := range terms {
		r.Checks = append(r.Checks, Check{Promise: t.promise, Detail: "there is no sandbox"})
	}
	return r
}

// tryOne runs the trial in a mechanism. Why says why it is of no use.
func (s *Sandbox) tryOne(ctx context.Context, m *mechanism) (r Report, why string) {
	switch {
	case os.Getenv(guardVar) != "":
		return r, "this program was started as a sandbox and did not call sandbox.Main"
	case s.o.Self == "":
		return r, "this program cannot start itself (sandbox.Main, Options.Self)"
	}
	if m.absent != nil {
		if why := m.absent(); why != "" {
			return r, why
		}
	}
	f, err := newFixture(s.o.Temp)
	if err != nil {
		return r, "it could not be tried: " + err.Error()
	}
	defer f.close()
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	got, why := s.attempt(ctx, m, f)
	if why != "" {
		return r, why
	}
	for p, breach := range f.seen() {
		got[p] = breach
	}
	r.Mechanism = m.name
	for _, t := range terms {
		c := Check{Promise: t.promise, Enforced: got[t.promise] == "", Detail: m.name}
		if !c.Enforced {
			c.Detail = got[t.promise]
		}
		r.Checks = append(r.Checks, c)
	}
	return r, ""
}

// attempt starts the helper in the sandbox and has it try.
func (s *Sandbox) attempt(ctx context.Context, m *mechanism, f *fixture) (map[Promise]string, string) {
	text, err := json.Marshal(f.trial)
	if err != nil {
		return nil, err.Error()
	}
	su := setup{self: s.o.Self, roots: []string{f.Inside, f.Temp}, temp: f.Temp, protected: protectedPaths([]string{f.Inside})}
	cmd := exec.CommandContext(ctx, s.o.Self, argTry, string(text))
	cmd.Dir = f.Inside
	cmd.Env = append(os.Environ(), guardVar+"=1")
	cmd.WaitDelay = time.Second
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	ownSession(cmd)
	if err := m.wrap(cmd, su); err != nil {
		return nil, err.Error()
	}
	if err := cmd.Run(); err != nil {
		return nil, strings.TrimSpace(fmt.Sprintf("%v %.300s", err, errs.String()))
	}
	got := map[Promise]string{}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		return nil, "the program does not call sandbox.Main: it answered with something else"
	}
	for _, t := range terms {
		if _, ok := got[t.promise]; !ok && t.promise != Leftovers {
			got[t.promise] = "was not tried"
		}
	}
	return got, ""
}
