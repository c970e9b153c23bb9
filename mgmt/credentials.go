package mgmt

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/leveretmq/leveret/internal/erl"
)

// digest is how a header of digest authentication goes on behind its scheme.
var digest = regexp.MustCompile(`^\w+=("[^"]*"|[^\s",]+)(\s*,\s*\w+=("[^"]*"|[^\s",]+))*$`)

// credentials returns the name and the password of a request. RabbitMQ fails at a header that it cannot read, asks for basic
// authentication if there is none or a digest, and finds that a token is of no user.
func credentials(r *http.Request) (name, password string, err error) {
	given, ok := r.Header["Authorization"]
	if !ok {
		return "", "", errChallenge
	}
	scheme, rest, _ := strings.Cut(given[0], " ")
	rest = strings.TrimSpace(rest)
	switch scheme = strings.ToLower(scheme); {
	case scheme == "basic":
		data, err := erl.DecodeBase64(rest)
		name, password, isPair := strings.Cut(string(data), ":")
		if err != nil || !isPair {
			return "", "", errMalformed
		}
		return name, password, nil
	case scheme == "bearer" && rest != "":
		return "", "", errNotAuthorized
	case scheme == "digest" && digest.MatchString(rest):
		return "", "", errChallenge
	}
	return "", "", errMalformed
}
