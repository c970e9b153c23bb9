package mgmt_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var record = flag.Bool("record", false, "write the answers of the broker at LEVERET_CONFORMANCE_ADMIN to testdata")

// A turn is a request of the conversation and what a RabbitMQ answered.
type turn struct {
	User    string `json:"user,omitempty"` // empty: guest
	Request string `json:"request"`
	Body    string `json:"request_body,omitempty"`
	Status  int    `json:"status"`
	Allow   string `json:"allow,omitempty"`
	Answer  any    `json:"answer"`
}

// TestConversation says the same to leveret as to a RabbitMQ, in testdata/conversation.txt, and compares the status, the
// methods that are allowed, whole answers that are errors, and the fields and types of others. What RabbitMQ answered
// stands in testdata; a broker at LEVERET_CONFORMANCE_ADMIN is asked anew.
func TestConversation(t *testing.T) { compareConversation(t, "conversation", turn.differences) }

// TestSettings is TestConversation for requests of testdata/settings.txt, whose answers have nothing of chance: all of an answer is
// compared.
func TestSettings(t *testing.T) { compareConversation(t, "settings", turn.differencesInFull) }

func compareConversation(t *testing.T, conversation string, differences func(w, ours turn) []string) {
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		t.Run(p.Version(), func(t *testing.T) {
			file := "testdata/" + conversation + "-" + p.Version() + ".json"
			said := recorded(t, file)
			if live, ok := liveAPI(t); ok && strings.HasPrefix(live.object("overview")["rabbitmq_version"].(string), release(p)) {
				said = live.converse(t, conversation)
			}
			if *record {
				write(t, file, said)
			}
			_, ours, _ := newAPI(t, leveret.WithProfile(p))
			compareTurns(t, said, ours.converse(t, conversation), differences)
		})
	}
}

func release(p leveret.Profile) string {
	major, rest, _ := strings.Cut(p.Version(), ".")
	minor, _, _ := strings.Cut(rest, ".")
	return major + "." + minor + "."
}

func recorded(t *testing.T, file string) (said []turn) {
	data, err := os.ReadFile(file)
	if err != nil && *record {
		return nil
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &said))
	return said
}

func write(t *testing.T, file string, said []turn) {
	var out strings.Builder
	for _, s := range said {
		data, err := json.Marshal(s)
		require.NoError(t, err)
		fmt.Fprintf(&out, ",\n%s", data)
	}
	require.NoError(t, os.WriteFile(file, []byte("["+strings.TrimPrefix(out.String(), ",")+"\n]\n"), 0o644))
}

// liveAPI returns the API of a live broker, if there is one.
func liveAPI(t *testing.T) (api, bool) {
	given, err := url.Parse(os.Getenv("LEVERET_CONFORMANCE_ADMIN"))
	if err != nil || given.Scheme != "http" {
		return api{}, false
	}
	given.User = nil
	a := api{t, given.String()}
	t.Cleanup(func() {
		a.do("DELETE", "vhosts/mgmt.test", nil)
		a.do("DELETE", "users/mgmt.user", nil)
		a.do("DELETE", "global-parameters/mgmt.test", nil)
	})
	return a, true
}

// converse sends the requests of the conversation.
func (a api) converse(t *testing.T, conversation string) (said []turn) {
	data, err := os.ReadFile("testdata/" + conversation + ".txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		s := turn{Request: line}
		if user, rest, ok := strings.Cut(line, ": "); ok && !strings.Contains(user, " ") {
			s.User, s.Request = user, rest
		}
		method, rest, _ := strings.Cut(s.Request, " ")
		path, body, _ := strings.Cut(rest, " ")
		s.Request, s.Body = method+" "+path, body
		r := a.as(orGuest(s.User), method, strings.NewReplacer("^", "%5E", "[", "%5B", "]", "%5D", "(", "%28").Replace(path), body)
		s.Status, s.Allow, s.Answer = r.status, r.header.Get("Allow"), r.body
		said = append(said, s)
	}
	return said
}

func orGuest(user string) string {
	if user == "" {
		return "guest"
	}
	return user
}

func compareTurns(t *testing.T, want, ours []turn, differences func(w, ours turn) []string) {
	require.Len(t, ours, len(want))
	for i, w := range want {
		name := strings.TrimSpace(w.User + " " + w.Request + " " + w.Body)
		for _, d := range differences(w, ours[i]) {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// differencesInFull tells how our answer is another than that of a RabbitMQ.
func (w turn) differencesInFull(ours turn) []string {
	if w.Status == ours.Status && assert.ObjectsAreEqual(w.Answer, ours.Answer) {
		return nil
	}
	return []string{fmt.Sprintf("%d %v, not %d %v", ours.Status, ours.Answer, w.Status, w.Answer)}
}

// differences tells how our answer is another than that of a RabbitMQ. RabbitMQ 3.10 tells of the allowed methods only
// where one is not.
func (w turn) differences(ours turn) (all []string) {
	if w.Status != ours.Status {
		return []string{fmt.Sprintf("status %d %v, not %d %v", ours.Status, ours.Answer, w.Status, w.Answer)}
	}
	if w.Allow != "" && w.Allow != ours.Allow {
		all = append(all, "allows "+ours.Allow+", not "+w.Allow)
	}
	isRefusal := w.Status >= 400 && w.Status < 500
	if isRefusal && !assert.ObjectsAreEqual(w.Answer, ours.Answer) {
		all = append(all, fmt.Sprintf("%v, not %v", ours.Answer, w.Answer))
	}
	if !isRefusal {
		all = append(all, differences(shapeOf(w.Answer), shapeOf(ours.Answer), notCompared)...)
	}
	return all
}
