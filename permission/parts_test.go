package permission

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// describe renders a part for tables: tool, text, and what is special.
func describe(p part) string {
	s := p.tool + " " + p.text
	for _, mark := range []struct {
		on   bool
		name string
	}{
		{p.inside, "inside"}, {p.builtin != "", "builtin"}, {p.firm != "", "firm"}, {p.loose != "", "loose"},
		{p.unread, "unread"}, {p.blind != "", "blind"}, {p.hazy, "hazy"},
	} {
		if mark.on {
			s += " [" + mark.name + "]"
		}
	}
	return s
}

// Spec S-7: what a line is taken apart into.
func TestReadLine(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"make", []string{"Bash make"}},
		{"make a  'b c'", []string{"Bash make a 'b c'"}},
		{"make >out", []string{"Bash make", "Write >out"}},
		{"make <in", []string{"Bash make", "Read <in [builtin]"}},
		{"make 2>&1", []string{"Bash make"}},
		{">$x", []string{"Write >$x [loose]"}},
		{"ls", []string{"Bash ls [builtin]"}},
		{"ls; make", []string{"Bash ls [builtin]", "Bash make"}},
		{"cat a", []string{"Bash cat a [builtin]", "Read cat a [inside]"}},
		{"cat $x", []string{"Bash cat $x [builtin] [hazy]"}},
		{"rm a", []string{"Bash rm a", "Write rm a [inside]"}},
		{"rm /", []string{"Bash rm /", "Write rm / [inside] [firm]"}},
		{"cp a b", []string{"Bash cp a b", "Read cp a b [inside]", "Write cp a b [inside]"}},
		{"x=1", []string{"Bash x=1 [builtin]"}},
		{"PATH=1", []string{"Bash PATH=1"}},
		{"PS4=1", []string{"Bash PS4=1 [blind]"}},
		{"A=1 make", []string{"Bash A=1 make"}},
		{"export a=1 b", []string{"Bash export a=1 b [builtin]"}},
		{"export PATH", []string{"Bash export PATH"}},
		{"declare -i a=1", []string{"Bash declare -i a=1 [blind]"}},
		{"$x", []string{"Bash $x [blind]"}},
		{"sudo make", []string{"Bash sudo make"}},
		{"sudo $x", []string{"Bash sudo $x [blind]"}},
		{"bash -c 'make; ls'", []string{"Bash bash -c 'make; ls'", "Bash make [inside]", "Bash ls [inside] [builtin]"}},
		{"bash -c \"$x\"", []string{"Bash bash -c \"$x\" [blind]"}},
		{"bash x.sh", []string{"Bash bash x.sh"}},
		{"bash", []string{"Bash bash [blind]"}},
		{"eval", []string{"Bash eval"}},
		{"echo $((x))", []string{"Bash echo $((x)) [builtin]", "Bash $((x)) [loose]"}},
		{"for i in a; do make; done", []string{"Bash make"}},
		{"for PATH in a; do make; done", []string{"Bash PATH in a [loose]", "Bash make"}},
		{"# nothing", []string{"Bash # nothing [builtin]"}},
		{"", []string{"Bash  [loose] [unread]"}},
		{"make '", []string{"Bash make ' [loose] [unread] [blind]"}},
		{"[[ a -eq 1 ]]", []string{"Bash a -eq 1 [loose]"}},
		{"[[ 1 -eq 1 && -f a ]]", []string{"Bash [[ 1 -eq 1 && -f a ]] [builtin]"}},
		{"alias a=b", []string{"Bash alias a=b [blind]"}},
	}
	for _, tt := range tests {
		req := bashRequest(tt.line)
		var got []string
		for _, p := range readLine(&req) {
			got = append(got, describe(p))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q:\n got %q\nwant %q", tt.line, got, tt.want)
		}
	}
}

