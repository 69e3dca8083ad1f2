//go:build !unix

package scan

// noFollow has no meaning here; os.Root stays inside the directory.
const noFollow = 0
