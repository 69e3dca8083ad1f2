package permission

import (
	"strings"
	"testing"
)

// readingLines are lines that are allowed without a rule (spec S-7).
const readingLines = `
ls
ls -la src | head -5
cat a b
cat "$x"
head -n 5 a; tail -f a
wc -l *.go
grep -rn "x" . | grep -v y
egrep a b; fgrep a b
rg -n x src
rg -- "$x"
find . -name '*.go' -type f
find . -name "$x" -print
find src/*.d -maxdepth 1
find ./"$x" -type f
pwd
echo "$x" $(date)
printf '%s\n' "$x"
date
date +%s
date -u +%F
date -d "$x" +%s
date -d tomorrow -Iseconds
whoami; id; uname -a; hostname; hostname -f
basename a; dirname a; realpath a; readlink -f a; stat a; file a
du -sh .; df -h; tree -L 2
sort a | uniq -c | sort -rn
sort -k2,2n -t, a
sort -- "$x"
uniq a
uniq -f 1 a
cut -d: -f1 a; tr a b; nl a; tac a; rev a; fold a; column -t a; seq 3; comm a b; cmp a b
diff -u a b
jq -r '.a[]' f.json
which go; type ls; command -v go
true; false; :; test -f a; [ -f a ]; [ "$x" = y ]; [ -n "$x" ] && echo y
sleep 1
git status
git --no-pager log --oneline -5
git log --format=%H --
git diff -- "$x"
git diff HEAD~1 --stat
git show HEAD:a
git branch
git branch -a -vv
git branch --show-current
git branch --list 'x*'
git branch --contains HEAD
git branch --merged main
git tag
git tag -l 'v*'
git tag -n5
git tag --sort=-creatordate
git remote
git remote -v
git remote get-url origin
git rev-parse --abbrev-ref HEAD
git describe --tags
git ls-files
git blame a
git shortlog -sn
git stash list
git stash show -p
git config --get user.name
git config --list --show-origin
git rev-list --count HEAD
git cat-file -p HEAD
git grep -n x
git reflog
git worktree list
git ls-tree HEAD
git for-each-ref --count=1
git version
git diff-tree HEAD
git merge-base HEAD HEAD
git name-rev HEAD
git whatchanged -1
git count-objects
git --version
for f in *.go; do wc -l "$f"; done
if [ -f a ]; then cat a; else exit 1; fi
while true; do ls; break; done
ls | xargs cat
ls | xargs -n1 grep x
ls | xargs -I{} echo {}
LC_ALL=C sort a
timeout 5 ls
! ls
x=$(git log -1); echo "$x"
cat < a > /dev/null 2>&1`

// allReading returns readingLines as a list.
func allReading() []string {
	lines := strings.Split(strings.TrimSpace(readingLines), "\n")
	return append(lines, "cat <<'E'\n$(rm x)\nE", "cat <<E\n$(git log -1)\nE")
}

// Spec S-7: what is allowed by default, and what the same commands ask for.
func TestReadOnly(t *testing.T) {
	for _, line := range allReading() {
		if d := (Rules{}).Decide(bashRequest(line)); d.Verdict != Allow || d.Rule != nil {
			t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
		}
	}
}

func TestNotReadOnly(t *testing.T) {
	asks := `
cd a
rm a
ls; rm a
ls > a
./ls
/tmp/ls
l\s"x"
$x
env
printenv
rg --pre ./x y
rg --pre=./x y
rg --hostname-bin=./x y
rg -z x
rg "$x"
rg --search y
find . -delete
find . -exec ls {} +
find . -execdir ls {} ;
find . -ok ls {} ;
find . -okdir ls {} ;
find . -fprint a
find . -fprintf a x
find . -fprint0 a
find . -fls a
find . "$x"
find $x
find *
find . {-delete,x}
date -s x
date --set=x
date --se x
date -us x
date 010100002030
date $x
date "$x"
hostname x
hostname -F a
file -C -m a
tree -o a
tree -R
sort -o a b
sort -oa b
sort -no a b
sort --output=a b
sort --outp a b
sort --compress-program=./x a
sort -T /x a
sort "$x"
sort *
sort {-oa,b}
sort $(echo a)
uniq a b
uniq -f 1 a b
uniq *
uniq a $x
uniq -f $x
diff -l a b
printf -v x y
printf "$x" y
[ -v 'a[0]' ]
test -v x
test $x
[ "$x" "$y" ]
command ls -la; rm x
xargs
ls | xargs sort
ls | xargs find
ls | xargs uniq
ls | xargs date
ls | xargs git branch
ls | xargs git
ls | xargs rm
git
git push
git commit -m x
git -c core.pager=./x log
git -C x log
git --git-dir=x log
git --exec-path=x log
git -p log
git $x
git log --output=a
git log --outp=a
git log --format=%H $(git log -1 --format=%x2d)
git log $(git rev-parse -- --output=x)
git log $(git describe --tags)--output=x
git log $(git describe --tags)$x
git log $(git describe --tags | sed s/^/--output=/)
git log $(cat name)..HEAD
git() { echo --output=x; }; command git log $(git describe --tags)
cd sub; git log
cd sub && git status
(cd sub; ls) && git log
git log | xargs git log
git log --ext-diff
git diff -Oa
git diff "$x"
git diff --show-sig
git branch x
git branch -d x
git branch -D x
git branch -v x
git branch -m a b
git branch --set-upstream-to=x
git branch $x
git branch --show-current x
git tag v1
git tag -d v1
git tag -v v1
git tag -s v1
git tag -a v1 -m x
git remote add x y
git remote update
git remote -v update
git remote show origin
git remote "$x"
git stash
git stash pop
git stash drop
git config user.name x
git config --get x --unset y
git config -f x --list
git config alias.x '!rm'
git grep -Ox y
git grep --open-files-in-pager=x y
git reflog expire
git worktree add x
git cat-file --textconv HEAD:a
git show --ext-diff
git clean -fd
git checkout x
git fetch
PATH=. ls
FOO=1 ls
alias ls=rm
source a
. a
read x
sed -n p a
awk 1 a
less a
man x
tee a
kill 1
set -x
trap x EXIT`
	for line := range strings.SplitSeq(strings.TrimSpace(asks), "\n") {
		if d := (Rules{}).Decide(bashRequest(line)); d.Verdict != Ask || d.Firm && !strings.Contains(line, "delete") {
			t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
		}
	}
}

