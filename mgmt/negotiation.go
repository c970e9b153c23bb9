package mgmt

import (
	"crypto/sha256"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// What a request wants besides its path and its method: a kind of answer, conditions, a kind of body. RabbitMQ's web server
// looks at these in the order of this file.

// A media is the kind of the answers of a route.
type media struct {
	kind       string // in small letters
	parameters bool   // Accept may have parameters
	vary       string // of answers that come after Accept was looked at; empty: as before
}

// RabbitMQ can answer most routes in a second format, BERT, which is why these answers vary by Accept.
var (
	jsonOrBERT = media{kind: "application/json", vary: "accept, accept-encoding, origin"}
	jsonOnly   = media{kind: "application/json", vary: "accept-encoding, origin"}
	htmlOnly   = media{kind: "text/html", parameters: true, vary: "accept-encoding, origin"} // of routes that answer without a body
	plainOnly  = media{kind: "text/plain", parameters: true, vary: "accept-encoding, origin"}
	aFile      = media{kind: "application/octet-stream"}
	aPage      = media{kind: "text/html"}
)

// What kinds of bodies a route may take, if not every kind.
var (
	justJSON  = []string{"application/json"}
	documents = []string{"application/json", "multipart/form-data"}
	forms     = []string{"application/x-www-form-urlencoded"}
)

// media returns the kind of a route's answers, which for most is JSON or BERT.
func (r route) media() media {
	if r.as != nil {
		return *r.as
	}
	return jsonOrBERT
}

var (
	errNotAcceptable = &failure{status: http.StatusNotAcceptable}
	errNoMedia       = &failure{status: http.StatusBadRequest}
	errNotModified   = &failure{status: http.StatusNotModified}
	errPrecondition  = &failure{status: http.StatusPreconditionFailed}
	errMediaType     = &failure{status: http.StatusUnsupportedMediaType}
)

// checkAccept refuses a request that wants no answer of this kind. A quality of 0 counts like any other.
func (m media) checkAccept(r *http.Request) error {
	given, ok := r.Header["Accept"]
	if !ok {
		return nil
	}
	accepted := false
	for wanted := range strings.SplitSeq(strings.Join(given, ","), ",") {
		if strings.TrimSpace(wanted) == "" {
			continue
		}
		kind, parameters, err := parseMedia(wanted)
		if err != nil {
			return errNoMedia
		}
		delete(parameters, "q")
		mayHave := m.parameters || len(parameters) == 0
		if mayHave && m.matches(kind) {
			accepted = true
		}
	}
	if !accepted {
		return errNotAcceptable
	}
	return nil
}

func (m media) matches(kind string) bool {
	major, _, _ := strings.Cut(m.kind, "/")
	return kind == m.kind || kind == major+"/*" || kind == "*/*"
}

// parseMedia returns a media type and its parameters. Without a subtype it is none.
func parseMedia(s string) (kind string, parameters map[string]string, err error) {
	kind, parameters, err = mime.ParseMediaType(s)
	if err == nil && !strings.Contains(kind, "/") {
		err = errMediaType
	}
	return kind, parameters, err
}

// entityTagIn is one entity tag, with what makes it a weak one.
var entityTagIn = regexp.MustCompile(`(W/)?"[^"]*"`)

// entityTags are what If-Match and If-None-Match may have besides a star.
var entityTags = regexp.MustCompile(`^\s*(W/)?"[^"]*"\s*(,\s*(W/)?"[^"]*"\s*)*$`)

// entityTag is the tag of what has this text.
func entityTag(data []byte) string { return fmt.Sprintf(`"%x"`, sha256.Sum256(data)) }

// checkConditions refuses a request whose conditions are not met. What has no entity tag matches none.
func (s resource) checkConditions(c *call, h http.Header) error {
	match, noneMatch := c.request.Header.Get("If-Match"), c.request.Header.Get("If-None-Match")
	if match == "" && noneMatch == "" {
		return nil
	}
	tag, exists := s.entity(c)
	if !exists {
		if match != "" {
			return errPrecondition
		}
		return nil
	}
	for _, condition := range []string{match, noneMatch} {
		if condition != "" && condition != "*" && !entityTags.MatchString(condition) {
			return errMalformed
		}
	}
	isLook := c.request.Method == http.MethodGet || c.request.Method == http.MethodHead
	isMatch := match == "" || match == "*" || slices.Contains(entityTagIn.FindAllString(match, -1), tag)
	isNone := noneMatch == "" || noneMatch != "*" && tag != "" && !strings.Contains(noneMatch, tag)
	switch {
	case isMatch && isNone:
		return nil
	case isMatch && isLook && (noneMatch == "*" || tag != ""):
		if tag != "" {
			h.Set("ETag", tag)
		}
		return errNotModified
	}
	return errPrecondition
}

// entity returns the entity tag of what the path names, if it has one, and whether it is there. A path at which nobody can look is taken
// to be there.
func (s resource) entity(c *call) (tag string, exists bool) {
	if s.get == nil {
		return "", true
	}
	answer, err := s.get(c)
	if err != nil {
		return "", false
	}
	if d, ok := answer.(tagged); ok {
		data, _ := encode(d) // the answer is JSON
		tag = entityTag(data)
	}
	return tag, true
}

// checkContentType refuses a body of a kind that the route does not take. Most take any kind that is one.
func (s resource) checkContentType(r *http.Request) error {
	if r.Method != http.MethodPut && r.Method != http.MethodPost {
		return nil
	}
	given, ok := r.Header["Content-Type"]
	if !ok && s.takes == nil {
		return nil
	}
	kinds := strings.TrimSpace(strings.Join(given, ","))
	kind, _, err := parseMedia(kinds)
	takes := s.takes == nil || slices.Contains(s.takes, kind)
	if err != nil || !takes || strings.HasSuffix(kinds, ";") { // package mime takes a semicolon without a parameter
		return errMediaType
	}
	return nil
}
