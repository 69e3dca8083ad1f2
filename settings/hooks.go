package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// FileHooks are the hooks that one settings file declares (spec H-1).
type FileHooks struct {
	Level  Level
	Path   string
	Config hook.Config
	Off    string // why they do not run; empty for those that do
}

// HooksInForce returns the hooks of all files, strongest file first (spec H-7),
// and apart from them those that do not run, with the reason (spec H-10): none
// of an untrusted workspace, only those of managed files when disableAllHooks
// or allowManagedHooksOnly say so, and none at all when a managed file sets
// disableAllHooks.
func (s *Settings) HooksInForce() (on, left []FileHooks) {
	none, managed := s.HookPolicy()
	plugins := s.PluginHooks()
	for i := range s.Files {
		f := &s.Files[i]
		if len(f.hooks) == 0 {
			continue
		}
		h := FileHooks{Level: f.Level, Path: f.Path, Config: f.hooks}
		switch {
		case none != "":
			h.Off = none
		case managed != "" && f.Level != ManagedLevel:
			h.Off = managed
		case plugins != "" && f.Level != ManagedLevel:
			h.Off = plugins
		case !s.trusted && f.Level.fromWorkspace():
			h.Off = "the workspace is not trusted"
		}
		if h.Off == "" {
			on = append(on, h)
		} else {
			left = append(left, h)
		}
	}
	return on, left
}

// HookPolicy says why no hook at all may run, or why only managed ones may;
// empty means that they may (spec H-10).
func (s *Settings) HookPolicy() (none, managed string) {
	for _, f := range s.Files {
		if f.Level == ManagedLevel && f.Values.DisableAllHooks != nil && *f.Values.DisableAllHooks {
			return "disableAllHooks is set in " + f.Path, ""
		}
	}
	if b := s.AllowManagedHooksOnly; b != nil && *b {
		managed = "allowManagedHooksOnly is set in " + s.From(keyManagedHook)
	}
	if b := s.DisableAllHooks; b != nil && *b {
		managed = "disableAllHooks is set in " + s.From("disableAllHooks")
	}
	return "", managed
}

// PluginHooks says why hooks may come from plugins, the administrator and the
// program alone; empty means that they may come from anywhere (spec S-11).
func (s *Settings) PluginHooks() string {
	file, only := s.PluginOnly("hooks")
	if !only {
		return ""
	}
	return keyPluginOnly + " is set in " + file
}

// hooks decodes the hooks of the file, whose text begins at offset, and reports
// each part that was dropped where it stands (spec H-9).
func (d *decoder) hooks(raw json.RawMessage, offset int) {
	var tree any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return // the text was validated before
	}
	config, faults := hook.Decode(tree)
	d.f.hooks = config
	for _, fault := range faults {
		severity := skill.Warning
		if fault.Lint {
			severity = skill.Info
		}
		c := cursor{data: d.data}
		d.report(fault.Code, severity, c.seek(offset+offsetOf(raw, fault.Path)), "hooks: "+fault.Message, fault.Fix)
	}
}

// offsetOf returns where the value that path leads to begins in raw, or where
// the last part of the way begins that there is.
func offsetOf(raw []byte, path []string) int {
	dec := json.NewDecoder(bytes.NewReader(raw))
	at := 0
	for _, step := range path {
		t, err := dec.Token()
		if err != nil {
			return at
		}
		found := false
		for i := 0; dec.More() && !found; i++ {
			name := strconv.Itoa(i)
			here := skipTo(raw, int(dec.InputOffset()))
			if t == json.Delim('{') {
				key, err := dec.Token()
				if err != nil {
					return at
				}
				name = fmt.Sprint(key)
			}
			if found = name == step; found {
				at = here
				break
			}
			var skipped json.RawMessage
			if dec.Decode(&skipped) != nil {
				return at
			}
		}
		if !found {
			return at
		}
	}
	return at
}

// skipTo passes over what stands between two values.
func skipTo(raw []byte, i int) int {
	for i < len(raw) && bytes.IndexByte([]byte(" \t\r\n,:"), raw[i]) >= 0 {
		i++
	}
	return i
}
