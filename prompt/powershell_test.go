package prompt

import "testing"

// PowerShell lines: quoting, and arguments by environment (spec P-9).
func TestPowershellLine(t *testing.T) {
	d := dialectOf("powershell")
	sc := scope{vars: Vars{SkillDir: "C:/Ann Lee's"}}
	for line, want := range map[string]string{
		`node "${CLAUDE_SKILL_DIR}/run.js"`:                                           `node "C:/Ann Lee's/run.js"`,
		`& ${CLAUDE_SKILL_DIR}/run.ps1`:                                               "& C:/Ann` Lee`'s/run.ps1",
		`echo '${CLAUDE_SKILL_DIR}'`:                                                  `echo 'C:/Ann Lee''s'`,
		"echo `${CLAUDE_SKILL_DIR}":                                                   "echo `${CLAUDE_SKILL_DIR}",
		"echo x # it's ${CLAUDE_SKILL_DIR}":                                           "echo x # it's C:/Ann Lee's",
		"echo \"a`\"b\" $ARGUMENTS $ARGUMENTS[0]":                                     "echo \"a`\"b\" ${env:ARGUMENTS} ${env:KNACK_ARGUMENT_0}",
		`echo "$name" ${name} $env:name ${env:name}`:                                  `echo "${env:name}" ${env:name} $env:name ${env:name}`,
		`echo "$(cat "${CLAUDE_SKILL_DIR}" ${CLAUDE_SKILL_DIR})" ${CLAUDE_SKILL_DIR}`: `echo "$(cat "${env:CLAUDE_SKILL_DIR}" ${env:CLAUDE_SKILL_DIR})" ${env:CLAUDE_SKILL_DIR}`,
		"echo @'\n$name ${CLAUDE_SKILL_DIR}\n'@ $0":                                   "echo @'\n$name C:/Ann Lee's\n'@ $0",
	} {
		labels := d.scan(line)
		tokens := lineTokens(line, labels, declared([]string{"name"}))
		if got := d.prepare(line, labels, tokens, sc, identifier); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
}
