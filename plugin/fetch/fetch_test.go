package fetch_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/plugin/fetch"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get fetches into a new directory and returns the files that arrived.
func get(t *testing.T, f fetch.Fetcher, o plugin.Origin) (plugin.Fetched, string, error) {
	t.Helper()
	into := t.TempDir()
	got, err := f.Fetch(t.Context(), o, into)
	var names []string
	must(t, filepath.WalkDir(cmpOr(got.Dir, into), func(path string, e fs.DirEntry, err error) error {
		if !e.IsDir() {
			rel, _ := filepath.Rel(cmpOr(got.Dir, into), path)
			names = append(names, filepath.ToSlash(rel))
			if !e.Type().IsRegular() {
				t.Errorf("%s is no plain file", rel)
			}
		}
		return err
	}))
	slices.Sort(names)
	return got, strings.Join(names, " "), err
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// git runs real git in a directory.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes a repository with two commits, links, a program, and everything
// that git could be made to run: hooks, a filter, a submodule.
func repository(t *testing.T) (dir, first, second string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, data string, mode fs.FileMode) {
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(data), mode))
	}
	git(t, dir, "init", "-q", "-b", "main")
	write("skills/a/SKILL.md", "one", 0o644)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "one")
	first = git(t, dir, "rev-parse", "HEAD")
	git(t, dir, "tag", "v1")
	write("skills/a/SKILL.md", "two", 0o644)
	write("plugins/my/skills/s/SKILL.md", "s", 0o644)
	write("plugins/my/run.sh", "#!", 0o755)
	write(".gitattributes", "* filter=evil\n", 0o644)
	write(".gitmodules", "[submodule \"m\"]\n\tpath = m\n\turl = ext::sh -c touch% ran\n", 0o644)
	must(t, os.Symlink("plugins/my/skills/s", filepath.Join(dir, "linked")))
	must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "out")))
	git(t, dir, "add", "-A")
	git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+first+",m")
	git(t, dir, "commit", "-qm", "two")
	return dir, first, git(t, dir, "rev-parse", "HEAD")
}

// TestGit reads one commit of a real repository (spec X-3): files, links inside
// as copies, a directory of it, a tag, a commit that no name leads to.
func TestGit(t *testing.T) {
	dir, first, second := repository(t)
	url := "file://" + filepath.ToSlash(dir)
	all := ".gitattributes .gitmodules linked/SKILL.md plugins/my/run.sh plugins/my/skills/s/SKILL.md skills/a/SKILL.md"
	tests := []struct {
		name   string
		origin plugin.Origin
		commit string
		files  string
	}{
		{"head", plugin.Origin{Kind: plugin.Git, URL: url}, second, all},
		{"path", plugin.Origin{Kind: plugin.Git, URL: dir}, second, all},
		{"tag", plugin.Origin{Kind: plugin.Git, URL: url, Ref: "v1"}, first, "skills/a/SKILL.md"},
		{"commit", plugin.Origin{Kind: plugin.Git, URL: url, SHA: first}, first, "skills/a/SKILL.md"},
		{"commit beats branch", plugin.Origin{Kind: plugin.Git, URL: url, Ref: "main", SHA: first}, first, "skills/a/SKILL.md"},
		{"directory", plugin.Origin{Kind: plugin.Git, URL: url, Path: "plugins/my"}, second, "run.sh skills/s/SKILL.md"},
		{"directory with a dot", plugin.Origin{Kind: plugin.Git, URL: url, Path: "./plugins/my/"}, second, "run.sh skills/s/SKILL.md"},
	}
	for _, tt := range tests {
		got, files, err := get(t, fetch.Fetcher{}, tt.origin)
		if err != nil || got.Commit != tt.commit || files != tt.files {
			t.Errorf("%s: %s at %s, %v", tt.name, files, got.Commit, err)
		}
		if tt.name == "head" && (!strings.Contains(strings.Join(got.Summary.Skipped, "; "), "out is a link that leads out") ||
			!strings.Contains(strings.Join(got.Summary.Skipped, "; "), "m is a repository") || strings.Join(got.Summary.Programs, " ") != "plugins/my/run.sh") {
			t.Errorf("%+v", got.Summary)
		}
	}
}

