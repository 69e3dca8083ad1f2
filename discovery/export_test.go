package discovery

// Ignored reports what git would say of a path of the repository, for tests
// that ask about more than skills directories.
func Ignored(o NestedOptions) func(rel string, isDir bool) (pattern, file string, yes bool) {
	if o.Files == nil {
		o.Files = OS{}
	}
	return newIgnores(o, o.WorkDir, o.Repository).ignored
}
