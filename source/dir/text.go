package dir

import (
	"os"
	"path/filepath"
)

// Text returns the whole text of the file at path as it was when it was last
// loaded; ok is false when that was not kept, see [Cache.Preserve].
func (c *Cache) Text(path string) (text string, ok bool) {
	e := c.entry(path)
	if e == nil {
		return "", false
	}
	return *e.text.Load(), true
}

// entry returns the entry of a file whose text is kept.
func (c *Cache) entry(path string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.roots {
		if e := k.find(path); e != nil && e.good == nil && e.text.Load() != nil {
			return e
		}
	}
	return nil
}

// Same compares the file at path with what it was when it was last loaded: does
// it have the same text, and is it the same file, or one in its place? Both are
// false where nobody knows.
func (c *Cache) Same(path string) (text, file bool) {
	e := c.entry(path)
	if e == nil {
		return false, false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false, false
	}
	var in info
	if err := lstat(real, &in); err != nil || !in.regular || in.Size != e.stamp.Size {
		return false, false
	}
	data, err := os.ReadFile(real)
	if err != nil || string(data) != *e.text.Load() {
		return false, false
	}
	return true, in.Device == e.stamp.Device && in.Inode == e.stamp.Inode && real == physical(filepath.Dir(e.real))+string(filepath.Separator)+filepath.Base(e.real)
}
