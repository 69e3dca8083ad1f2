package sandbox

import "strings"

// profile is the sandbox profile of macOS for su. Later rules win. Unlike mounts
// it holds protected paths that do not exist yet.
func profile(su setup) string {
	var b strings.Builder
	b.WriteString("(version 1)\n(allow default)\n" +
		"(deny file-write*)\n(deny file-mknod)\n" +
		"(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/dtracehelper\") (literal \"/dev/tty\"))\n")
	b.WriteString(about("allow file-write*", su.roots))
	b.WriteString(about("deny file-write*", su.protected))
	b.WriteString("(deny network*)\n")
	if su.network {
		b.WriteString("(allow network-outbound (remote ip))\n(allow network-inbound (local ip))\n(allow network-bind (local ip))\n" +
			"(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n")
	}
	// Starting a program through a service would start it outside.
	b.WriteString("(deny appleevent-send)\n(deny lsopen)\n(deny job-creation)\n(deny mach-priv-task-port)\n" +
		"(deny mach-lookup (global-name-regex #\"^com\\.apple\\.(coreservices|launchd|dock|pasteboard|cfprefsd)\"))\n" +
		"(deny signal (target others))\n(deny process-info* (target others))\n")
	return b.String()
}

// about is one rule about everything below the paths; empty without paths.
func about(rule string, paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("(" + rule)
	for _, p := range paths {
		b.WriteString("\n  (subpath " + quote(p) + ")")
	}
	b.WriteString(")\n")
	return b.String()
}

// quote writes a string of the profile's language.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
