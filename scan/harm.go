package scan

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/skill"
)

// credentialIn returns the path of a credential in s, or "". Public halves of
// keys are none.
func (l *lexicon) credentialIn(s string) string {
	for _, m := range l.credential.FindAllStringIndex(s, -1) {
		if !strings.HasPrefix(s[m[1]:], ".pub") {
			return strings.Trim(s[m[0]:m[1]], " \t\n\"'`),;")
		}
	}
	return ""
}

// secret names the secret that call i reads or prints, or "". env is for what
// is only a secret when it leaves: the environment, .env files.
func (j *judge) secret(i int, env bool) string {
	p, c := j.programs[i], j.Calls[i]
	if j.lex.readers[p.name] || len(c.Reads) > 0 {
		for _, a := range slices.Concat(p.args, c.Reads) {
			if j.credentials && !identity(p) {
				if s := cmp.Or(j.lex.credentialIn(a.Value), j.lex.credentialIn(plain.Replace(a.Text))); s != "" {
					return s
				}
			}
			if name := strings.TrimLeft(a.Value, "@"); env && (name == ".env" || strings.HasSuffix(name, "/.env") || strings.HasSuffix(name, "@.env")) {
				return ".env"
			}
		}
	}
	for _, a := range p.args {
		if j.lex.keepers[a.Value] {
			return p.name + " " + a.Value
		}
	}
	if env && (p.name == "printenv" && len(p.args) == 0 || p.name == "env" && len(p.args) == 0 || p.name == "export" && len(j.Calls[i].Words) == 2 && j.Calls[i].Words[1].Value == "-p") {
		return "the environment"
	}
	return ""
}

// identity reports programs that use a key and do not show it.
func identity(p program) bool {
	return (p.name == "scp" || p.name == "rsync") && slices.ContainsFunc(p.args, func(a permission.Arg) bool { return a.Value == "-i" || a.Value == "-e" })
}

