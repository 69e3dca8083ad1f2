package sandbox_test

import (
	"context"
	"fmt"
	"os"

	"github.com/knack-skills/knack/sandbox"
	"github.com/knack-skills/knack/shell"
)

// A program that uses the package calls Main before anything else, and names
// itself. Here nothing is bound, so that the example runs everywhere.
func Example() {
	if code, mine := sandbox.Main(os.Args); mine {
		os.Exit(code)
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Println(err)
		return
	}
	box := sandbox.New(sandbox.Options{
		Self:   self,
		Policy: func() sandbox.Policy { return sandbox.Policy{Mode: sandbox.Off, Dirs: []string{"/srv/project"}} },
	})
	defer box.Close()
	out, err := box.Run(context.Background(), shell.Command{Line: "echo hello"})
	fmt.Printf("%s%v\n", out.Stdout, err)
	// Output:
	// hello
	// <nil>
}
