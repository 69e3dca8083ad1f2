package mcpserver

import "sync"

// background is what goes on when its call has been answered. Unlike with a
// sync.WaitGroup, one client may begin something while the end of another waits.
type background struct {
	mu   sync.Mutex
	n    int
	idle *sync.Cond // nil until somebody waits
}

// Go runs f beside its caller.
func (b *background) Go(f func()) {
	b.mu.Lock()
	b.n++
	b.mu.Unlock()
	go func() {
		defer b.done()
		f()
	}()
}

func (b *background) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n--; b.n == 0 && b.idle != nil {
		b.idle.Broadcast()
	}
}

// Wait returns when nothing goes on.
func (b *background) Wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.idle == nil {
		b.idle = sync.NewCond(&b.mu)
	}
	for b.n > 0 {
		b.idle.Wait()
	}
}
