package plugin

import (
	"bytes"
	"errors"
	"io/fs"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
)

// position turns an offset after some byte into line and column, in characters.
func position(data []byte, offset int64) (line, column int) {
	before := data[:min(max(offset-1, 0), int64(len(data)))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

func broken(path, message string) skill.Problem {
	return skill.Problem{
		Code: "plugin-manifest", Severity: skill.Error, Path: path,
		Message: "the plugin is not loaded: " + message,
		Fix:     "correct " + ManifestFile + ", or update the plugin",
	}
}

func badPath(path, message string) skill.Problem {
	return skill.Problem{
		Code: "plugin-path", Severity: skill.Error, Path: path, Message: message,
		Fix: "write paths relative to the plugin, starting with ./",
	}
}

// badPart reports a file of a plugin that is left out, while the rest loads.
func badPart(path, message string) skill.Problem {
	return skill.Problem{
		Code: "plugin-part", Severity: skill.Error, Path: path, Message: message,
		Fix: "correct the file, or update the plugin",
	}
}

// bare is err without the operation and the path, which the problem has.
func bare(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
