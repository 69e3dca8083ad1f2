// Package fetch brings the files of a plugin, a marketplace or a skill to a
// directory (spec X-3): from a directory, git, an npm registry or an archive. What
// arrives goes through package extract. No program of the other side runs: no
// hooks, no filters, no submodules, no install scripts.
package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/knack-skills/knack/extract"
	"github.com/knack-skills/knack/plugin"
)

// A Fetcher gets files. The zero value works with the environment of the process.
// It is safe for concurrent use.
type Fetcher struct {
	Client *http.Client        // nil is one of its own
	Getenv func(string) string // nil means os.Getenv
	Home   string              // where .npmrc is; empty means the home directory
	Limits extract.Limits
	// Step is told how many bytes have come, of how many; total is 0 when that is
	// not known. Nil tells nobody.
	Step func(done, total int64)
}

// Fetch brings what o names into the empty directory into.
func (f Fetcher) Fetch(ctx context.Context, o plugin.Origin, into string) (plugin.Fetched, error) {
	if err := o.Check(); err != nil {
		return plugin.Fetched{}, err
	}
	var got plugin.Fetched
	var err error
	switch o.Kind {
	case plugin.Directory:
		got, err = f.directory(ctx, o, into)
	case plugin.Git, plugin.GitHub:
		got, err = f.git(ctx, o, into)
	case plugin.NPM:
		got, err = f.npm(ctx, o, into)
	case plugin.Archive:
		got, err = f.archive(ctx, o, into)
	case plugin.Hosted:
		got, err = f.hosted(ctx, o, into)
	default:
		err = fmt.Errorf("there is nothing to get of kind %q", o.Kind)
	}
	if err != nil {
		return plugin.Fetched{}, fmt.Errorf("getting %s: %w", o, err)
	}
	return got, nil
}

func (f Fetcher) getenv(name string) string {
	if f.Getenv == nil {
		return os.Getenv(name)
	}
	return f.Getenv(name)
}

// directory copies a directory, or one below o.Root, whose other parts links of
// it may lead to.
func (f Fetcher) directory(ctx context.Context, o plugin.Origin, into string) (plugin.Fetched, error) {
	top, sub := cmp.Or(o.Root, o.Path), "."
	if o.Root != "" {
		sub = filepath.ToSlash(filepath.Clean(filepath.FromSlash(o.Path)))
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return plugin.Fetched{}, err
	}
	defer root.Close()
	return f.write(into, true, func(w *extract.Writer) error { return w.Tree(ctx, root, sub) })
}

// write runs one extraction into a directory.
func (f Fetcher) write(into string, lenient bool, fill func(w *extract.Writer) error) (plugin.Fetched, error) {
	limits := f.Limits
	limits.Lenient = lenient
	w, err := extract.New(into, limits)
	if err != nil {
		return plugin.Fetched{}, err
	}
	defer w.Close()
	if err := fill(w); err != nil {
		return plugin.Fetched{}, err
	}
	sum, err := w.Finish()
	if err != nil {
		return plugin.Fetched{}, err
	}
	if sum.Files == 0 {
		return plugin.Fetched{}, errors.New("there are no files")
	}
	return plugin.Fetched{Dir: into, Summary: sum}, nil
}

// archive unpacks a file of this machine, or one that is loaded.
func (f Fetcher) archive(ctx context.Context, o plugin.Origin, into string) (plugin.Fetched, error) {
	path := o.Path
	if o.URL != "" {
		temp, err := f.download(ctx, o.URL, "", "")
		if err != nil {
			return plugin.Fetched{}, err
		}
		defer os.Remove(temp)
		path = temp
	}
	file, err := os.Open(path)
	if err != nil {
		return plugin.Fetched{}, err
	}
	defer file.Close()
	if o.SHA256 != "" {
		sum := sha256.New()
		if _, err := io.Copy(sum, file); err != nil {
			return plugin.Fetched{}, err
		}
		if got := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(got, o.SHA256) {
			return plugin.Fetched{}, fmt.Errorf("its SHA-256 is %s, and %s was expected", got, strings.ToLower(o.SHA256))
		}
	}
	got, err := f.write(into, false, func(w *extract.Writer) error { return w.Archive(ctx, file) })
	if err != nil {
		return got, err
	}
	return got.Below(extract.Top(into, plugin.IsRoot)), nil
}

// hosted loads a marketplace.json alone.
func (f Fetcher) hosted(ctx context.Context, o plugin.Origin, into string) (plugin.Fetched, error) {
	temp, err := f.download(ctx, o.URL, "", "")
	if err != nil {
		return plugin.Fetched{}, err
	}
	defer os.Remove(temp)
	file, err := os.Open(temp)
	if err != nil {
		return plugin.Fetched{}, err
	}
	defer file.Close()
	return f.write(into, false, func(w *extract.Writer) error { return w.File("marketplace.json", false, file) })
}

// download saves what a URL holds, with the credentials given in authorization
// for the host of trusted. The caller removes the file.
func (f Fetcher) download(ctx context.Context, from, authorization, accept string) (path string, err error) {
	resp, err := f.get(ctx, from, authorization, accept)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	temp, err := os.CreateTemp("", "knack-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, temp.Close()); err != nil {
			path, err = "", errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	limit := cmp.Or(f.Limits.Bytes, extract.Standard.Bytes)
	n, err := io.Copy(temp, io.LimitReader(&counted{from: resp.Body, total: max(resp.ContentLength, 0), step: f.Step}, limit+1))
	if err != nil {
		return "", err
	}
	if n > limit {
		return "", fmt.Errorf("it has more than %d MiB", limit>>20)
	}
	return temp.Name(), nil
}

// counted tells how far a download has come.
type counted struct {
	from        io.Reader
	done, total int64
	step        func(done, total int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.done += int64(n)
	if c.step != nil {
		c.step(c.done, c.total)
	}
	return n, err
}

// get asks for a URL, over https unless it is on this machine, which holds for
// every step of a redirection.
func (f Fetcher) get(ctx context.Context, from, authorization, accept string) (*http.Response, error) {
	if err := secure(from); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	client := http.Client{}
	if f.Client != nil {
		client = *f.Client
	}
	client.CheckRedirect = func(next *http.Request, before []*http.Request) error {
		if len(before) >= 10 {
			return errors.New("too many redirections")
		}
		if first := before[0].URL; next.URL.Host != first.Host {
			next.Header.Del("Authorization")
			if plugin.Loopback(next.URL.Hostname()) && !plugin.Loopback(first.Hostname()) {
				return fmt.Errorf("it leads to %s, a server of this machine", next.URL.Host)
			}
		}
		return secure(next.URL.String())
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("%s answers %s", req.URL.Redacted(), resp.Status)
	}
	return resp, nil
}

func secure(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		return err
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !plugin.Loopback(u.Hostname())) {
		return fmt.Errorf("%s: only https is taken", u.Redacted())
	}
	return nil
}
