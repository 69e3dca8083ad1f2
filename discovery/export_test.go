package discovery

// ParseConfig is for a fuzz test.
var ParseConfig = parseConfig

// Tracks reads an index and asks whether it holds a path.
func Tracks(files Files, dir, path string, hashSize int) bool {
	return readIndex(files, dir, hashSize).tracks(path)
}

// Ignored reports what git would say of a path of the repository, for tests
// that ask about more than skills directories.
func Ignored(o NestedOptions) func(rel string, isDir bool) (pattern, file string, yes bool) {
	if o.Files == nil {
		o.Files = OS{}
	}
	return newIgnores(o, o.WorkDir, o.Repository).ignored
}
