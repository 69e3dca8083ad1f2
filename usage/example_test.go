package usage_test

import (
	"fmt"
	"os"
	"time"

	"github.com/knack-skills/knack/usage"
)

func ExampleStore() {
	dir, err := os.MkdirTemp("", "usage")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s := usage.Store{Dir: dir}
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{now.AddDate(0, 0, -7), now} {
		if err := s.Record(".", "deploy", at); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(s.Scores(".", now))
	// Output: map[deploy:1.5] <nil>
}
