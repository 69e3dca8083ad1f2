package mcpclient_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpconfig"
)

// calls is a dialer that keeps what it was told to call, connection by connection.
type calls struct {
	changed []func()
	ends    []chan struct{}
	listed  atomic.Int32
}

func (c *calls) Dial(_ context.Context, e mcpclient.Endpoint) (*mcpclient.Connection, error) {
	end := make(chan struct{})
	c.changed, c.ends = append(c.changed, e.Changed), append(c.ends, end)
	return &mcpclient.Connection{Session: alive{end}, Tools: counted{&c.listed}}, nil
}

type counted struct{ n *atomic.Int32 }

func (c counted) ListTools(context.Context) ([]mcpclient.Tool, error) {
	c.n.Add(1)
	return nil, nil
}

func (counted) CallTool(context.Context, string, json.RawMessage, func(string)) (mcpclient.Result, error) {
	return mcpclient.Result{}, nil
}

// TestReplacedConnection: a message that arrives late from a connection that was
// replaced is no news about the server.
func TestReplacedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &calls{}
		f := mcpclient.Start(mcpclient.Options{Dialer: c, Servers: []mcpconfig.Server{{Name: "s", Transport: mcpconfig.HTTP, URL: "http://s.test"}}})
		synctest.Wait()
		close(c.ends[0])
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(c.changed) != 2 {
			t.Fatalf("%d connections", len(c.changed))
		}
		for _, tt := range []struct {
			from int
			want int32
		}{{0, 0}, {1, 1}, {0, 0}, {1, 1}} {
			before := c.listed.Load()
			c.changed[tt.from]()
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := c.listed.Load() - before; got != tt.want {
				t.Errorf("a message of connection %d: lists read %d times, want %d", tt.from+1, got, tt.want)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}
