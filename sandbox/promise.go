package sandbox

import "strings"

// A Promise is one thing that a sandbox holds.
type Promise string

// The promises. Each is tried by [Sandbox.Probe].
const (
	Writes     Promise = "files outside are not written"
	Links      Promise = "links, hard links and open files lead nowhere else"
	Attributes Promise = "modes, owners and times outside stay"
	Protected  Promise = "protected paths inside stay"
	Network    Promise = "the network is not reached"
	Sockets    Promise = "no local service is reached"
	Processes  Promise = "other processes are not touched"
	Privileges Promise = "no privileges are gained"
	Children   Promise = "children are bound as well"
	Leftovers  Promise = "nothing outlives the command"
	Working    Promise = "the working and temporary directory are written"
)

// A term says when a promise counts. Policy is this table.
type term struct {
	promise Promise
	// required: mode Required refuses to run without it.
	required bool
	// network: it holds only while the network is off.
	network bool
	// protect: it holds only for commands that are kept from protected paths.
	protect bool
}

// terms lists every promise. What outlives its command stays in its sandbox, so
// that one is told and does not refuse.
var terms = []term{
	{promise: Working, required: true},
	{promise: Writes, required: true},
	{promise: Links, required: true},
	{promise: Attributes, required: true},
	{promise: Protected, required: true, protect: true},
	{promise: Network, required: true, network: true},
	{promise: Sockets, required: true},
	{promise: Processes, required: true},
	{promise: Privileges, required: true},
	{promise: Children, required: true},
	{promise: Leftovers},
}

// A Check is what came of trying one promise.
type Check struct {
	Promise  Promise `json:"promise"`
	Enforced bool    `json:"enforced"`
	// Detail is what enforces it, or why nothing does.
	Detail string `json:"detail"`
}

// A Report is what the sandbox of a machine is worth.
type Report struct {
	// Mechanism names what enforces the promises; empty is nothing.
	Mechanism string  `json:"mechanism"`
	Checks    []Check `json:"checks"` // every promise, in the order of the table
	// Tried says of each mechanism that was not chosen why not.
	Tried []string `json:"tried"`
}

// Missing returns the promises that are not enforced.
func (r Report) Missing() []Check {
	var out []Check
	for _, c := range r.Checks {
		if !c.Enforced {
			out = append(out, c)
		}
	}
	return out
}

// Unavailable returns why mode Required does not run commands with this report,
// with the network off and protected paths kept; nil when it does.
func (r Report) Unavailable() error {
	if missing := r.missing(false, true); len(missing) > 0 {
		return r.unavailable(missing)
	}
	return nil
}

func (r Report) unavailable(missing []Check) error {
	if r.Mechanism == "" {
		return &UnavailableError{Reason: strings.Join(r.Tried, "; ")}
	}
	return &UnavailableError{Missing: missing}
}

// missing returns what stands in the way of mode Required.
func (r Report) missing(network, protect bool) []Check {
	var out []Check
	for i, c := range r.Checks {
		t := terms[i]
		if !c.Enforced && t.required && !(t.network && network) && !(t.protect && !protect) {
			out = append(out, c)
		}
	}
	return out
}

// worth counts the promises that hold, those that are required first.
func (r Report) worth() int {
	n := 0
	for i, c := range r.Checks {
		if c.Enforced && terms[i].required {
			n += len(terms)
		}
		if c.Enforced {
			n++
		}
	}
	return n
}
