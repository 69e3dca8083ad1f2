package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/knack-skills/knack/audit"
)

func ExampleLog() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	log := &audit.Log{Path: filepath.Join(dir, audit.FileName)}
	defer log.Close()
	for _, outcome := range []string{"allow", "deny", "deny"} {
		if err := log.Write(audit.Record{Kind: audit.Decision, Tool: "Bash", Outcome: outcome}); err != nil {
			fmt.Println(err)
		}
	}
	for e, err := range audit.Read(context.Background(), log.Path, audit.Filter{Outcome: []string{"deny"}}) {
		fmt.Println(e.Line, e.Record.Outcome, err)
	}
	// Output:
	// 2 deny <nil>
	// 3 deny <nil>
}
