// Command report prints docs/corpus.md for the corpus in a directory.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/knack-skills/knack/internal/lab/corpus"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: report CORPUS")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string) error {
	tmp, err := os.MkdirTemp("", "corpus")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := corpus.Unpack(ctx, root, tmp); err != nil {
		return err
	}
	files, err := corpus.Files(tmp, filepath.Join(root, "examples"))
	if err != nil {
		return err
	}
	r, err := corpus.Load(ctx, files)
	if err != nil {
		return err
	}
	_, err = fmt.Print(r.Page())
	return err
}
