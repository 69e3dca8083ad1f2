package fetch

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/plugin"
)

// maxPackument is the largest description of a package that is read, in bytes.
const maxPackument = 64 << 20

// A packument is what a registry says of a package.
type packument struct {
	Tags     map[string]string `json:"dist-tags"`
	Versions map[string]struct {
		Dist struct {
			Tarball   string `json:"tarball"`
			Integrity string `json:"integrity"`
		} `json:"dist"`
	} `json:"versions"`
}

// npm gets the tarball of a package and holds it against its checksum. Nothing of
// it is run, and what it depends on is not installed.
func (f Fetcher) npm(ctx context.Context, o plugin.Origin, into string) (plugin.Fetched, error) {
	config := f.npmConfig()
	registry := strings.TrimSuffix(cmp.Or(o.Registry, config.registry(o.Package)), "/")
	if registry == "" {
		var err error
		if registry, err = npmRegistry(ctx); err != nil {
			return plugin.Fetched{}, err
		}
	}
	p, err := f.packument(ctx, registry+"/"+strings.Replace(url.PathEscape(o.Package), "%40", "@", 1), config)
	if err != nil {
		return plugin.Fetched{}, err
	}
	version, err := pick(p, o.Version)
	if err != nil {
		return plugin.Fetched{}, err
	}
	dist := p.Versions[version].Dist
	path, err := f.download(ctx, dist.Tarball, config.authorization(dist.Tarball), "")
	if err != nil {
		return plugin.Fetched{}, err
	}
	defer os.Remove(path)
	if err := verify(path, dist.Integrity); err != nil {
		return plugin.Fetched{}, err
	}
	got, err := f.archive(ctx, plugin.Origin{Kind: plugin.Archive, Path: path}, into)
	got.Version = version
	return got, err
}

func (f Fetcher) packument(ctx context.Context, from string, config npmConfig) (packument, error) {
	var p packument
	resp, err := f.get(ctx, from, config.authorization(from), "application/vnd.npm.install-v1+json")
	if err != nil {
		return p, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxPackument+1))
	if err != nil {
		return p, err
	}
	if len(data) > maxPackument {
		return p, fmt.Errorf("what the registry says of it has more than %d MiB", maxPackument>>20)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("what the registry says cannot be read: %w", err)
	}
	return p, nil
}

// pick chooses a version: a tag, an exact one, or the highest of a range.
func pick(p packument, want string) (string, error) {
	want = cmp.Or(strings.TrimSpace(want), "latest")
	if tag, ok := p.Tags[want]; ok {
		want = tag
	}
	if _, ok := p.Versions[want]; ok {
		return want, nil
	}
	in, err := plugin.ParseRange(want)
	if err != nil {
		return "", fmt.Errorf("there is no version %q", want)
	}
	best := ""
	for _, v := range slices.Sorted(maps.Keys(p.Versions)) {
		if in.Has(v) && (best == "" || plugin.Compare(v, best) > 0) {
			best = v
		}
	}
	if best == "" {
		return "", fmt.Errorf("no version is in %q", want)
	}
	return best, nil
}

// verify holds a file against the sha512 of its integrity. A package without one
// is not taken: nothing would say that it is what was published.
func verify(path, integrity string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha512.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	seen := false
	for word := range strings.FieldsSeq(integrity) {
		text, ok := strings.CutPrefix(word, "sha512-")
		if !ok {
			continue
		}
		seen = true
		text, _, _ = strings.Cut(text, "?")
		want, err := base64.StdEncoding.DecodeString(text)
		if err == nil && subtle.ConstantTimeCompare(want, sum.Sum(nil)) == 1 {
			return nil
		}
	}
	if !seen {
		return errors.New("the registry gives no sha512 for it, so it cannot be verified")
	}
	return errors.New("what arrived is not what the registry says it is: the sha512 differs")
}

// npmConfig is what the person's npm is configured with, keys in lower case.
type npmConfig map[string]string

// npmConfig reads the environment and the person's .npmrc. That of a directory is
// not read: a repository must not say where packages come from.
func (f Fetcher) npmConfig() npmConfig {
	c := npmConfig{}
	path := cmp.Or(f.getenv("npm_config_userconfig"), f.getenv("NPM_CONFIG_USERCONFIG"))
	if path == "" {
		home := f.Home
		if home == "" {
			home, _ = os.UserHomeDir() // without one there is no such file
		}
		path = filepath.Join(home, ".npmrc")
	}
	if file, err := os.Open(path); err == nil {
		defer file.Close()
		s := bufio.NewScanner(file)
		for s.Scan() {
			line := strings.TrimSpace(s.Text())
			key, value, ok := strings.Cut(line, "=")
			if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
				continue
			}
			value = strings.Trim(strings.TrimSpace(value), `"'`)
			c[strings.TrimSpace(key)] = os.Expand(value, func(name string) string { return f.getenv(name) })
		}
	}
	if r := cmp.Or(f.getenv("npm_config_registry"), f.getenv("NPM_CONFIG_REGISTRY")); r != "" {
		c["registry"] = r
	}
	return c
}

// npmRegistry asks npm itself where it gets packages when nothing names a place:
// which one that is, is npm's to know.
func npmRegistry(ctx context.Context) (string, error) {
	const fix = "set npm_config_registry, or `registry=` in ~/.npmrc, or the registry of the source"
	out, err := exec.CommandContext(ctx, "npm", "config", "get", "registry").Output()
	if err != nil {
		return "", fmt.Errorf("no npm registry is configured, and npm does not name its own (%w): %s", err, fix)
	}
	at := strings.TrimSuffix(strings.TrimSpace(string(out)), "/")
	if u, err := url.Parse(at); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return "", fmt.Errorf("npm names no registry but %q: %s", at, fix)
	}
	return at, nil
}

// registry is where a package is to be had; empty when no setting says.
func (c npmConfig) registry(pkg string) string {
	if scope, _, ok := strings.Cut(pkg, "/"); ok && c[scope+":registry"] != "" {
		return c[scope+":registry"]
	}
	return c["registry"]
}

// authorization is the header for a URL: that of the longest path of the same
// host that has one.
func (c npmConfig) authorization(to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return ""
	}
	for at := "//" + u.Host + u.Path; len(at) > 2; {
		for _, key := range []string{at, at + "/"} {
			if token := c[key+":_authToken"]; token != "" {
				return "Bearer " + token
			}
			if basic := c[key+":_auth"]; basic != "" {
				return "Basic " + basic
			}
		}
		i := strings.LastIndexByte(strings.TrimSuffix(at, "/"), '/')
		if i < 2 {
			break
		}
		at = at[:i]
	}
	return ""
}
