package bash

import (
	"regexp"
	"strings"
	"testing"
)

func TestLog(t *testing.T) {
	var l log
	put := func(s string) {
		if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("Write: %d, %v", n, err)
		}
	}
	want := func(whole bool, text string) {
		t.Helper()
		if got := l.take(whole); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
	want(false, "")
	put("a\xe4\xbd")
	want(false, "a") // the character is not complete
	put("\xa0b\nc")
	want(true, "你b\n") // nor is the line
	want(false, "c")
	put("\xff\xffx\x80")
	want(false, "\ufffdx\ufffd") // never a character
	put("last \xe4")
	l.end([]byte("err"))
	want(true, "last \ufffderr")
	want(false, "")
}

func TestLogDrops(t *testing.T) {
	var l log
	for range maxLog/1000 + 10 {
		if _, err := l.Write([]byte(strings.Repeat("x", 999) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	got := l.take(false)
	if !strings.HasPrefix(got, "[9424 bytes of older output were dropped]\nx") || len(got) > maxLog+100 {
		t.Errorf("%d bytes: %.60q", len(got), got)
	}
	if got := l.take(false); got != "" {
		t.Errorf("%.60q", got)
	}
}

func TestFilter(t *testing.T) {
	j := job{id: "bash_1", done: make(chan struct{})}
	if _, err := j.log.Write([]byte("ok 1\nerror 2\r\nok 3\nerr")); err != nil {
		t.Fatal(err)
	}
	if got := j.report(regexp.MustCompile(`err.*\d$`)); got != "[bash_1: running]\nerror 2" {
		t.Errorf("%q", got)
	}
	if got := j.report(nil); got != "[bash_1: running]\nerr" {
		t.Errorf("%q", got)
	}
}
