package scan

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLab(t *testing.T) {
	root := os.Getenv("SCANLAB")
	if root == "" {
		t.Skip()
	}
	f, _ := os.Open(filepath.Join(root, "MANIFEST.tsv"))
	sc := bufio.NewScanner(f)
	sc.Scan()
	s := New(Options{})
	_ = context.Background()
	n, bytes := 0, 0
	var dur time.Duration
	out, _ := os.Create("/tmp/scanner-lab/out.txt")
	for sc.Scan() {
		row := strings.Split(sc.Text(), "\t")
		p := filepath.Join(root, row[0])
		data, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		n++
		bytes += len(data)
		start := time.Now()
		var fs []Finding
		if row[1] == "skill" || strings.HasPrefix(row[1], "command") || strings.HasPrefix(row[1], "agent") {
			fs = sorted(s.skillFile(fromText(p, string(data)), data))
		} else {
			fs = s.Text(p, string(data))
		}
		dur += time.Since(start)
		for _, x := range fs {
			fmt.Fprintf(out, "%s\t%s\t%s\t%s:%d:%d\t%s\t%s\n", x.Severity, x.Rule.Name, row[1], strings.TrimPrefix(p, root), x.Line, x.Column, x.Message, x.Excerpt)
		}
	}
	fmt.Println(n, bytes, dur, float64(bytes)/1e6/dur.Seconds(), "MB/s")
}
