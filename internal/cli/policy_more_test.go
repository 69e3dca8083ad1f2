//go:build unix

package cli_test

import "strings"

// runsHook are hooks of everybody but the administrator; the command is theirs.
func runsHook() []attempt {
	const mark, command = "hooked", "touch hooked"
	frontmatter := "hooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: " + command + "\n"
	call := bash("ls")
	return []attempt{
		does("the person's settings", mark, call).under(person(hookFile("PreToolUse", "", command))),
		does("the project", mark, call).under(project(hookFile("PreToolUse", "", command))),
		does("local settings", mark, call).under(local(hookFile("UserPromptSubmit", "", command))),
		does("--settings", mark, call, "--settings", hookFile("PreToolUse", "", command)),
		{"a skill of the project", func(w *world) bool {
			w.skill("lift", "---\ndescription: d\n"+frontmatter+"---\nGo.\n")
			w.acts([]string{call}, "-p", "/lift", "--trust")
			return w.exists(mark)
		}},
		{"a skill of the person", func(w *world) bool {
			w.file("../home/.claude/skills/lift/SKILL.md", "---\ndescription: d\n"+frontmatter+"---\nGo.\n")
			w.acts([]string{call}, "-p", "/lift")
			return w.exists(mark)
		}},
		does("an agent type", mark, call, "--agent", "lift").under(func(w *world) {
			w.file(".claude/agents/lift.md", "---\nname: lift\ndescription: d\n"+frontmatter+"---\nGo.\n")
		}),
	}
}

// pluginHook is one that a plugin given for a run brings.
func pluginHook() attempt {
	return attempt{"a plugin", func(w *world) bool {
		w.file("../plug/.claude-plugin/plugin.json", `{"name":"plug"}`)
		w.file("../plug/hooks/hooks.json", hookFile("PreToolUse", "", "touch hooked"))
		w.acts([]string{bash("ls")}, "-p", "go", "--plugin-dir", w.path("../plug"))
		return w.exists("hooked")
	}}
}

// ownAgents are agent types of everybody but the administrator.
func ownAgents() []attempt {
	const text = "---\nname: lift\ndescription: d\n---\nLIFT-PROMPT\n"
	runs := func(who string, set func(w *world), flags ...string) attempt {
		return attempt{who, func(w *world) bool {
			set(w)
			_, asked := w.requests(`{"steps":[{"text":"end"}]}`, append([]string{"-p", "go", "--trust", "--agent", "lift"}, flags...)...)
			return len(asked) > 0 && strings.Contains(asked[0].System, "LIFT-PROMPT")
		}}
	}
	return []attempt{
		runs("the person", func(w *world) { w.file("../home/.claude/agents/lift.md", text) }),
		runs("the project", func(w *world) { w.file(".claude/agents/lift.md", text) }),
		runs("--agents", func(*world) {}, "--agents", `{"lift":{"description":"d","prompt":"LIFT-PROMPT"}}`),
	}
}

// ownServers are MCP servers of everybody but the administrator. That one was
// started leaves a mark.
func ownServers() []attempt {
	const servers = `{"mcpServers":{"lift":{"command":"touch","args":["served"]}}}`
	starts := func(who string, set func(w *world), flags ...string) attempt {
		return attempt{who, func(w *world) bool {
			set(w)
			w.acts(nil, append([]string{"-p", "go", "--trust"}, flags...)...)
			return w.exists("served")
		}}
	}
	return []attempt{
		starts("--mcp-config", func(*world) {}, "--mcp-config", servers),
		starts("the project", func(w *world) {
			w.file(".mcp.json", servers)
			person(`{"enabledMcpjsonServers":["lift"]}`)(w)
		}),
	}
}

