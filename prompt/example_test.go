package prompt_test

import (
	"context"
	"fmt"

	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
)

func ExampleCompile() {
	s := &skill.Skill{Origin: skill.Origin{Source: skill.User}}
	body := skill.Instructions{Text: "Review $0.\nToday: !`echo \"a day for $0\"`"}
	r, err := prompt.Compile(context.Background(), s, body, "'$(rm -rf x)' now", prompt.Env{
		Shell: shell.Exec{},
		Decide: func(_ context.Context, line string) (prompt.Permission, error) {
			fmt.Println("may this run?", line)
			return prompt.Permission{Decision: "allow", Rule: "Bash(echo:*)"}, nil
		},
	})
	fmt.Println(r.Text, err)
	// Output:
	// may this run? echo "a day for $0"
	// Review $(rm -rf x).
	// Today: a day for $(rm -rf x) <nil>
}

func ExampleParse() {
	for _, s := range prompt.Parse("Branch: !`git branch` and `format!`") {
		fmt.Printf("%v %q\n", s.Command, s.Text)
	}
	// Output:
	// false "Branch: "
	// true "git branch"
	// false " and `format!`"
}

func ExampleSplitArgs() {
	fmt.Printf("%q\n", prompt.SplitArgs(`one "two words" don't stop`))
	// Output: ["one" "two words" "dont stop"]
}
