package settings_test

import (
	"fmt"

	"github.com/knack-skills/knack/settings"
)

func ExampleLoad() {
	s := settings.Load(settings.Sources{Flag: `{
  "skillOverrides": {"deploy": "off"},
  "skillListng": "ranked"
}`})
	fmt.Println(s.SkillOverrides["deploy"], "from", s.From("skillOverrides.deploy"))
	for _, p := range s.Problems {
		fmt.Println(p, "-", p.Fix)
	}
	// Output:
	// off from --settings
	// --settings:3:3: info: "skillListng" is not a setting here [unknown-setting] - did you mean "skillListing"?
}
