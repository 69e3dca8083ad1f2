package audit_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/knack-skills/knack/audit"
)

// TestMain makes the test binary a writer as well: with AUDIT_WRITER=PATH it
// appends records until it has written as many as AUDIT_RECORDS says, or is
// killed.
func TestMain(m *testing.M) {
	path := os.Getenv("AUDIT_WRITER")
	if path == "" {
		os.Exit(m.Run())
	}
	limit()
	n, _ := strconv.Atoi(os.Getenv("AUDIT_RECORDS"))
	log := &audit.Log{Path: path}
	lost := 0
	for i := 0; n == 0 || i < n; i++ {
		// Long records span pages, inside of which a killed write may end.
		r := audit.Record{SessionID: os.Getenv("AUDIT_SESSION"), Kind: audit.Command, Tool: "Bash", Outcome: "ok"}.
			With(map[string]any{"i": i, "command": fmt.Sprintf("%0*d", i*997%20000, i)})
		if err := log.Write(r); err != nil {
			lost++
			fmt.Println(err)
		} else if n == 0 && i == 20 {
			fmt.Println("going") // whoever kills waits for it
		}
	}
	os.Exit(min(lost, 1))
}
