package mgmt

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// worthZipping is how many octets a body has at least that RabbitMQ's web server compresses.
const worthZipping = 300

// A zipper is the response to a request that takes compressed answers.
type zipper struct{ http.ResponseWriter }

// zip returns a body as it is sent, and says in the header whether it is compressed.
func (z zipper) zip(body []byte) []byte {
	if len(body) < worthZipping {
		return body
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	z.Header().Set("Content-Encoding", "gzip")
	return zipped.Bytes()
}

// takesGzip reports whether the answer to a request may be compressed. RabbitMQ's web server compresses only if the header names gzip. A
// header with a wrong quality counts for nothing.
func takesGzip(r *http.Request) (takes bool) {
	if r.Method == http.MethodHead {
		return false
	}
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, quality, hasQuality := strings.Cut(part, ";")
		q := 1.0
		if hasQuality {
			value, isQuality := strings.CutPrefix(strings.ToLower(strings.TrimSpace(quality)), "q=")
			var err error
			if q, err = strconv.ParseFloat(value, 64); err != nil || !isQuality || q < 0 || q > 1 {
				return false
			}
		}
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			takes = q > 0
		}
	}
	return takes
}
