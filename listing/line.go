package listing

// FullLine is the line of one entry when the budget does not shorten it, cut
// only to the cap of a description (spec L-2). It tells what the entry costs.
func FullLine(e Entry, o Options) string {
	var it item
	it.begin(&e, &o)
	it.load(&o)
	return it.line()
}