// TestGitRefuses what names nothing, and what would make git run a program.
func TestGitRefuses(t *testing.T) {
	dir, first, _ := repository(t)
	for _, o := range []plugin.Origin{
		{Kind: plugin.Git, URL: dir, Ref: "nope"},
		{Kind: plugin.Git, URL: dir, SHA: strings.Repeat("0", 40)},
		{Kind: plugin.Git, URL: dir, Path: "nope"},
		{Kind: plugin.Git, URL: dir, Path: "../x"},
		{Kind: plugin.Git, URL: "ext::sh -c touch% ran"},
		{Kind: plugin.Git, URL: "--upload-pack=touch ran"},
		{Kind: plugin.Git, URL: "ssh://-oProxyCommand=touch/x"},
		{Kind: plugin.Git, URL: dir, Ref: "--upload-pack=x"},
		{Kind: plugin.Git, URL: dir, Ref: "a..b"},
		{Kind: plugin.Git, URL: dir, SHA: first[:10]},
		{Kind: plugin.Git, URL: "http://example.org/x.git"},
		{Kind: plugin.GitHub, Repo: "../x"},
	} {
		if got, files, err := get(t, fetch.Fetcher{}, o); err == nil || files != "" {
			t.Errorf("%+v: %+v %s", o, got, files)
		}
	}
}

// packed makes a tar.gz of files below "package/", as npm does.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, data := range files {
		must(t, w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg}))
		_, err := io.WriteString(w, data)
		must(t, err)
	}
	must(t, w.Close())
	must(t, z.Close())
	return b.Bytes()
}

func integrity(data []byte) string {
	sum := sha512.Sum512(data)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// registry serves one package in several versions, to those who know the token.
func registry(t *testing.T) *httptest.Server {
	t.Helper()
	tarball := packed(t, map[string]string{"skills/s/SKILL.md": "s", "package.json": `{"scripts": {"postinstall": "touch ran"}}`})
	mux := http.NewServeMux()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/closed/") && r.Header.Get("Authorization") != "Bearer s3cret" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	version := func(integrity string) map[string]any {
		return map[string]any{"dist": map[string]any{"tarball": server.URL + "/t/p.tgz", "integrity": integrity}}
	}
	doc := map[string]any{
		"dist-tags": map[string]string{"latest": "1.10.0", "next": "2.0.0-beta.1"},
		"versions": map[string]any{
			"1.9.0": version(integrity(tarball)), "1.10.0": version(integrity(tarball)), "2.0.0-beta.1": version(integrity(tarball)),
			"3.0.0": version(integrity([]byte("other"))), "4.0.0": version(""), "5.0.0": version("sha1-abc"),
		},
	}
	answer := func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(doc) }
	mux.HandleFunc("/open/@team%2fplugin", answer)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.EscapedPath(), "/@team%2Fplugin"):
			answer(w, r)
		case r.URL.Path == "/t/p.tgz":
			_, _ = w.Write(tarball)
		default:
			http.NotFound(w, r)
		}
	})
	return server
}

