package scan

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

type fileKind uint8

const (
	dataFile fileKind = iota
	markdownFile
	shellFile
	codeFile
	hooksFile
	serversFile
)

// endings says what a file is by the ending of its name.
var endings = map[string]fileKind{
	".md": markdownFile, ".markdown": markdownFile, ".mdx": markdownFile, ".mdc": markdownFile, ".txt": markdownFile, ".rst": markdownFile, ".adoc": markdownFile, ".prompt": markdownFile,
	".sh": shellFile, ".bash": shellFile, ".zsh": shellFile, ".ksh": shellFile, ".command": shellFile, ".envrc": shellFile,
	".py": codeFile, ".js": codeFile, ".mjs": codeFile, ".cjs": codeFile, ".ts": codeFile, ".tsx": codeFile, ".jsx": codeFile, ".mts": codeFile, ".rb": codeFile, ".pl": codeFile,
	".php": codeFile, ".lua": codeFile, ".ps1": codeFile, ".psm1": codeFile, ".bat": codeFile, ".cmd": codeFile, ".go": codeFile, ".rs": codeFile, ".java": codeFile, ".kt": codeFile,
	".swift": codeFile, ".c": codeFile, ".cc": codeFile, ".cpp": codeFile, ".cs": codeFile, ".r": codeFile, ".applescript": codeFile, ".scpt": codeFile, ".vbs": codeFile, ".ipynb": codeFile,
}

// kindOf says how a text is scanned.
func kindOf(path, text string) fileKind {
	base := strings.ToLower(filepath.Base(path))
	switch {
	case base == "hooks.json", base == "settings.json", base == "settings.local.json":
		return hooksFile
	case base == ".mcp.json", base == "mcp.json":
		return serversFile
	case base == "makefile", base == "dockerfile", base == "justfile":
		return codeFile
	}
	if k, ok := endings[strings.ToLower(filepath.Ext(base))]; ok {
		return k
	}
	if first, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "#!") {
		for _, f := range strings.FieldsFunc(first[2:], func(r rune) bool { return r == ' ' || r == '/' || r == '\r' }) {
			if lexica().shells[f] {
				return shellFile
			}
		}
		return codeFile
	}
	return dataFile
}

// magics are the beginnings of binaries and archives.
var magics = []struct {
	begins, kind string
}{
	{"\x7fELF", "an executable (ELF)"},
	{"\xfe\xed\xfa\xce", "an executable (Mach-O)"}, {"\xfe\xed\xfa\xcf", "an executable (Mach-O)"},
	{"\xce\xfa\xed\xfe", "an executable (Mach-O)"}, {"\xcf\xfa\xed\xfe", "an executable (Mach-O)"},
	{"\xca\xfe\xba\xbe", "an executable (Mach-O or Java)"}, {"\x00asm", "an executable (WebAssembly)"},
	{"PK\x03\x04", "an archive (ZIP)"}, {"\x1f\x8b", "an archive (gzip)"}, {"BZh", "an archive (bzip2)"},
	{"\xfd7zXZ\x00", "an archive (xz)"}, {"7z\xbc\xaf\x27\x1c", "an archive (7z)"}, {"Rar!\x1a\x07", "an archive (RAR)"},
	{"\x28\xb5\x2f\xfd", "an archive (Zstandard)"}, {"!<arch>\n", "an archive (ar)"},
}

// documents are archives by their format only.
var documents = []string{".docx", ".xlsx", ".pptx", ".dotx", ".xltx", ".potx", ".odt", ".ods", ".odp", ".epub", ".pages", ".numbers", ".key"}

// binary names the kind of an executable or an archive, or returns "".
func binary(path string, data []byte) (kind string, sev skill.Severity) {
	ext := strings.ToLower(filepath.Ext(path))
	for _, m := range magics {
		if bytes.HasPrefix(data, []byte(m.begins)) && (m.begins != "BZh" || bytes.IndexByte(data[:min(len(data), 512)], 0) >= 0) {
			if slices.Contains(documents, ext) {
				return "", ""
			}
			return m.kind, skill.Warning
		}
	}
	switch {
	case bytes.HasPrefix(data, []byte("MZ")) && bytes.IndexByte(data[:min(len(data), 256)], 0) >= 0:
		return "an executable (Windows)", skill.Warning
	case len(data) > 262 && string(data[257:262]) == "ustar":
		return "an archive (tar)", skill.Warning
	case ext == ".pyc" || ext == ".class":
		return "compiled code", skill.Warning
	}
	return "", ""
}

// pictures are the beginnings of pictures, fonts, sound and documents.
var pictures = []string{
	"\x89PNG", "\xff\xd8\xff", "GIF8", "RIFF", "%PDF-", "\x00\x01\x00\x00", "OTTO", "wOFF", "wOF2", "ttcf", "\x00\x00\x01\x00", "ID3", "OggS", "fLaC", "\xff\xfb",
	"PK\x03\x04", "\x1a\x45\xdf\xa3", "SQLite format 3\x00", "\xd0\xcf\x11\xe0", "BM", "II*\x00", "MM\x00*",
}

// media reports whether data is of a kind that holds no text for a model or a
// shell.
func media(data []byte) bool {
	if bytes.IndexByte(data[:min(len(data), 8<<10)], 0) < 0 {
		return false
	}
	if len(data) > 12 && string(data[4:8]) == "ftyp" {
		return true
	}
	return slices.ContainsFunc(pictures, func(p string) bool { return bytes.HasPrefix(data, []byte(p)) })
}