// Deny and ask rules come before the table.
func TestRulesBeforeTable(t *testing.T) {
	for list, want := range map[string]Verdict{"deny Bash(git log:*)": Deny, "ask Bash(git log:*)": Ask, "deny Bash": Deny, "allow Bash(x)": Allow} {
		if d := rules(t, list).Decide(bashRequest("git log -1")); d.Verdict != want {
			t.Errorf("%s: %s", list, d.Verdict)
		}
	}
}

func TestWrapperStrip(t *testing.T) {
	tests := []struct{ line, rest string }{
		{"timeout 5 a b", "a b"},
		{"timeout -k 5 -s KILL 10 a", "a"},
		{"timeout -k5 --foreground --signal=9 10 a", "a"},
		{"timeout -- 10 a", "a"},
		{"timeout --odd 10 a", "?"},
		{"timeout -k", "?"},
		{"timeout", "?"},
		{"timeout 5", ""},
		{"nice a", "a"},
		{"nice -n 5 a", "a"},
		{"nice -5 a", "a"},
		{"nice --adjustment=5 a", "a"},
		{"stdbuf -o L -eL a -x", "a -x"},
		{"nohup a", "a"},
		{"nohup -x a", "?"},
		{"command -p a", "a"},
		{"command -v a", "?"},
		{"'time' -o f a", "?"},
		{"'time' -p a", "a"},
		{"xargs -0 -n 1 -P 4 a", "a "},
		{"xargs -I % a % b", "a  b"},
		{"xargs -I% a x%", "a x"},
		{"xargs -a f a", "?"},
		{"xargs --max-args=1 a", "a "},
		{"xargs --replace a", "?"},
	}
	for _, tt := range tests {
		words, ok := shellWords(tt.line, "")
		if !ok {
			t.Fatal(tt.line)
		}
		rest, ok := wrappers[words[0].value].strip(words)
		got := "?"
		if ok {
			var values []string
			for _, w := range rest {
				values = append(values, w.value)
			}
			got = strings.Join(values, " ")
		}
		if got != tt.rest {
			t.Errorf("%q runs %q, want %q", tt.line, got, tt.rest)
		}
	}
}

// Every name in the tables is one word, and no wrapper is taken for harmless.
func TestTables(t *testing.T) {
	for name := range verbs {
		if strings.ContainsAny(name, " \t/") {
			t.Errorf("verb %q", name)
		}
		if runners[name] && name != "command" || shells[name] || fileVerbs[name] != 0 || readers[name] {
			t.Errorf("%s is read-only in one table and not in another", name)
		}
	}
	for name := range wrappers {
		if !runners[name] {
			t.Errorf("the wrapper %s is no runner: with an unknown option nothing inside it would be seen", name)
		}
	}
	for name := range safeVariables {
		for _, bad := range []string{"PATH", "IFS", "ENV", "BASH_ENV", "HOME", "SHELL", "PS4", "PROMPT_COMMAND", "EDITOR", "VISUAL", "PAGER", "GIT_PAGER",
			"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EDITOR", "NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "LESSOPEN", "GOFLAGS"} {
			if name == bad {
				t.Errorf("%s is listed as safe", name)
			}
		}
		for _, bad := range []string{"LD_", "DYLD_", "BASH_", "GIT_CONFIG", "GIT_EXEC"} {
			if strings.HasPrefix(name, bad) {
				t.Errorf("%s is listed as safe", name)
			}
		}
	}
}
