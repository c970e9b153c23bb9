package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/leveretmq/leveret/graph"
)

// The files beside the HTML. htmx and its extension for server-sent events are as their authors publish them, with
// their licences beside.

//go:embed assets
var files embed.FS

// An asset is a file that browsers may keep for as long as its tag is the same.
type asset struct {
	kind, tag string
	data      []byte
}

// assets are the files by their paths, read when somebody first looks at the page.
var assets = sync.OnceValue(func() map[string]asset {
	return map[string]asset{
		"/assets/htmx.min.js": read("htmx.min.js"),
		"/assets/sse.min.js":  read("sse.min.js"),
		"/assets/page.js":     read("page.js"),
		"/assets/page.css":    styles(),
		"/assets/icon.svg":    read("icon.svg"),
	}
})

// kinds are the media types of files, by the ends of their names.
var kinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

func read(name string) asset {
	data, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return newAsset(name, data)
}

func newAsset(name string, data []byte) asset {
	sum := sha256.Sum256(data)
	return asset{kinds[path.Ext(name)], `"` + hex.EncodeToString(sum[:8]) + `"`, data}
}

// styles are the page's and those of pictures: a picture that stands in the page must not bring a style of its own.
func styles() asset {
	css := read("page.css").data
	_, style, _ := cutPicture(new(graph.Graph).SVG())
	return newAsset("page.css", append(css, style...))
}

// cutPicture parts the style from the rest of a picture.
func cutPicture(svg string) (before, style, after string) {
	before, rest, _ := strings.Cut(svg, "<style>")
	style, after, _ = strings.Cut(rest, "</style>")
	return before, style, after
}

// serveAsset serves a file, if the request is for one.
func serveAsset(w http.ResponseWriter, r *http.Request) bool {
	a, ok := assets()[r.URL.Path]
	if !ok {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("ETag", a.tag)
	h.Set("Cache-Control", "no-cache")
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	w.Write(a.data)
	return true
}
