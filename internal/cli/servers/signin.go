package servers

import (
	"os"
	"time"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/keyring"
	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpclient/oauth"
)

// SignIn returns who signs the person in at servers, and knows what they were
// given. With nil nobody is there, and what is kept has to do. Zero patience is the
// usual one.
func SignIn(e *knack.Engine, person oauth.Person, patience time.Duration) *oauth.Client {
	return oauth.New(oauth.Options{Store: logins(e), Person: person, Patience: patience, Remedy: "run `knack mcp login NAME`"})
}

func logins(e *knack.Engine) oauth.Files {
	return oauth.Files{Dir: e.MCPLogins(), Keyring: keyring.System(os.Getenv)}
}

// SignedIn reports whether the person is signed in at a server, as far as is
// known here.
func (s *Set) SignedIn(name string) bool {
	server, err := s.fleet.Server(name)
	if err != nil || mcpclient.Authorized(server.Config) {
		return false
	}
	key, ok := oauth.Key(server.Config.URL)
	if !ok {
		return false
	}
	g, err := logins(s.o.Engine).Load(key)
	return err == nil && g.Access != ""
}
