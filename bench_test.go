package knack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/knack-skills/knack"
	fixture "github.com/knack-skills/knack/internal/lab"
	"github.com/knack-skills/knack/invoke"
)

// many returns an engine over 10,000 generated skills, in a world of its own.
func many(b *testing.B) *knack.Engine {
	b.Helper()
	return open(b, world(b, 10_000))
}

// world generates a workspace.
func world(b *testing.B, skills int) (dir string) {
	b.Helper()
	dir = b.TempDir()
	if err := (fixture.Tree{Skills: skills, Seed: 1}).Write(dir); err != nil {
		b.Fatal(err)
	}
	return dir
}

func open(b *testing.B, dir string) *knack.Engine {
	b.Helper()
	e, err := knack.New(b.Context(), knack.Options{
		Dir: dir, Home: filepath.Join(dir, "home"), StateDir: filepath.Join(dir, "state"), Trust: true,
		Getenv: func(name string) string {
			if name == "KNACK_MANAGED_DIR" {
				return filepath.Join(dir, "managed")
			}
			return ""
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// BenchmarkStart: everything up to the first snapshot, over skills that an
// earlier process knew.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := world(b, n)
			open(b, dir)
			for b.Loop() {
				if got := open(b, dir).Snapshot().Len(); got < n {
					b.Fatal(got)
				}
			}
		})
	}
}

// BenchmarkReload: from one changed file to the next snapshot.
func BenchmarkReload(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := world(b, n)
			e := open(b, dir)
			file := filepath.Join(dir, ".claude/skills/skill-000007/SKILL.md")
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				text := fmt.Sprintf("---\ndescription: Version %d.\n---\nBody.\n", i)
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := e.Refresh(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRender: one skill among 10,000, without a shell.
func BenchmarkRender(b *testing.B) {
	e := many(b)
	for b.Loop() {
		if _, err := e.Render(b.Context(), invoke.Request{Name: "skill-007777", Args: "a b", By: invoke.ByUser}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkListing: what a model is told of 10,000 skills.
func BenchmarkListing(b *testing.B) {
	e := many(b)
	for b.Loop() {
		if e.Listing().Text == "" {
			b.Fatal("nothing listed")
		}
	}
}

// BenchmarkSearch: one query over 10,000 skills; the index is built before.
func BenchmarkSearch(b *testing.B) {
	e := many(b)
	if _, err := e.Search(b.Context(), "deploy", 20); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := e.Search(b.Context(), "deploy the payment worker to the server", 20); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIndex: the first query over 10,000 skills, which reads every body.
func BenchmarkIndex(b *testing.B) {
	e := many(b)
	for b.Loop() {
		if _, err := e.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
		if _, err := e.Search(b.Context(), "deploy", 20); err != nil {
			b.Fatal(err)
		}
	}
}
