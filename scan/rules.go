package scan

import (
	"slices"

	"github.com/knack-skills/knack/skill"
)

// A Rule is one kind of finding.
type Rule struct {
	ID       string // SEC001; never reused
	Name     string // kebab-case; the code of its findings
	Severity skill.Severity
	Title    string
	Why      string // what it can do to a person
	Fix      string
	Where    []string // of the places below
}

// The places that rules look at.
const (
	InFrontmatter = "frontmatter"
	InBody        = "body"
	InResources   = "resources"
	InScripts     = "scripts"
	InHooks       = "hooks"
)

// Rules returns the table of all rules, by ID. Callers own the result.
func Rules() []Rule { return slices.Clone(rules) }

// ruleNamed returns the rule with this name. A name that is not in the table
// is a programmer's error.
func ruleNamed(name string) Rule {
	for _, r := range rules {
		if r.Name == name {
			return r
		}
	}
	panic("scan: no rule " + name)
}

// The names of the rules.
const (
	hiddenUnicode     = "hidden-unicode"
	hidesActions      = "hides-actions"
	ignoresRules      = "ignores-rules"
	imitatesSystem    = "imitates-system"
	readsCredentials  = "reads-credentials"
	literalSecret     = "literal-secret"
	downloadAndRun    = "download-and-run"
	encodedPayload    = "encoded-payload"
	exfiltration      = "exfiltration"
	broadGrant        = "broad-grant"
	remoteHook        = "remote-hook"
	linkLeavesSkill   = "link-leaves-skill"
	executableFile    = "executable-resource"
	lookAlikeName     = "look-alike-name"
	remoteInstruction = "remote-instructions"
	persistence       = "persistence"
	destruction       = "destruction"
	notScanned        = "not-scanned"
)

var (
	everywhere = []string{InFrontmatter, InBody, InResources, InScripts, InHooks}
	texts      = []string{InFrontmatter, InBody, InResources}
	commands   = []string{InBody, InResources, InScripts, InHooks}
)

// rules is the policy of the scanner (spec S-16). The severity is the highest
// that a rule gives; where text only explains a command, or names an attack in
// order to warn of it, its finding is graded lower and never left out.
var rules = []Rule{
	{"SEC001", hiddenUnicode, skill.Error, "Hidden Unicode",
		"A model reads characters that a person does not see, so the text that was reviewed is not the text that is followed.",
		"remove the characters; write what is meant where everybody can read it", everywhere},
	{"SEC002", hidesActions, skill.Error, "Instructions to hide actions",
		"A skill that keeps what it does from the person takes away the only check on it.",
		"remove the sentence; say openly what the skill does", texts},
	{"SEC003", ignoresRules, skill.Error, "Instructions to ignore rules or permissions",
		"Text that sets other instructions, the system prompt or permissions aside is an attempt to take over the agent.",
		"remove the sentence; a skill adds to the rules in force and never replaces them", texts},
	{"SEC004", imitatesSystem, skill.Error, "Text that imitates the host",
		"Tags with which a host marks its own messages make a stranger's text look like the host's.",
		"remove the tag, or write it as code if the skill explains it", texts},
	{"SEC005", readsCredentials, skill.Error, "Reads credentials",
		"Keys, tokens, password stores and browser data that enter a conversation or a script can leave with it.",
		"let the program that needs the credential read it itself; never read it in a skill", everywhere},
	{"SEC006", literalSecret, skill.Error, "A secret in the text",
		"Whoever has the file has the secret, and a model may repeat it.",
		"revoke the secret, then name the environment variable that holds the new one", everywhere},
	{"SEC007", downloadAndRun, skill.Error, "Downloads and runs",
		"What runs is whatever the server answers at that moment: nobody has reviewed it, and it can differ each time.",
		"download to a file, compare its checksum with a pinned one, then run it; or install a pinned package", commands},
	{"SEC008", encodedPayload, skill.Error, "Encoded payload",
		"Encoding hides from a reviewer what runs.",
		"write the command in plain text", commands},
	{"SEC009", exfiltration, skill.Error, "Sends secrets away",
		"Credentials or the environment are read and sent over the network.",
		"remove the transfer; send nothing that was read from credentials or the environment", everywhere},
	{"SEC010", broadGrant, skill.Warning, "Grants too much",
		"allowed-tools takes effect without a question, so a grant of everything removes every question.",
		"grant only what the skill runs, such as Bash(git log:*)", []string{InFrontmatter}},
	{"SEC011", remoteHook, skill.Error, "A hook runs or calls what lies elsewhere",
		"Hooks run by themselves at every event; one that runs remote text, or sends events to a server, acts for whoever owns the server.",
		"ship the script with the skill and run that; pin the versions of packages", []string{InHooks}},
	{"SEC012", linkLeavesSkill, skill.Error, "A link leaves the skill",
		"A link out of the skill's directory brings files into the conversation that do not belong to the skill.",
		"copy the file into the skill, or remove the link", []string{InBody, InResources}},
	{"SEC013", executableFile, skill.Warning, "An executable or an archive among the resources",
		"Nobody can review what a binary or an archive holds by reading the skill.",
		"ship the source, or say where the program comes from and how it is verified", []string{InResources}},
	{"SEC014", lookAlikeName, skill.Warning, "A name that can be taken for another skill's",
		"A person or a model that means the other skill starts this one.",
		"choose a name that cannot be mistaken", []string{InFrontmatter}},
	{"SEC015", remoteInstruction, skill.Warning, "Instructions that lie elsewhere",
		"Whoever controls the address decides what the agent does, after the review as well.",
		"put the instructions into the skill", []string{InBody, InResources, InHooks}},
	{"SEC016", persistence, skill.Error, "Stays after the task",
		"Start-up files, schedules and hooks of other programs run later, without a person or a model.",
		"leave such changes to the person, and say how they are undone", commands},
	{"SEC017", destruction, skill.Error, "Destroys a system",
		"The command removes or overwrites a home directory, a system directory or a disk.",
		"name the one directory that is meant, below the working directory", commands},
	{"SEC018", notScanned, skill.Warning, "Not everything was looked at",
		"What the scanner did not read can hold anything.",
		"make the skill smaller, or look at these files yourself", []string{InResources}},
}
