package dir

import "os"

// Text returns the whole text of the file at path as it was when it was last
// loaded; ok is false when that was not kept, see [Cache.Preserve].
func (c *Cache) Text(path string) (text string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.roots {
		if e := k.find(path); e != nil && e.good == nil {
			if t := e.text.Load(); t != nil {
				return *t, true
			}
		}
	}
	return "", false
}

// Same reports whether the file at path still has the text that it had when it
// was last loaded. It is false where nobody knows.
func (c *Cache) Same(path string) bool {
	text, ok := c.Text(path)
	if !ok {
		return false
	}
	st, err := os.Stat(path)
	if err != nil || st.Size() != int64(len(text)) {
		return false
	}
	data, err := os.ReadFile(path)
	return err == nil && string(data) == text
}
