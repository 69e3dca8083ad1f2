// Command knack runs, explains and checks skills for AI agents.
package main

import (
	"os"

	"github.com/knack-skills/knack/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
