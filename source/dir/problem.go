package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/knack-skills/knack/skill"
)

// The codes of this package's problems (spec K-1).
const (
	unreadable     = "unreadable"
	notRegular     = "not-a-regular-file"
	notDirectory   = "not-a-directory"
	tooLarge       = "too-large"
	danglingLink   = "dangling-link"
	linkLoop       = "link-loop"
	leavesRoot     = "link-leaves-root"
	tooDeep        = "too-deep"
	tooMany        = "too-many-directories"
	skillFileCase  = "skill-file-case"
	directoryCase  = "wrong-case-directory"
	looseFile      = "loose-file"
	noSkillFile    = "no-skill-file"
	pluginInRoot   = "plugin-directory"
	pluginLayout   = "plugin-layout"
	unprintableDir = "unprintable-name"
	versionKept    = "last-version-kept"
)

// kinds grades every code and says what to do about it.
var kinds = map[string]struct {
	severity skill.Severity
	fix      string
}{
	unreadable:     {skill.Error, "check that the file exists and that you may read it"},
	notRegular:     {skill.Error, "replace it by a regular text file"},
	notDirectory:   {skill.Error, "replace it by a directory that holds name/SKILL.md folders"},
	tooLarge:       {skill.Error, "move long material into files beside SKILL.md and refer to them"},
	danglingLink:   {skill.Error, "point the link at something that exists, or remove it"},
	linkLoop:       {skill.Error, "remove the link"},
	leavesRoot:     {skill.Error, "copy the files into the repository, or link them from your personal skills directory"},
	tooMany:        {skill.Error, "keep only skills in this directory"},
	tooDeep:        {skill.Warning, "move the skill up, to at most three levels below the skills directory"},
	skillFileCase:  {skill.Warning, "rename the file to SKILL.md"},
	directoryCase:  {skill.Info, "rename the directory"},
	looseFile:      {skill.Info, "move it to NAME/SKILL.md"},
	noSkillFile:    {skill.Info, "name the skill's file SKILL.md"},
	pluginInRoot:   {skill.Info, "install it as a plugin: knack plugin install PATH"},
	pluginLayout:   {skill.Info, "install the plugins: knack plugin install PATH"},
	unprintableDir: {skill.Warning, "rename the directory to lower-case letters, digits and hyphens"},
	versionKept:    {skill.Warning, "finish the edit; what the file says then counts at once"},
}

func problem(code, path, message string) skill.Problem {
	k := kinds[code]
	return skill.Problem{Code: code, Severity: k.severity, Message: message, Path: path, Fix: k.fix}
}

// A refusal is an error that already knows its code.
type refusal struct {
	code   string
	reason string
}

func (r *refusal) Error() string { return r.reason }

func refuse(code, format string, args ...any) error {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// problemOf turns whatever went wrong with path into its problem.
func problemOf(path string, err error) skill.Problem {
	if r, ok := errors.AsType[*refusal](err); ok {
		return problem(r.code, path, r.reason)
	}
	base := filepath.Base(path)
	if errors.Is(err, fs.ErrNotExist) {
		return problem(unreadable, path, base+" disappeared while it was being read")
	}
	return problem(unreadable, path, fmt.Sprintf("%s cannot be read: %v", base, bare(err)))
}

// bare strips the operation and the path, which the problem has already.
func bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

func wrongFileName(path string) skill.Problem {
	return problem(skillFileCase, path, "the file is named "+filepath.Base(path)+", not "+skillFile)
}