// ownSkills are skills of everybody but the administrator.
func ownSkills() []attempt {
	return []attempt{
		hears("the person", "LIFT-TEXT", "render", "lift").under(func(w *world) {
			w.file("../home/.claude/skills/lift/SKILL.md", "---\ndescription: d\n---\nLIFT-TEXT\n")
		}),
		hears("the project", "LIFT-TEXT", "render", "lift", "--trust").under(func(w *world) { w.skill("lift", "---\ndescription: d\n---\nLIFT-TEXT\n") }),
		hears("a command file", "LIFT-TEXT", "render", "lift", "--trust").under(func(w *world) { w.file(".claude/commands/lift.md", "LIFT-TEXT\n") }),
		hears("--add-dir", "LIFT-TEXT", "render", "lift", "--trust", "--add-dir", "../more").under(func(w *world) {
			w.file("../more/.claude/skills/lift/SKILL.md", "---\ndescription: d\n---\nLIFT-TEXT\n")
		}),
	}
}

func skillPromises() map[string]promise {
	const runs = "---\ndescription: d\nallowed-tools: Bash(echo *)\n---\n!`echo ran-$((40+2))`\n"
	twins := func(w *world) {
		w.skill("mine", "---\ndescription: d\n---\nTHEIR-TEXT\n")
		w.file("../home/.claude/skills/mine/SKILL.md", "---\ndescription: d\n---\nMY-TEXT\n")
	}
	const order, override = `{"skillPrecedence":["project","user"]}`, `{"allowBundledOverride":true}`
	poses := func(w *world) {
		w.file("../home/.claude/skills/simplify/SKILL.md", "---\ndescription: d\n---\nPOSE-TEXT\n")
	}
	inline := hears("", "ran-42", "render", "lift", "--trust")
	return map[string]promise{
		"skillOverrides.create-skill off": {attempts: []attempt{
			{"a person who types it", func(w *world) bool { return w.run("render", "create-skill").code == 0 }},
			{"a model", func(w *world) bool { return w.run("render", "create-skill", "--by", "model", "--yes").code == 0 }},
			attempt{"the person's settings", func(w *world) bool { return w.run("render", "create-skill").code == 0 }}.
				under(person(`{"skillOverrides":{"create-skill":"on"}}`)),
			{"--settings", func(w *world) bool {
				return w.run("render", "create-skill", "--settings", `{"skillOverrides":{"create-skill":"on"}}`).code == 0
			}},
		}},
		`skillPrecedence ["bundled","managed","user","project"]`: {set: twins, attempts: []attempt{
			hears("the person's settings", "THEIR-TEXT", "render", "mine", "--trust").under(person(order)),
			hears("the project", "THEIR-TEXT", "render", "mine", "--trust").under(project(order)),
			hears("--settings", "THEIR-TEXT", "render", "mine", "--trust", "--settings", order),
		}},
		"allowBundledOverride false": {set: poses, attempts: []attempt{
			hears("the person's settings", "POSE-TEXT", "render", "simplify").under(person(override)),
			hears("the project", "POSE-TEXT", "render", "simplify", "--trust").under(project(override)),
			hears("--settings", "POSE-TEXT", "render", "simplify", "--settings", override),
		}},
		"disableSkillShellExecution true": {attempts: []attempt{
			inline.under(func(w *world) { w.skill("lift", runs) }).named("the project"),
			inline.under(func(w *world) { w.file("../home/.claude/skills/lift/SKILL.md", runs) }).named("the person"),
			hears("--settings", "ran-42", "render", "lift", "--trust", "--settings", `{"disableSkillShellExecution":false}`).under(func(w *world) { w.skill("lift", runs) }),
			{"a plugin", func(w *world) bool {
				w.file("../plug/.claude-plugin/plugin.json", `{"name":"plug"}`)
				w.file("../plug/skills/lift/SKILL.md", runs)
				return strings.Contains(w.run("render", "plug:lift", "--plugin-dir", w.path("../plug")).stdout, "ran-42")
			}},
		}},
		"strictPluginOnlyCustomization hooks":  {attempts: runsHook()},
		"strictPluginOnlyCustomization agents": {attempts: ownAgents()},
		"strictPluginOnlyCustomization mcp":    {attempts: ownServers()},
	}
}

func (a attempt) named(who string) attempt { return attempt{who, a.got} }

