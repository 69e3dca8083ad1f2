package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpclient/oauth"
	"github.com/knack-skills/knack/mcpclient/sdk"
	"github.com/knack-skills/knack/mcpconfig"
)

// ScenarioVariable names the scenario that the suite wants its client for.
const ScenarioVariable = "MCP_CONFORMANCE_SCENARIO"

// contextVariable holds what a scenario tells its client, as JSON: such as a
// client id that was registered by hand.
const contextVariable = "MCP_CONFORMANCE_CONTEXT"

// document is the address that the suite wants a client to introduce itself with.
const document = "https://conformance-test.local/client-metadata.json"

// willing says yes to everything: its browser follows where it is sent.
type willing struct{}

// Visit implements [oauth.Person].
func (willing) Visit(ctx context.Context, page string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	return "", res.Body.Close()
}

// clientPatience is how long the client of the suite waits for its server.
const clientPatience = 20 * time.Second

// arguments are those of the tools of the suite that need some.
var arguments = map[string]string{"add_numbers": `{"a": 5, "b": 3}`}

// Client is the program that the suite runs against its own servers: it connects
// as a session does, to the server whose URL is the last argument, and calls
// each tool that is listed. It writes what comes of it to out.
func Client(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("the URL of a server is missing")
	}
	server := mcpconfig.Server{Name: "suite", Transport: mcpconfig.HTTP, URL: args[len(args)-1]}
	var known struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if raw := os.Getenv(contextVariable); raw != "" {
		if err := json.Unmarshal([]byte(raw), &known); err != nil {
			return fmt.Errorf("%s: %w", contextVariable, err)
		}
		server.OAuth.ClientID, server.OAuth.ClientSecret = known.ID, known.Secret
	}
	dir, err := os.MkdirTemp("", "knack-suite-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f := mcpclient.Start(mcpclient.Options{
		Servers: []mcpconfig.Server{server},
		Dialer:  sdk.Dialer{Version: "test"},
		Access:  oauth.New(oauth.Options{Store: oauth.Files{Dir: dir}, Person: willing{}, Metadata: document}),
		Notice:  func(text string) { fmt.Fprintln(out, text) },
	})
	err = callAll(ctx, f, out)
	return errors.Join(err, f.Close())
}

func callAll(ctx context.Context, f *mcpclient.Fleet, out io.Writer) error {
	f.Wait(ctx, clientPatience, nil)
	s, err := f.Server("suite")
	if err != nil {
		return err
	}
	if state, err := s.Status(); state != mcpclient.Connected {
		return fmt.Errorf("the server is %s: %w", state, err)
	}
	var failed []error
	for _, tool := range s.Tools() {
		args := arguments[tool.Name]
		if args == "" {
			args = "{}"
		}
		r, err := s.Call(ctx, tool.Name, json.RawMessage(args), nil)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", tool.Name, err))
			continue
		}
		fmt.Fprintf(out, "%s: %s\n", tool.Name, strings.TrimSpace(mcpclient.Text(r.Content)))
	}
	return errors.Join(failed...)
}
