package scan

import (
	"regexp"
	"sync"

	"github.com/knack-skills/knack/skill"
)

// A pattern is a sentence that a rule is about. It is tried around each of its
// words, so that texts without them cost nothing.
type pattern struct {
	rule    string
	sev     skill.Severity
	words   string // in lower case, separated by ","; any of them wakes it
	re      *regexp.Regexp
	message string
	near    class // what must stand close to the word, all of it; 0 needs nothing
	code    bool  // harmless as code: a tag that is only shown
	denied  bool  // nothing without a "not" close before the word
	before  int   // bytes that the sentence may have before the word, more than 40
}

// who are the people that nothing may be hidden from.
const who = `(?:the\s+|your\s+|any\s+)?(?:user|human|person|operator|owner|developer|reviewer|customer)s?\b`

const not = `(?:do\s+not|don['’]?t|never|must\s+not|mustn['’]?t|should\s+not|shouldn['’]?t|cannot|may\s+not)\s+(?:ever\s+)?`

const deeds = `(?:what\s+you|that\s+you(?:['’]re|\s+are|\s+have|['’]ve|\s+ran|\s+did)\s|(?:this|these|the|your|any)\s+(?:hidden\s+|background\s+|secret\s+)?(?:commands?|uploads?|requests?|steps?|transfers?|downloads?|actions?|skill|instructions?|changes?|scripts?)\b|this\b|it\b)`