// markets are two marketplaces, one of the house.
func markets(w *world) {
	for _, dir := range []string{"../srv/agent-plugins", "../Downloads/market", "../market"} {
		w.file(dir+"/.claude-plugin/marketplace.json", `{"name":`+quoted(strings.TrimPrefix(dir[strings.LastIndexByte(dir, '/'):], "/"))+`,"owner":{"name":"x"},"plugins":[
			{"name":"house","source":"./house"},{"name":"games","source":"./games"}]}`)
		for _, name := range []string{"house", "games"} {
			w.file(dir+"/"+name+"/.claude-plugin/plugin.json", `{"name":`+quoted(name)+`,"version":"1"}`)
			w.file(dir+"/"+name+"/skills/s/SKILL.md", described(name))
		}
	}
}

// before runs a command as it was before there was a policy.
func (w *world) before(args ...string) {
	w.t.Helper()
	env := w.env
	defer func() { w.env = env }()
	w.env = append(env[:len(env):len(env)], "KNACK_MANAGED_DIR="+w.path("../nothing"))
	if out := w.run(args...); out.code != 0 {
		w.t.Fatalf("%q: %+v", args, out)
	}
}

// lists reports whether a skill is there.
func (w *world) lists(id string, flags ...string) bool {
	return strings.Contains(w.run(append([]string{"list", "--json"}, flags...)...).stdout, `"id":"`+id+`"`)
}

// fromElsewhere are ways to a plugin that lies in a directory below dir.
func fromElsewhere(dir string) []attempt {
	return []attempt{
		{"marketplace add", func(w *world) bool { return w.run("plugin", "marketplace", "add", dir+"/market").code == 0 }},
		{"plugin install", func(w *world) bool {
			return w.run("plugin", "install", dir+"/market/games", "--yes").code == 0 && w.lists("games:s")
		}},
		{"what was installed before", func(w *world) bool {
			w.before("plugin", "marketplace", "add", dir+"/market")
			w.before("plugin", "install", "games@market", "--yes")
			return w.lists("games:s")
		}},
		{"--plugin-dir", func(w *world) bool { return w.lists("games:s", "--plugin-dir", dir+"/market/games") }},
	}
}

func pluginPromises() map[string]promise {
	installed := func(w *world) {
		markets(w)
		w.before("plugin", "marketplace", "add", "../srv/agent-plugins")
		w.before("plugin", "install", "house@agent-plugins", "--yes")
		w.before("plugin", "install", "games@agent-plugins", "--yes")
	}
	gone := func(who string, set func(w *world), flags ...string) attempt {
		return attempt{who, func(w *world) bool { set(w); return !w.lists("house:s", flags...) }}
	}
	there := func(who string, set func(w *world), flags ...string) attempt {
		return attempt{who, func(w *world) bool { set(w); return w.lists("games:s", flags...) }}
	}
	return map[string]promise{
		`strictKnownMarketplaces {"path":"/srv/agent-plugins","source":"directory"}`:            {set: markets, attempts: fromElsewhere("..")},
		`blockedMarketplaces {"pathPattern":"/home/[^/]+/Downloads/.*","source":"pathPattern"}`: {set: markets, attempts: fromElsewhere("../Downloads")},
		"enabledPlugins.house@agent-plugins true": {set: installed, attempts: []attempt{
			gone("plugin disable", func(w *world) { w.run("plugin", "disable", "house@agent-plugins") }),
			gone("the person's settings", person(`{"enabledPlugins":{"house@agent-plugins":false,"house":false}}`)),
			gone("the project", project(`{"enabledPlugins":{"house@agent-plugins":false}}`), "--trust"),
			gone("--settings", func(*world) {}, "--settings", `{"enabledPlugins":{"house@agent-plugins":false}}`),
		}},
		"enabledPlugins.games@agent-plugins false": {set: installed, attempts: []attempt{
			there("who installed it", func(*world) {}),
			there("plugin enable", func(w *world) { w.run("plugin", "enable", "games@agent-plugins") }),
			there("the person's settings", person(`{"enabledPlugins":{"games@agent-plugins":true,"games":true}}`)),
			there("--settings", func(*world) {}, "--settings", `{"enabledPlugins":{"games":true}}`),
		}},
	}
}

