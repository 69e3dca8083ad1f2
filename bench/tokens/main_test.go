package main

import (
	"strings"
	"testing"
)

// simulated runs the scenario in a directory of its own.
func simulated(t *testing.T, skills, requests int) []report {
	t.Helper()
	out, err := simulateAll(t.Context(), t.TempDir(), skills, requests)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStrategies(t *testing.T) {
	reports := simulated(t, 200, 5)
	if len(reports) != 4 {
		t.Fatalf("%d strategies", len(reports))
	}
	// Neither the run nor the directory changes the counts.
	if first, second := tables(200, 5, reports), tables(200, 5, simulated(t, 200, 5)); first != second {
		t.Errorf("two runs differ:\n%s\n%s", first, second)
	}
	everything, again, lossy, ours := reports[0], reports[1], reports[2], reports[3]

	for _, r := range reports {
		if len(r.reachable) != len(compactions()) || r.invocations != len(invocations()) {
			t.Errorf("%s: %d compactions, %d invocations", r.name, len(r.reachable), r.invocations)
		}
		if r.writes < r.put[discovery]+r.put[restored]+r.put[body] {
			t.Errorf("%s: what joined the context was not written to the cache: %+v", r.name, r)
		}
	}
	for _, r := range []report{everything, again, ours} {
		for i, reach := range r.reachable {
			if reach.all != reach.of {
				t.Errorf("%s: %d of %d skills in reach after compaction %d", r.name, reach.all, reach.of, i+1)
			}
		}
		if r.byModel != r.invocations {
			t.Errorf("%s: %d of %d invocations in reach", r.name, r.byModel, r.invocations)
		}
	}
	for i, reach := range lossy.reachable {
		if 10*reach.all > reach.of {
			t.Errorf("nothing is said, yet %d of %d skills are in reach after compaction %d", reach.all, reach.of, i+1)
		}
	}
	for _, dearer := range []report{everything, again} {
		if ours.spent() >= dearer.spent() || ours.writes >= dearer.writes || ours.price() >= dearer.price() {
			t.Errorf("ours is no cheaper than %q:\n%+v\n%+v", dearer.name, ours, dearer)
		}
	}
	// What is compared is discovery: the rest is the same wherever there is a tool.
	for _, r := range []report{lossy, ours} {
		if r.put[restored] != again.put[restored] || r.put[body] != again.put[body] || r.put[talk] != again.put[talk] {
			t.Errorf("%q did other work than %q:\n%+v\n%+v", r.name, again.name, r, again)
		}
	}
	if ours.put[restored] == 0 || ours.put[body] == 0 {
		t.Errorf("nothing was invoked or restored: %+v", ours)
	}
}

func TestCache(t *testing.T) {
	s := &simulation{fixed: []block{{talk, "system", 100}}}
	s.say(1, "asks", 10)
	s.request() // 110 new
	s.say(1, "answers", 20)
	s.request() // 110 read, 20 new
	s.fixed = []block{{talk, "another system", 100}}
	s.request() // 130 new, because the beginning differs
	if s.reads != 110 || s.writes != 110+20+130 || s.largest != 130 {
		t.Errorf("read %d, written %d, largest %d", s.reads, s.writes, s.largest)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		skills, requests int
		want             string
	}{{199, 5, "200 skills"}, {200, 0, "requests"}} {
		_, err := simulateAll(t.Context(), t.TempDir(), c.skills, c.requests)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d skills, %d requests: %v", c.skills, c.requests, err)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %q, want %q", n, got, want)
		}
	}
}
