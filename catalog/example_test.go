package catalog_test

import (
	"context"
	"fmt"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/skill"
)

// values is a source of skills that are already in memory.
type values []*skill.Skill

func (v values) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	return v, nil, ctx.Err()
}

func Example() {
	of := func(source skill.Source, id string) *skill.Skill {
		return &skill.Skill{
			Summary: skill.Summary{ID: id, Description: "Ships it."},
			Origin:  skill.Origin{Source: source},
		}
	}
	c := catalog.New(catalog.Options{},
		values{of(skill.Project, "deploy")},
		values{of(skill.User, "deploy"), of(skill.Plugin, "ci:report")},
	)
	s, err := c.Refresh(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for e := range s.All() {
		fmt.Println(e.ID, "is", e.Qualified)
	}
	for _, name := range []string{"report", "project:deploy", "deplyo"} {
		e, err := s.Resolve(name)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s means %s, %s\n", name, e.Qualified, e.State)
		if e.Winner != nil {
			fmt.Println(" ", e.Reason.Detail)
		}
	}
	// Output:
	// deploy is user:deploy
	// ci:report is plugin:ci:report
	// report means plugin:ci:report, active
	// project:deploy means project:deploy, shadowed
	//   the user skill has the id "deploy": user comes before project
	// unknown skill "deplyo"; did you mean "deploy"? "knack list" shows every skill
}