// The forms of a command, outermost first, and what refusals see besides.
func TestForms(t *testing.T) {
	tests := []struct{ line, forms, hidden string }{
		{"make a", "make a", ""},
		{"LANG=C make a", "LANG=C make a|make a", "make a"},
		{"PATH=x make a", "PATH=x make a", "make a"},
		{"timeout 5 make a", "timeout 5 make a|make a", ""},
		{"LANG=C timeout 5 nice make", "LANG=C timeout 5 nice make|timeout 5 nice make|nice make|make", "timeout 5 nice make"},
		{"PATH=x timeout 5 make", "PATH=x timeout 5 make", "timeout 5 make|make"},
		{"sudo -u x make", "sudo -u x make", "x make|make"},
		{"timeout --odd 5 make", "timeout --odd 5 make", "5 make|make"},
		{"git -C x -c a=b push", "git -C x -c a=b push", "git push"},
		{"git push", "git push", ""},
		{"find . -exec make {} ;", "find . -exec make {}", "make {}"},
		{`find . -exec make {} \;`, `find . -exec make {} \;`, `make {} \;`},
		{"xargs make", "xargs make|make", ""},
		{"command -v make", "command -v make", ""},
	}
	join := func(forms [][]word) string {
		var out []string
		for _, f := range forms {
			out = append(out, writtenText(f))
		}
		return strings.Join(out, "|")
	}
	for _, tt := range tests {
		req := bashRequest(tt.line)
		c := readLine(&req)[0].cmd
		if join(c.forms) != tt.forms || join(c.hidden) != tt.hidden {
			t.Errorf("%q: forms %q, hidden %q", tt.line, join(c.forms), join(c.hidden))
		}
	}
}

func TestInsides(t *testing.T) {
	tests := []struct {
		line  string
		want  []string
		blind bool
	}{
		{"bash -c a", []string{"a"}, false},
		{"bash -x -o pipefail -c 'a b' name", []string{"a b", "name"}, false},
		{"bash +x -ec a", []string{"a"}, false},
		{"bash a.sh -x", nil, false},
		{"su x --command='a b'", []string{"a b"}, false},
		{"su x --command a", []string{"a"}, false},
		{"sudo bash -c a", []string{"a"}, false},
		{"eval a b", []string{"a b "}, false},
		{"eval 'a;b' c", []string{"a;b", "a;b c "}, false},
		{"watch -n 5 a", []string{"5 a "}, false},
		{"env -S 'a b'", []string{"a b"}, false},
		{"env '-Sa b'", []string{"a b"}, false},
		{"env -iS 'a b'", []string{"a b"}, false},
		{"env '--split-string=a b'", []string{"a b"}, false},
		{"env A=1 a", nil, false},
		{"bash -c $x", []string{""}, true},
		{"eval $x", []string{" "}, true},
		{"eval a$x", []string{"a "}, true},
	}
	for _, tt := range tests {
		words, ok := shellWords(tt.line, "")
		if !ok {
			t.Fatal(tt.line)
		}
		var in insides
		in.read(words)
		if !slices.Equal(in.scripts, tt.want) || (in.blind != "") != tt.blind {
			t.Errorf("%q: %q, blind %q", tt.line, in.scripts, in.blind)
		}
	}
}

func TestEvaluates(t *testing.T) {
	for line, want := range map[string]bool{
		"alias": false, "alias a=b": true, "enable -f x y": true, "hash": false, "hash -p x y": true,
		"mapfile a": false, "mapfile -C x a": true, "readarray 'a[$(x)]'": true,
		"printf %s a": false, "printf -v a b": true, "printf -- a": false, "printf $x": true,
		"test -f a": false, "test -v a": true, "[ -v a ]": true, "[ a = b ]": false,
		"read a": false, "read 'a[0]'": true, "read $x": true, "unset a": false, "unset 'a[0]'": true,
		"bash": true, "bash a.sh": false, "bash -s a": true, "sh -x": true, "make": false,
	} {
		words, ok := shellWords(line, "")
		if !ok {
			t.Fatal(line)
		}
		if got := evaluates(words) != ""; got != want {
			t.Errorf("%q evaluates: %v", line, got)
		}
	}
}

