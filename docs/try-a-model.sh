#!/bin/sh
# Tries a real model with skills: called by a person, called by the model, as a
# subagent, stacked, and after a session is resumed.
#
#	ANTHROPIC_API_KEY=… docs/try-a-model.sh
#	OPENAI_API_KEY=…    docs/try-a-model.sh openai/gpt-5.5
#	GEMINI_API_KEY=…    docs/try-a-model.sh
#	OPENAI_BASE_URL=http://localhost:11434/v1 docs/try-a-model.sh openai-chat/ID
#
# It makes a small project of its own in a temporary directory, whose skills hold
# codes that nobody can guess, asks for them, and looks for them in the answers.
# It costs about ten short requests. Nothing of yours is read, kept or changed,
# and no key is printed.
#
# Exit code: 0 when all went well, 1 when something failed, 2 when it could not
# begin. KNACK names the program to try; without it, it is built from here.
set -u

model=${1:-}
usage() {
	printf '%s\n' "$1" "usage: docs/try-a-model.sh [MODEL]" \
		"Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or OPENAI_BASE_URL and name a model: openai-chat/ID" >&2
	exit 2
}
[ $# -le 1 ] || usage "one model at a time"
case $model in
-*) usage "unknown option $model" ;;
'')
	[ -n "${ANTHROPIC_API_KEY:-}${OPENAI_API_KEY:-}${GEMINI_API_KEY:-}" ] || usage "there is no key, and no model is named"
	;;
esac

here=$(cd "$(dirname "$0")/.." && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
knack=${KNACK:-}
if [ -z "$knack" ]; then
	(cd "$here" && go build -o "$work/knack" ./cmd/knack) || { echo "knack cannot be built" >&2; exit 2; }
	knack=$work/knack
fi
case $knack in
/*) ;;
*/*) knack=$(pwd)/$knack ;;
esac

# The run sees none of the person's own skills, settings and sessions.
mkdir -p "$work/home" "$work/project/.git" && cd "$work/project" || exit 2
echo 'ref: refs/heads/main' >.git/HEAD
export HOME="$work/home" USERPROFILE="$work/home" XDG_CACHE_HOME="$work/cache"
export KNACK_STATE_DIR="$work/state" CLAUDE_CONFIG_DIR= KNACK_TRUST=1 KNACK_RECORD=

# secret prints a code that no model has seen.
secret() { od -An -N5 -tx1 /dev/urandom | tr -d ' \n'; }

# skill NAME DESCRIPTION FIELD BODY
skill() {
	mkdir -p ".claude/skills/$1"
	printf -- '---\ndescription: %s\n%s---\n%s\n' "$2" "$3" "$4" >".claude/skills/$1/SKILL.md"
}
code=$(secret) stock=$(secret) red=$(secret) blue=$(secret)
skill warehouse-code 'Knows the code of every warehouse. Use when somebody asks for the code of a warehouse.' '' \
	"The code of the warehouse \$0 is \$0-$code. Answer with this code and nothing else."
skill stock-count 'Counts the stock of an article. Use when somebody asks how much of an article is in stock.' 'context: fork
' "The count of the article \$0 is $stock. Answer with this count and nothing else."
skill seal-red 'Puts the red seal on an answer.' '' "Your answer to this message must contain the red seal: $red"
skill seal-blue 'Puts the blue seal on an answer.' '' "Your answer to this message must contain the blue seal: $blue"

# clean replaces keys, in case some server repeats one.
clean() {
	awk '{
		n = split("ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY", names, " ")
		for (i = 1; i <= n; i++) {
			key = ENVIRON[names[i]]
			while (key != "" && (at = index($0, key)) > 0)
				$0 = substr($0, 1, at - 1) "[key]" substr($0, at + length(key))
		}
		print
	}'
}

passed=0 failed=0
pass() { passed=$((passed + 1)); printf 'pass  %s\n' "$1"; }
fail() { # NAME WHY
	failed=$((failed + 1))
	printf 'FAIL  %s: %s\n' "$1" "$2"
	result | cut -c1-2000 | clean | sed 's/^/      answer: /'
	tail -n 3 "$work/err" | cut -c1-500 | clean | sed 's/^/      knack: /'
}

# ask MESSAGE [FLAG...]: one message; what came of it is in $work/out.
ask() {
	message=$1
	shift
	[ -z "$model" ] || set -- "$@" --model "$model"
	"$knack" -p "$message" --output-format stream-json --max-turns 8 "$@" >"$work/out" 2>"$work/err" </dev/null
}

# result prints the answer, and invoked whether a line tells of this invocation.
result() { grep '"type":"result"' "$work/out"; }
invoked() { # SKILL BY
	grep '"subtype":"skill_invoked"' "$work/out" | grep "\"skill\":\"$1\"" | grep -q "\"by\":\"$2\""
}
says() { result | grep -qF -- "$1"; }

# check NAME CODE [SKILL BY]: the answer has the code, and the skill ran.
check() {
	if [ $# -gt 2 ] && ! invoked "$3" "$4"; then
		fail "$1" "the skill $3 was not called"
	elif ! says "$2"; then
		fail "$1" "$2 is not in the answer"
	else
		pass "$1"
	fi
}

printf 'model: %s\n' "${model:-that of the first key which is set}"

ask '/warehouse-code north'
check 'a person types /name' "north-$code" warehouse-code user
session=$(result | sed -n 's/.*"session_id":"\([^"]*\)".*/\1/p')

ask 'What is the code of the warehouse south?'
check 'the model finds a skill and calls it' "south-$code" warehouse-code model

ask '/stock-count bolts'
check 'a skill runs as a subagent' "$stock" stock-count user

ask 'How many nuts are in stock?'
check 'the model starts a subagent and reads its result' "$stock" stock-count model

ask '/seal-red /seal-blue Greet me.'
if says "$red" && says "$blue" && invoked seal-red user && invoked seal-blue user; then
	pass 'two skills stack'
else
	fail 'two skills stack' "both seals should be in the answer: $red, $blue"
fi

if [ -n "$session" ]; then
	ask 'Repeat the code of the warehouse that you gave me, and nothing else.' --resume "$session"
	check 'a resumed session remembers' "north-$code"
else
	fail 'a resumed session remembers' 'the first message left no session'
fi

printf '%d of %d passed\n' "$passed" $((passed + failed))
[ "$failed" -eq 0 ]