func hookPromises() map[string]promise {
	const mark = "did-kubectl"
	call := bash("kubectl delete pod x")
	off := `{"disableAllHooks":true}`
	guarded := append(everybody(mark, call, "Bash(kubectl *)"), bypass(mark, call))
	for who, set := range map[string]func(*world){"the person switches hooks off": person(off), "the project switches hooks off": project(off), "local settings switch hooks off": local(off)} {
		guarded = append(guarded, does(who, mark, call, "--allowedTools", "Bash").under(set))
	}
	for _, flags := range [][]string{{"--bare"}, {"--settings", off}, {"--setting-sources", ""}} {
		guarded = append(guarded, does(strings.Join(flags, " "), mark, call, append(flags, "--allowedTools", "Bash")...))
	}
	return map[string]promise{
		"allowManagedHooksOnly true": {attempts: append(runsHook(), pluginHook())},
		"hooks.PreToolUse":           {attempts: guarded},
	}
}

func commandPromises() map[string]promise {
	const off, mine = `{"sandbox":"off"}`, `{"env":{"HTTPS_PROXY":"mine"}}`
	outside := bash("touch ../outside-mark")
	const mark = "../outside-mark"
	proxy := func(who string, set func(w *world), flags ...string) attempt {
		return attempt{who, func(w *world) bool {
			set(w)
			results, _ := w.acts([]string{bash(`echo "[$HTTPS_PROXY]"`)}, append([]string{"-p", "go", "--trust", "--allowedTools", "Bash"}, flags...)...)
			return len(results) == 1 && strings.TrimSpace(results[0]) == "[mine]"
		}}
	}
	return map[string]promise{
		"sandbox required": {attempts: []attempt{
			does("Bash", mark, outside, "--allowedTools", "Bash"),
			does("the person's settings", mark, outside, "--allowedTools", "Bash").under(person(off)),
			does("the project", mark, outside, "--allowedTools", "Bash").under(project(off)),
			does("--settings", mark, outside, "--allowedTools", "Bash", "--settings", off),
			does("the mode", mark, outside, "--permission-mode", "bypassPermissions"),
			does("a hook", mark, bash("ls")).under(person(hookFile("PreToolUse", "", "touch ../outside-mark"))),
			{"an inline command", func(w *world) bool {
				w.skill("lift", granting("Bash(touch *)", "!`touch ../outside-mark`"))
				w.run("render", "lift", "--trust")
				return w.exists(mark)
			}},
		}},
		"env.HTTPS_PROXY http://proxy.example:3128": {attempts: []attempt{
			proxy("the person's settings", person(mine)),
			proxy("the project", project(mine)),
			proxy("local settings", local(mine)),
			proxy("--settings", func(*world) {}, "--settings", mine),
			proxy("the environment", func(w *world) { w.env = append(w.env, "HTTPS_PROXY=mine") }),
			hears("an inline command", "[mine]", "render", "lift", "--trust").under(func(w *world) {
				person(mine)(w)
				w.skill("lift", granting("Bash(echo *)", "!`echo \"[$HTTPS_PROXY]\"`"))
			}),
			{"a hook", func(w *world) bool {
				w.file("../home/.claude/settings.json", `{"env":{"HTTPS_PROXY":"mine"},`+strings.TrimPrefix(hookFile("PreToolUse", "", `echo "[$HTTPS_PROXY]" > seen`), "{"))
				w.acts([]string{bash("ls")}, "-p", "go")
				return readText(w, "seen") == "[mine]\n"
			}},
		}},
	}
}

func incidentPromises() map[string]promise {
	on := `{"disableAllHooks":false,` + strings.TrimPrefix(hookFile("PreToolUse", "", "touch hooked"), "{")
	call := bash("npm test")
	var own []attempt
	for _, some := range [][]attempt{runsHook(), ownAgents(), ownServers(), ownSkills()} {
		own = append(own, some...)
	}
	return map[string]promise{
		"incident: disableAllHooks true": {attempts: append(runsHook(), pluginHook(),
			does("who switches them on", "hooked", bash("ls")).under(person(on)),
			does("--settings", "hooked", bash("ls"), "--settings", on))},
		"incident: strictPluginOnlyCustomization true": {attempts: own},
		"incident: permissions.deny Bash":              {attempts: append(everybody("did-npm-test", call, "Bash(npm test)"), bypass("did-npm-test", call))},
	}
}