// TestNPM installs from a registry (spec X-3): versions by number, the checksum
// verified, the registry and the token from the person's npm settings.
func TestNPM(t *testing.T) {
	server := registry(t)
	home := t.TempDir()
	must(t, os.WriteFile(filepath.Join(home, ".npmrc"), []byte(
		"; comment\n@team:registry = "+server.URL+"/closed/\n"+strings.TrimPrefix(server.URL, "http:")+"/closed/:_authToken=${TOKEN}\n"), 0o600))
	env := map[string]string{"TOKEN": "s3cret"}
	f := fetch.Fetcher{Home: home, Getenv: func(name string) string { return env[name] }}
	for want, version := range map[string]string{"": "1.10.0", "latest": "1.10.0", "next": "2.0.0-beta.1", "1.9.0": "1.9.0", "^1.0.0": "1.10.0", "~1.9": "1.9.0", "1.x || 0.1": "1.10.0"} {
		got, files, err := get(t, f, plugin.Origin{Kind: plugin.NPM, Package: "@team/plugin", Version: want})
		if err != nil || got.Version != version || files != "package.json skills/s/SKILL.md" {
			t.Errorf("%q: %s %s %v", want, got.Version, files, err)
		}
	}
	for version, why := range map[string]string{"3.0.0": "sha512 differs", "4.0.0": "cannot be verified", "5.0.0": "cannot be verified", "^9": "no version", "nope": "no version"} {
		if _, files, err := get(t, f, plugin.Origin{Kind: plugin.NPM, Package: "@team/plugin", Version: version}); err == nil || !strings.Contains(err.Error(), why) || files != "" {
			t.Errorf("%s: %s %v", version, files, err)
		}
	}
	env["TOKEN"] = "wrong"
	if _, _, err := get(t, f, plugin.Origin{Kind: plugin.NPM, Package: "@team/plugin"}); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("without the token: %v", err)
	}
	env = map[string]string{"npm_config_registry": server.URL + "/open", "npm_config_userconfig": filepath.Join(home, "none")}
	if got, _, err := get(t, f, plugin.Origin{Kind: plugin.NPM, Package: "@team/plugin"}); err != nil || got.Version != "1.10.0" {
		t.Errorf("registry of the environment: %+v %v", got, err)
	}
	// When nothing is configured, npm says where it gets packages; without npm
	// the person is told what to set.
	delete(env, "npm_config_registry")
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	if _, _, err := get(t, f, plugin.Origin{Kind: plugin.NPM, Package: "@team/plugin"}); err == nil || !strings.Contains(err.Error(), "npm_config_registry") {
		t.Errorf("without npm: %v", err)
	}
	if runtime.GOOS != "windows" { // whose programs are no scripts
		must(t, os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\necho "+server.URL+"/open/\n"), 0o700))
		if got, _, err := get(t, f, plugin.Origin{Kind: plugin.NPM, Package: "@team/plugin"}); err != nil || got.Version != "1.10.0" {
			t.Errorf("the registry that npm names: %+v %v", got, err)
		}
	}
}

// TestArchive gets archives from this machine and over HTTP (spec X-3).
func TestArchive(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("folder/skills/s/SKILL.md")
	must(t, err)
	_, err = io.WriteString(f, "s")
	must(t, err)
	must(t, w.Close())
	sum := sha256.Sum256(b.Bytes())
	digest := hex.EncodeToString(sum[:])
	file := filepath.Join(t.TempDir(), "p.zip")
	must(t, os.WriteFile(file, b.Bytes(), 0o600))
	mux := http.NewServeMux()
	mux.HandleFunc("/p.zip", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b.Bytes()) })
	mux.HandleFunc("/moved.zip", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/p.zip", http.StatusFound) })
	mux.HandleFunc("/away.zip", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://example.org/p.zip", http.StatusFound)
	})
	mux.HandleFunc("/page.zip", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	var done int64
	fetcher := fetch.Fetcher{Step: func(n, _ int64) { done = n }}
	for _, o := range []plugin.Origin{
		{Kind: plugin.Archive, Path: file}, {Kind: plugin.Archive, Path: file, SHA256: strings.ToUpper(digest)},
		{Kind: plugin.Archive, URL: server.URL + "/p.zip", SHA256: digest}, {Kind: plugin.Archive, URL: server.URL + "/moved.zip"},
	} {
		got, files, err := get(t, fetcher, o)
		if err != nil || files != "skills/s/SKILL.md" || filepath.Base(got.Dir) != "folder" {
			t.Errorf("%+v: %s %v", o, files, err)
		}
	}
	if done != int64(b.Len()) {
		t.Errorf("told of %d of %d bytes", done, b.Len())
	}
	for _, o := range []plugin.Origin{
		{Kind: plugin.Archive, Path: file, SHA256: strings.Repeat("0", 64)}, {Kind: plugin.Archive, URL: server.URL + "/away.zip"},
		{Kind: plugin.Archive, URL: server.URL + "/page.zip"}, {Kind: plugin.Archive, URL: server.URL + "/gone.zip"},
		{Kind: plugin.Archive, URL: "http://example.org/p.zip"}, {Kind: plugin.Archive, Path: file + "x"},
	} {
		if _, files, err := get(t, fetcher, o); err == nil || files != "" {
			t.Errorf("%+v: %s", o, files)
		}
	}
	small := fetch.Fetcher{}
	small.Limits.Bytes = 10
	if _, _, err := get(t, small, plugin.Origin{Kind: plugin.Archive, URL: server.URL + "/p.zip"}); err == nil {
		t.Error("a download over the limit was taken")
	}
}