// sending finds options with which a fetcher sends data.
var sending = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s(?:-[a-zA-Z]*[dFT]\b|-d\S|-F\S|--data\S*|--form\S*|--upload-file|--json|--post-data\S*|--post-file\S*|--body-\S+|-body|-infile)`)
})

// sendsData says whether call i sends data to another machine.
func (j *judge) sendsData(i int) bool {
	p, src := j.programs[i], j.source(i)
	switch {
	case j.lex.local.MatchString(src):
		return false
	case p.name == "curl", p.name == "wget", p.name == "iwr", p.name == "irm", p.name == "invoke-webrequest", p.name == "invoke-restmethod":
		return sending().MatchString(src) || len(j.inside(i)) > 0
	case p.name == "http", p.name == "https", p.name == "xh":
		return len(p.args) > 1
	case p.name == "scp", p.name == "rsync", p.name == "sftp":
		last := ""
		for _, a := range p.args {
			last = a.Value
		}
		return strings.Contains(last, ":")
	case p.name == "ssh":
		return len(j.Calls[i].From) > 0
	case p.name == "dig", p.name == "nslookup", p.name == "host", p.name == "ping":
		return len(j.inside(i)) > 0
	}
	for _, w := range j.Calls[i].Writes {
		if strings.HasPrefix(w.Value, "/dev/tcp/") || strings.HasPrefix(w.Value, "/dev/udp/") {
			return true
		}
	}
	return j.lex.connects[p.name] && len(p.args) > 0
}

// sends finds secrets that one command or pipeline sends away.
func (j *judge) sends(i int) {
	if !j.sendsData(i) {
		return
	}
	from := append([]int{i}, j.feeders(i)...)
	for _, k := range j.inside(i) {
		from = append(from, k)
		from = append(from, j.feeders(k)...)
	}
	for _, k := range from {
		if s := j.secret(k, true); s != "" {
			j.report(exfiltration, i, skill.Error, skill.Error, s+" is sent to another machine")
			return
		}
	}
}

// reads finds credentials that are read, wherever they go.
func (j *judge) reads(i int) {
	if s := j.secret(i, false); s != "" {
		j.report(readsCredentials, i, skill.Warning, skill.Error, "reads "+s)
	}
}

// together finds a script that reads a credential in one command and sends
// something in another.
func (j *judge) together() {
	what, sender := "", -1
	for i := range j.Calls {
		if s := j.secret(i, false); s != "" {
			what = s
		}
		if j.sendsData(i) {
			sender = i
		}
	}
	if what != "" && sender >= 0 {
		j.report(exfiltration, sender, skill.Warning, skill.Error, "something is sent to another machine, and "+what+" was read before")
	}
}

// persists finds what stays and runs later.
func (j *judge) persists(i int) {
	p, c, src := j.programs[i], j.Calls[i], j.source(i)
	first := ""
	if len(p.args) > 0 {
		first = p.args[0].Value
	}
	switch {
	case p.name == "crontab" && (first == "-" || len(c.From) > 0 || c.Input != "" || first != "" && first[0] != '-'):
		j.report(persistence, i, skill.Warning, skill.Error, "a schedule is installed")
	case p.name == "launchctl" && (first == "load" || first == "bootstrap"), p.name == "schtasks" && strings.Contains(strings.ToLower(src), "/create"):
		j.report(persistence, i, skill.Warning, skill.Error, "a schedule is installed")
	case p.name == "systemctl" && strings.Contains(src, " enable"):
		j.report(persistence, i, skill.Info, skill.Warning, "a service is made to start by itself")
	case p.name == "git" && strings.Contains(src, "config") && (strings.Contains(strings.ToLower(src), "core.sshcommand") || strings.Contains(strings.ToLower(src), "core.hookspath") && strings.Contains(src, "--global")):
		j.report(persistence, i, skill.Warning, skill.Error, "git is made to run another program from now on")
	}
	targets := c.Writes
	switch n := len(p.args); {
	case n == 0:
	case p.name == "tee":
		targets = slices.Concat(targets, p.args)
	case p.name == "cp", p.name == "mv", p.name == "ln", p.name == "install", p.name == "rsync":
		targets = slices.Concat(targets, p.args[n-1:])
	}
	for _, t := range targets {
		if m := j.lex.startup.FindString(plain.Replace(t.Text) + " " + t.Value); m != "" {
			j.startup(i, m, src)
			return
		}
	}
}

// tailOf returns the last word of a command as written.
func tailOf(src string) string {
	if f := strings.Fields(src); len(f) > 0 {
		return f[len(f)-1]
	}
	return ""
}

// startup grades a change of a start-up file: people put paths and completion
// there by themselves, and hooks of a repository are often what a skill is for.
func (j *judge) startup(i int, name, src string) {
	inDocs, unread := skill.Warning, skill.Error
	if strings.Contains(name, ".git/hooks") {
		inDocs, unread = skill.Info, skill.Warning
	} else if j.lex.harmless.MatchString(src) && !strings.Contains(src, "://") {
		inDocs, unread = skill.Info, skill.Warning
	}
	j.report(persistence, i, inDocs, unread, "a file is changed that something runs later: "+name)
}

// destroys finds commands that remove or overwrite a system.
func (j *judge) destroys(i int) {
	p, c, src := j.programs[i], j.Calls[i], j.source(i)
	say := func() {
		j.report(destruction, i, skill.Warning, skill.Error, "a home directory, a system directory or a disk is removed or overwritten")
	}
	switch {
	case p.name == "rm" && removesRoot(j.lex, src):
		say()
	case p.name == "find" && strings.Contains(src, "-delete") && len(p.args) > 0 && j.lex.roots.MatchString(strings.Trim(strings.Fields(src + " x")[1], " ")):
		say()
	case (p.name == "chmod" || p.name == "chown") && strings.Contains(src, "-R") && j.lex.roots.MatchString(tailOf(src)):
		say()
	case p.name == "dd" && blockDevice().MatchString(src), strings.HasPrefix(p.name, "mkfs"), p.name == "wipefs":
		if p.name == "dd" || strings.Contains(src, "/dev/") {
			say()
		}
	}
	for _, w := range c.Writes {
		if blockDevice().MatchString("of=" + w.Value) {
			say()
		}
	}
}

var blockDevice = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`of=/dev/(?:sd|hd|nvme|disk|rdisk|mmcblk|vd|xvd|mem)`)
})

func removesRoot(l *lexicon, src string) bool {
	if strings.Contains(src, "--no-preserve-root") {
		return true
	}
	recursive, root := false, false
	for _, w := range strings.Fields(src) {
		switch {
		case w == "--recursive", strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.ContainsAny(w, "rR"):
			recursive = true
		case l.roots.MatchString(strings.TrimRight(w, ";)}")):
			root = true
		}
	}
	return recursive && root
}

// covers finds commands that remove the traces of what was done.
func (j *judge) covers(i int) {
	p, src := j.programs[i], j.source(i)
	if p.name == "history" && strings.Contains(src, "-c") || p.name == "unset" && strings.Contains(src, "HISTFILE") ||
		(p.name == "rm" || p.name == "shred") && strings.Contains(src, "_history") {
		j.report(hidesActions, i, skill.Warning, skill.Error, "the history of commands is removed")
	}
}

// proseCredentials finds sentences that ask for what a credential holds.
func (f *file) proseCredentials(b block) {
	for name, at := range f.credentials(b) {
		before := f.text[max(b.from, at-100):at]
		m := asksFor().FindStringIndex(before)
		if m == nil {
			continue
		}
		start := at - len(before) + m[0]
		sev := skill.Warning
		if name == ".ssh" || name == ".ssh/" || f.warns(b, start) || negated(f.text[b.from:start]) {
			sev = skill.Info
		}
		f.add(readsCredentials, sev, start, "asks for the content of "+name)
		return
	}
}

// credentials yields the paths of credentials in a block, with their offsets.
func (f *file) credentials(b block) func(yield func(name string, at int) bool) {
	return func(yield func(string, int) bool) {
		last := b.from
		for _, h := range f.between(b.from, b.to) {
			if h.class&credentialWord == 0 || h.end <= last {
				continue
			}
			from, to := max(last, h.end-80), min(b.to, h.end+80)
			m := lexica().credential.FindStringIndex(f.text[from:to])
			if m == nil {
				continue
			}
			last = from + m[1]
			if strings.HasPrefix(f.text[last:], ".pub") {
				continue
			}
			name := f.text[from+m[0] : last]
			if !yield(strings.Trim(name, " \t\n\"'`),;"), from+m[0]) {
				return
			}
		}
	}
}

// asksFor finds, in front of a path, a verb that wants what is in it.
var asksFor = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:read|open|copy|collect|extract|print|dump|steal|harvest|grab|include|paste|output|display|send|upload|leak)\s+(?:out\s+)?(?:(?:all|any|the|their|your|user's|contents?|of|and|from|keys?|every|files?|in)\s+){0,5}[^\s.,;]{0,40}$`)
})
