package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// An Exporter collects what ends and what is measured, and sends it from one
// goroutine. It is safe for concurrent use.
type Exporter struct {
	config Config
	client *http.Client
	now    func() time.Time
	began  time.Time

	full chan struct{} // a batch is waiting
	quit chan struct{} // closed when run must end
	stop func()        // breaks off its request
	done chan struct{} // closed when it has ended
	once sync.Once

	mu      sync.Mutex // guards the fields below
	spans   []*span    // ended, and not sent
	metrics []*histogram
	closed  bool
	dropped int   // spans
	failed  error // the last request, if it failed
}

// The sizes of the specification: a batch is sent when it is full, and what
// waits beyond the queue is dropped.
const (
	batchSize = 512
	queueSize = 2048
)

// Start begins to collect. client may be nil; its timeout does not count.
func Start(c Config, client *http.Client) *Exporter {
	own := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}
	if client != nil {
		own = *client
	}
	// A redirect would carry headers with keys to somebody else.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ctx, stop := context.WithCancel(context.Background())
	e := &Exporter{config: c, client: &own, now: time.Now, began: time.Now(),
		full: make(chan struct{}, 1), quit: make(chan struct{}), stop: stop, done: make(chan struct{})}
	go e.run(ctx)
	return e
}

// histogram returns the one histogram of a name.
func (e *Exporter) histogram(s scope, name, unit, description string, bounds []float64) *histogram {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.metrics {
		if h.scope == s && h.name == name && h.unit == unit {
			return h
		}
	}
	h := newHistogram(s, name, unit, description, bounds)
	e.metrics = append(e.metrics, h)
	return h
}

// queue takes an ended span.
func (e *Exporter) queue(s *span) {
	if e.config.Traces.URL == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.spans) >= queueSize {
		e.dropped++
		return
	}
	e.spans = append(e.spans, s)
	if len(e.spans) >= batchSize {
		select {
		case e.full <- struct{}{}:
		default:
		}
	}
}

// run sends until Close.
func (e *Exporter) run(ctx context.Context) {
	defer close(e.done)
	spans, metrics := time.NewTicker(e.config.Every), time.NewTicker(e.config.MetricsEvery)
	defer spans.Stop()
	defer metrics.Stop()
	for {
		select {
		case <-e.quit:
			return
		case <-spans.C:
			e.note(e.sendSpans(ctx))
		case <-e.full:
			e.note(e.sendSpans(ctx))
		case <-metrics.C:
			e.note(e.sendMetrics(ctx))
		}
	}
}

func (e *Exporter) note(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failed = err
}

// Close sends what is left, until ctx ends, and stops. Its error says what was
// lost and why.
func (e *Exporter) Close(ctx context.Context) error {
	first := false
	e.once.Do(func() { first = true; close(e.quit) })
	if !first {
		return nil
	}
	select {
	case <-e.done:
	case <-ctx.Done():
		e.stop() // its spans wait again
		<-e.done
	}
	e.stop()
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	var spans, metrics error
	var both sync.WaitGroup
	both.Go(func() { spans = e.sendSpans(ctx) })
	both.Go(func() { metrics = e.sendMetrics(ctx) })
	both.Wait()
	e.client.CloseIdleConnections()
	e.mu.Lock()
	defer e.mu.Unlock()
	lost := e.dropped + len(e.spans)
	if err := errors.Join(spans, metrics); err != nil {
		return fmt.Errorf("telemetry was not sent (%d spans are lost): %w", lost, err)
	}
	if e.dropped > 0 {
		return fmt.Errorf("%d spans are lost, because they could not be sent in time; the last error: %v", e.dropped, e.failed)
	}
	return nil
}

// sendSpans sends all spans that wait, a batch at a time. Those of a request
// that may succeed later wait again; those that are refused are lost.
func (e *Exporter) sendSpans(ctx context.Context) error {
	for {
		e.mu.Lock()
		batch := slices.Clone(e.spans[:min(len(e.spans), batchSize)])
		e.mu.Unlock()
		if len(batch) == 0 {
			return nil
		}
		body, err := spansJSON(e.config.Resource, batch)
		again := false
		if err == nil {
			again, err = e.post(ctx, e.config.Traces, body)
		}
		e.mu.Lock()
		if !again {
			e.spans = slices.Delete(e.spans, 0, len(batch)) // others only append
			if err != nil {
				e.dropped += len(batch)
			}
		}
		e.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

func (e *Exporter) sendMetrics(ctx context.Context) error {
	if e.config.Metrics.URL == "" {
		return nil
	}
	e.mu.Lock()
	list := slices.Clone(e.metrics)
	e.mu.Unlock()
	body, err := metricsJSON(e.config.Resource, list, e.began, e.now())
	if err != nil || body == nil {
		return err
	}
	_, err = e.post(ctx, e.config.Metrics, body) // the next sum holds what this one lost
	return err
}

// post sends one request. again says that the same may succeed later.
func (e *Exporter) post(ctx context.Context, t Target, body []byte) (again bool, err error) {
	ctx, stop := context.WithTimeout(ctx, t.Timeout)
	defer stop()
	if t.Gzip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, werr := z.Write(body)
		if err := errors.Join(werr, z.Close()); err != nil {
			return false, err
		}
		body = b.Bytes()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	for k, v := range t.Headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "knack-otlp")
	if t.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := e.client.Do(req)
	if err != nil {
		return true, err
	}
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be used again
	_ = res.Body.Close()
	if res.StatusCode/100 == 2 {
		return false, nil
	}
	return slices.Contains([]int{429, 502, 503, 504}, res.StatusCode), fmt.Errorf("%s answers %s", req.URL.Redacted(), res.Status)
}
