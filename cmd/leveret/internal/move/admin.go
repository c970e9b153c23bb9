package move

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The management API, as far as a move needs it.

// An apiError is an answer of the management API that is not what was asked for.
type apiError struct {
	Method, Path string
	Status       int
	Reason       string
}

func (e *apiError) Error() string {
	return fmt.Sprintf("%s %s: %d %s", e.Method, e.Path, e.Status, e.Reason)
}

// get reads the answer to a GET into v.
func (b *Broker) get(path string, v any) error { return b.call(http.MethodGet, path, nil, v) }

// questionTime is how long the answer to a GET may take. What changes something may take as long as it does.
const questionTime = 2 * time.Minute

// call sends body as JSON, if there is one, and reads the answer into v, unless v is nil.
func (b *Broker) call(method, path string, body, v any) error {
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(data)
	}
	ctx := context.Background()
	if method == http.MethodGet {
		limited, cancel := context.WithTimeout(ctx, questionTime)
		defer cancel()
		ctx = limited
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(b.Admin, "/")+"/api/"+path, content)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := cmp.Or(b.HTTP, http.DefaultClient).Do(req)
	if err != nil {
		return fmt.Errorf("the management API of %v cannot be reached, of which --from-admin or --to-admin names the URL: %w", b, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case res.StatusCode >= http.StatusMultipleChoices:
		return &apiError{Method: method, Path: "/api/" + path, Status: res.StatusCode, Reason: reasonOf(data)}
	case v == nil:
		return nil
	}
	return json.Unmarshal(data, v)
}

// reasonOf is what an answer says about an error.
func reasonOf(answer []byte) string {
	var said struct {
		Error  string
		Reason any
	}
	if json.Unmarshal(answer, &said) != nil {
		return strings.TrimSpace(string(answer))
	}
	if text, ok := said.Reason.(string); ok {
		return text
	}
	return said.Error
}

// segment is the virtual host as a part of a path.
func (b *Broker) segment() string { return url.PathEscape(b.VHost) }

// A queueInfo is a queue as the management API lists it.
type queueInfo struct {
	Name       string
	Type       string
	Exclusive  bool
	AutoDelete bool `json:"auto_delete"`
	Arguments  map[string]any
}

// queues lists the queues of the virtual host.
func (b *Broker) queues() (all []queueInfo, err error) {
	err = b.get("queues/"+b.segment()+"?disable_stats=true&columns=name,type,exclusive,auto_delete,arguments", &all)
	for i := range all {
		if named, ok := all[i].Arguments["x-queue-type"].(string); ok && all[i].Type == "" {
			all[i].Type = named
		}
	}
	return all, err
}

// tags are those of the user of the management API: a list, or in older releases a text.
func (b *Broker) tags() (string, error) {
	var who struct{ Tags any }
	err := b.get("whoami", &who)
	return fmt.Sprint(who.Tags), err
}