func TestSpecifiers(t *testing.T) {
	tests := []struct {
		spec string
		kind specKind
		text string
	}{
		{"make", exactSpec, "make"},
		{"make test", exactSpec, "make test"},
		{"make:*", prefixSpec, "make"},
		{"make *", prefixSpec, "make"},
		{"make  *", prefixSpec, "make"},
		{"make test:*", prefixSpec, "make test"},
		{"make*", globSpec, "make*"},
		{"* make", globSpec, "* make"},
		{"npm * test:*", globSpec, "npm * test *"},
		{"npm * test *", globSpec, "npm * test *"},
		{":*", prefixSpec, ""},
	}
	for _, tt := range tests {
		if s := readSpec(tt.spec, ""); s.kind != tt.kind || s.text != tt.text {
			t.Errorf("%q = %+v", tt.spec, s)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ dir, name, want string }{
		{"/w", "a", "/w/a"},
		{"/w", "./a/../b", "/w/b"},
		{"/w", "../a", "/a"},
		{"/w", "../../../a", "/a"},
		{"/w", "/a//b/", "/a/b"},
		{"/w", "", "/w"},
		{"", "a", ""},
		{"", "/a", "/a"},
	}
	for _, tt := range tests {
		if got := clean(tt.dir, tt.name); got != tt.want {
			t.Errorf("clean(%q, %q) = %q, want %q", tt.dir, tt.name, got, tt.want)
		}
	}
}

// Spec S-8: what follows "~" is a pattern with slashes on every system.
func TestHomePattern(t *testing.T) {
	for below, want := range map[string]string{
		"": "/", "/": "/", "/x/**": "/x/**", `/a\*b`: `/a\*b`, `\x\**`: "/x/**", `\x/y`: "/x/y", `\`: "/",
	} {
		if got := homePattern(below); got != want {
			t.Errorf("~%s: %q, want %q", below, got, want)
		}
	}
}

// Spec S-8: where a specifier is anchored.
func TestAnchor(t *testing.T) {
	tests := []struct{ spec, root, dir, pattern string }{
		{"//etc/x", "/r", "/", "/etc/x"},
		{"~/x", "/r", "/home/u", "/x"},
		{"~", "/r", "/home/u", "/"},
		{`~\x`, "/r", "/w/p", `~\x`}, // a name, but on Windows
		{"/x", "/r", "/r", "/x"},
		{"/x", "", "/w/p", "/x"},
		{"x", "/r", "/w/p", "x"},
		{"x/y", "/r", "/w/p", "x/y"},
		{"./x", "/r", "/w/p", "/x"},
		{"../x", "/r", "/w", "/x"},
		{"../../../x", "/r", "/", "/x"},
		{"..", "/r", "/w", "/"},
		{".", "/r", "/w/p", "/"},
		{"./", "/r", "/w/p", "/"},
		{"#x", "/r", "/w/p", `\#x`},
	}
	for _, tt := range tests {
		req := Request{WorkDir: "/w/p", Home: "/home/u"}
		dir, pattern := anchor(&Rule{Specifier: tt.spec, Root: tt.root}, &req)
		if dir != tt.dir || pattern != tt.pattern {
			t.Errorf("%s below %q = %q %q, want %q %q", tt.spec, tt.root, dir, pattern, tt.dir, tt.pattern)
		}
	}
	if dir, _ := anchor(&Rule{Specifier: "~/x"}, &Request{WorkDir: "/w"}); dir != "" {
		t.Errorf("a home nobody knows is %q", dir)
	}
	if dir, _ := anchor(&Rule{Specifier: "x"}, &Request{Home: "/h"}); dir != "" {
		t.Errorf("a working directory nobody knows is %q", dir)
	}
}

// Where a line may have gone.
func TestFollowDirs(t *testing.T) {
	tests := []struct {
		line string
		want []string
		lost bool
	}{
		{"make", []string{"/w"}, false},
		{"cd a && make", []string{"/w", "/w/a"}, false},
		{"cd a; cd b", []string{"/w", "/w/a", "/w/b", "/w/a/b"}, false},
		{"cd /x", []string{"/w", "/x"}, false},
		{"cd ~", []string{"/w", "/home/u"}, false},
		{"command cd a", []string{"/w", "/w/a"}, false},
		{"(cd a)", []string{"/w", "/w/a"}, false},
		{"cd $x", []string{"/w"}, true},
		{"cd", []string{"/w"}, true},
		{"cd -", []string{"/w"}, true},
		{"cd -P a", []string{"/w"}, true},
		{"pushd a", []string{"/w"}, true},
		{"while :; do cd a; done", []string{"/w"}, true},
		{"f() { cd a; }; f; f", []string{"/w"}, true},
	}
	for _, tt := range tests {
		file, err := parse(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		r := reader{src: tt.line, home: "/home/u", dirs: []string{"/w"}}
		r.followDirs(file)
		if !slices.Equal(r.dirs, tt.want) || r.lost != tt.lost {
			t.Errorf("%q: %q, lost %v", tt.line, r.dirs, r.lost)
		}
	}
}

func TestWithoutVariables(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "$x/": "/", "${x}/": "/", "${x}/${y}": "/", "a$x.b": "a.b", "${x:-${y}}z": "z", "$(a $(b))c": "c", "$": "", "${x": "", "$x$y": "",
	} {
		if got := withoutVariables(in); got != want {
			t.Errorf("withoutVariables(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPlainDelimiter(t *testing.T) {
	for line, want := range map[string]bool{
		"cat <<E\nE\n": true, "cat <<'E'\nE\n": true, "cat <<\"E\"\nE\n": true, "cat <<'A'\"B\"\nAB\n": true, "cat <<\\E\nE\n": false,
	} {
		file, err := parse(line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if got := plainDelimiter(file.Stmts[0].Redirs[0].Word); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestConstants(t *testing.T) {
	for in, want := range map[string]bool{"1": true, "1+2*(3)": true, "$#": true, "${#x}": true, "$?-1": true, "x": false, "$x": false, "1+x": false, "$(a)": false, "x[0]": false} {
		line := "echo $((" + in + "))"
		file, err := parse(line)
		if err != nil {
			t.Fatal(err)
		}
		for n := range syntax.Preorder(file) {
			if e, ok := n.(*syntax.ArithmExp); ok && isConstant(e.X) != want {
				t.Errorf("%s: %v", in, !want)
			}
		}
	}
}

func TestOpens(t *testing.T) {
	for in, want := range map[string]int{"": 0, "a": 0, "()": 1, "(())": 2, "()()": 1, "case x in a) b;; esac": 0, "))((": 2, "${x[(": 3} {
		if got := opens(in); got != want {
			t.Errorf("opens(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestHostOf(t *testing.T) {
	for in, want := range map[string]string{
		"https://A.org/x": "a.org", "http://a.org.:80": "a.org", "https://u:p@a.org": "a.org", "https://[::1]:1/": "::1",
		"a.org": "", "ftp://a.org": "", "https://": "", "::": "", "https://a b": "", "file:///etc/passwd": "", "//a.org": "",
	} {
		if got := hostOf(in); got != want {
			t.Errorf("hostOf(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	if got := quote("a\nb\x1b"); got != `"a\nb\x1b"` {
		t.Error(got)
	}
	if got := quote(strings.Repeat("é", 300)); len([]rune(got)) != 203 || !strings.HasSuffix(got, `…"`) {
		t.Error(got)
	}
}
