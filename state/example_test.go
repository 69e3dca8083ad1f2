package state_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/knack-skills/knack/state"
)

func ExampleFile() {
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	type seen struct {
		Times int `json:"times"`
	}
	f := state.File[seen]{Path: filepath.Join(dir, "seen.json")}
	for range 3 {
		if err := f.Update(func(s *seen) error { s.Times++; return nil }); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(f.Read())
	// Output: {3} <nil>
}
