package mgmt

import (
	"crypto/sha256"
	"errors"
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
		kind, hasParameters, ok := readRange(wanted)
		if !ok {
			return errNoMedia
		}
		if (m.parameters || !hasParameters) && m.matches(kind) {
			accepted = true
		}
	}
	if !accepted {
		return errNotAcceptable
	}
	return nil
}

const (
	mediaToken     = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
	mediaParameter = `[ \t]*;[ \t]*(` + mediaToken + `)(?:=(` + mediaToken + `|"[^"]*"))?`
)

var (
	mediaRange      = regexp.MustCompile(`^[ \t]*(` + mediaToken + `/` + mediaToken + `)((?:` + mediaParameter + `)*)[ \t]*$`)
	mediaParameters = regexp.MustCompile(mediaParameter)
	mediaQuality    = regexp.MustCompile(`^(?:[01]|0?\.[0-9]{0,3}|1\.0{0,3})$`)
)

// readRange reads a kind of answer that a request accepts. What stands before the quality are parameters of the kind, and each has a
// value. What stands behind the quality counts for nothing. The name of the quality is a small letter.
func readRange(wanted string) (kind string, hasParameters, ok bool) {
	parts := mediaRange.FindStringSubmatch(wanted)
	if parts == nil {
		return "", false, false
	}
	kind = strings.ToLower(parts[1])
	parameters := mediaParameters.FindAllStringSubmatch(parts[2], -1)
	for n, p := range parameters {
		switch name, value := p[1], p[2]; {
		case value == "":
			return kind, false, false
		case name == "q":
			return kind, n > 0, mediaQuality.MatchString(value)
		}
	}
	return kind, len(parameters) > 0, true
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

// entityTags are what If-Match and If-None-Match may have in place of a star. Commas may stand before, between and behind the tags.
var entityTags = regexp.MustCompile(`^[\s,]*(W/)?"[^"]*"(\s*,[\s,]*(W/)?"[^"]*")*[\s,]*$`)

// entityTag is the tag of what has this text.
func entityTag(data []byte) string { return fmt.Sprintf(`"%x"`, sha256.Sum256(data)) }

// checkConditions refuses a request whose conditions are not met. What has no entity tag matches none.
func (s resource) checkConditions(c *call) error {
	match, hasMatch := condition(c.request, "If-Match")
	noneMatch, hasNoneMatch := condition(c.request, "If-None-Match")
	if !hasMatch && !hasNoneMatch {
		return nil
	}
	tag, exists := s.entity(c)
	if !exists {
		if hasMatch {
			return errPrecondition
		}
		return nil
	}
	isWrong := func(condition string) bool { return condition != "*" && !entityTags.MatchString(condition) }
	if hasMatch && isWrong(match) || hasNoneMatch && isWrong(noneMatch) {
		return errMalformed
	}
	isLook := c.request.Method == http.MethodGet || c.request.Method == http.MethodHead
	isMatch := match == "" || match == "*" || slices.Contains(entityTagIn.FindAllString(match, -1), tag)
	isNone := noneMatch == "" || noneMatch != "*" && tag != "" && !strings.Contains(noneMatch, tag)
	switch {
	case isMatch && isNone:
		return nil
	case isMatch && isLook && (noneMatch == "*" || tag != ""):
		if tag != "" {
			c.header.Set("ETag", tag)
		}
		return errNotModified
	}
	return errPrecondition
}

// condition returns a header with a condition. One that is empty is wrong, and not missing.
func condition(r *http.Request, name string) (text string, given bool) {
	_, given = r.Header[name]
	return r.Header.Get(name), given
}

// entity returns the entity tag of what the path names, if it has one, and whether it is there. A request at which looking fails for
// another reason is about something that is there.
func (s resource) entity(c *call) (tag string, exists bool) {
	switch {
	case s.get == nil:
		return "", c.pathIsThere()
	case s.post != nil && c.request.Method == http.MethodPost && c.path("destination") != "":
		return "", c.bindsWhatIsThere()
	}
	answer, err := s.get(c)
	if f := (*failure)(nil); errors.As(err, &f) {
		if f.noCache {
			c.forbidCache()
		}
		return "", f.status != http.StatusNotFound
	}
	if d, ok := answer.(tagged); ok {
		data, _ := encode(d) // the answer is JSON
		tag = entityTag(data)
		c.forbidCache()
	}
	return tag, true
}

// forbidCache has the answer kept by nobody, where answers say anything about it.
func (c *call) forbidCache() {
	if c.header.Get("Cache-Control") != "" {
		c.header.Set("Cache-Control", "no-cache")
	}
}

// pathIsThere reports whether there is what the path names, if nobody can look at it.
func (c *call) pathIsThere() bool {
	v, err := c.vhost()
	if err == nil && c.path("queue") != "" {
		_, err = v.Queue(c.path("queue"))
	}
	if err == nil && c.path("exchange") != "" {
		_, err = v.Exchange(c.exchangeName("exchange"))
	}
	if err == nil && c.path("user") != "" {
		_, err = c.pathUser()
	}
	return err == nil
}

// bindsWhatIsThere reports whether both ends of a new binding are there.
func (c *call) bindsWhatIsThere() bool {
	v, err := c.vhost()
	kind, _, wrong := c.between()
	return err == nil && wrong == nil && c.endsAreThere(v, kind)
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