// patterns are compiled when the first text is scanned.
var patterns = sync.OnceValue(func() []pattern {
	re := func(s string) *regexp.Regexp { return regexp.MustCompile(`(?is)` + s) }
	return []pattern{
		{hidesActions, skill.Error, "tell,inform,notify,alert", re(not + `(?:tell|inform|notify|alert)\s+` + who + `\s+(?:about\s+|of\s+)?` + deeds),
			"the person is not to be told", personWord, false, true, 0},
		{hidesActions, skill.Error, "mention,reveal,disclose,show,report", re(not + `(?:mention|reveal|disclose|show|report)\s+` + deeds + `\s*(?:\w+\s+)?to\s+` + who),
			"the person is not to be told", personWord, false, true, 0},
		{hidesActions, skill.Error, "telling,informing,notifying,alerting,knowledge,knowing", re(`without\s+(?:(?:telling|informing|notifying|alerting)\s+` + who + `|` + who + `(?:['’]s)?\s+(?:knowing|knowledge|noticing))`),
			"something is to be done without telling the person", personWord, false, false, 40},
		{hidesActions, skill.Error, "hide,hidden,conceal,secret", re(`\b(?:hide|conceal|keep)\s+(?:this|these|it|that|your\s+\w+|all\s+(?:of\s+)?\w+|the\s+\w+(?:\s+\w+)?)\s+(?:hidden\s+|secret\s+)?from\s+` + who),
			"something is to be hidden from the person", personWord, false, false, 0},
		{hidesActions, skill.Error, "know,notice,find out,told,aware,informed", re(who + `\s+(?:must|should|may|can)(?:\s+not|n['’]?t|not|\s+never)\s+(?:know|notice|find\s+out|be\s+(?:told|informed|aware|notified))\b`),
			"the person is not to know", personWord | denialWord, false, false, 40},
		{hidesActions, skill.Warning, "secretly,covertly,surreptitiously,silently", re(`\b(?:(?:secretly|covertly|surreptitiously)\s+(?:send|upload|exfiltrate|post|transmit|collect|install|execute|run|delete|forward|copy|record|log|add|read)|silently\s+(?:send|upload|exfiltrate|transmit|collect|forward))\b`),
			"something is to be done in secret", 0, false, false, 0},
		{ignoresRules, skill.Error, "ignore,disregard,forget,override,bypass,discard", re(`\b(?:ignore|disregard|forget|override|bypass|discard)\s+(?:(?:all|any|every|your|the|these|those|my|of)\s+){0,3}(?:previous|prior|above|earlier|preceding|existing|original|system|safety|initial)\s+(?:\w+\s+)?(?:instructions?|prompts?|rules?|guidelines?|directions?|messages?|constraints?|policies|policy|restrictions?|safeguards?)\b`),
			"other instructions are to be ignored", ruleWord, false, false, 0},
		{ignoresRules, skill.Warning, "permission,approval,confirmation,safety,sandbox", re(`\b(?:ignore|disregard|bypass|circumvent|evade)\s+(?:(?:all|any|the|your|its|every)\s+){0,2}(?:permission|approval|confirmation|safety|sandbox)(?:\s+(?:system|prompts?|checks?|requests?|rules?|dialogs?|restrictions?|guards?|guardrails?|modes?))?\b`),
			"permissions are to be got around", evadeWord, false, false, 40},
		{ignoresRules, skill.Warning, "dangerously,bypasspermissions,danger-full-access,--yolo", re(`--dangerously-(?:skip-permissions|bypass-\S+)|\bbypassPermissions\b|sandbox(?:_mode)?[\s="']+danger-full-access|\b(?:codex|gemini|claude|qwen|agent)\s[^\n]{0,120}--yolo\b`),
			"permission checks are switched off", 0, false, false, 0},
		{ignoresRules, skill.Error, "you are now,no longer bound,unrestricted,jailb", re(`\byou\s+are\s+(?:now\s+)?(?:DAN\b|(?:an?\s+)?unrestricted\b|jailbroken|in\s+(?:developer|god|jailbreak)\s+mode)|\bno\s+longer\s+bound\s+by\b|\bfree\s+(?:from|of)\s+(?:all|any)\s+(?:restrictions|rules)`),
			"the agent is told that no rules hold", 0, false, false, 0},
		{ignoresRules, skill.Warning, "system prompt", re(`\b(?:reveal|print|output|repeat|leak|disclose|exfiltrate)\s+(?:me\s+)?(?:your|the)\s+(?:full\s+|entire\s+|hidden\s+|original\s+|whole\s+)?system\s+prompt`),
			"the system prompt is asked for", 0, false, false, 40},
		{remoteInstruction, skill.Warning, "follow,obey,execute,carry out,do what", re(`\b(?:fetch|download|read|open|visit|load|retrieve|get|curl)\b[^\n]{0,80}https?://\S+[^\n]{0,60}\b(?:follow|execute|obey|carry\s+out|do\s+what)\b[^\n.]{0,30}\b(?:instructions?|steps|commands|directives?|prompts?|them|says?|there)\b`),
			"instructions are fetched and followed", addressWord, false, false, 240},
		{remoteInstruction, skill.Warning, "follow,obey,execute", re(`\b(?:follow|obey|execute)\s+(?:all\s+)?(?:the\s+|any\s+)?(?:instructions|steps|commands|directives)\s+(?:\w+\s+)?(?:at|from|in|on|of)\s+(?:\w+\s+){0,2}https?://`),
			"instructions are fetched and followed", addressWord, false, false, 0},
		{exfiltration, skill.Error, "send,upload,post,transmit,forward,e-mail,email,submit,exfiltrate", re(`\b(?:send|upload|post|transmit|exfiltrate|forward|e-?mail|submit)\s+(?:(?:all|any|the|their|your|every|its|user's)\s+){0,3}(?:\w+\s+)?(?:api\s+keys?|tokens?|passwords?|credentials|secrets|private\s+keys?|environment\s+variables|\.env\b|ssh\s+keys?|conversation(?:\s+history)?|chat\s+history)\b[^\n]{0,60}\bto\s+\W?(?:https?://|[\w.-]+@[\w-]+\.|[\w-]+\.(?:com|net|org|io|xyz|site|dev)\b)`),
			"secrets are to be sent away", valuableWord, false, false, 0},
		{imitatesSystem, skill.Error, "system-reminder,system_reminder,available_skills,command-message,local-command-std,function_results,|im_start,|im_end,<|system,inst],<<sys,start_header_id,<system>,</system>,system_prompt>", re(`<\s*[/\\]?\s*(?:system-reminder|system_reminder|available_skills|command-message|local-command-std(?:out|err)|function_results|system|system_prompt)\s*>|<\|(?:im_start|im_end|system|start_header_id)\|>|\[/?INST\]|<</?SYS>>`),
			"a tag of the host, or of a model's own format", 0, true, false, 40},
	}
})
