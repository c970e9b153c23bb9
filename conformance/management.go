package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// management is a broker's HTTP API, as a scenario's operator uses it.
type management struct {
	base  *url.URL // with user and password
	vhost string
}

var _ console = (*management)(nil)

var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// do sends a request; the parts of the path are escaped each. What the broker refuses is a *leveret.Error.
func (m *management) do(method string, body any, path ...string) ([]byte, error) {
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(b)
	}
	for i, p := range path {
		path[i] = url.PathEscape(p)
	}
	return m.send(method, strings.Join(path, "/"), in)
}

func (m *management) get(path string) ([]byte, error) { return m.send("GET", path, nil) }

func (m *management) send(method, path string, in io.Reader) ([]byte, error) {
	base := strings.TrimSuffix(m.base.Scheme+"://"+m.base.Host+m.base.Path, "/")
	req, err := http.NewRequest(method, base+"/api/"+path, in)
	if err != nil {
		return nil, err
	}
	password, _ := m.base.User.Password()
	req.SetBasicAuth(m.base.User.Username(), password)
	req.Header.Set("Content-Type", "application/json")
	res, err := httpClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode < 300 {
		return out, err
	}
	return nil, refusal(res.StatusCode, out)
}

func refusal(status int, body []byte) error {
	var why struct{ Reason any }
	if json.Unmarshal(body, &why) != nil || why.Reason == nil {
		return fmt.Errorf("management: %d %s", status, body)
	}
	reason := unprinted(html.UnescapeString(fmt.Sprint(why.Reason)))
	return &leveret.Error{Code: leveret.Code(status), Reason: html.UnescapeString(reason)}
}

// unprinted returns the text whose term 3.10 shows in its place: as a text with escapes, or as numbers on several
// lines.
func unprinted(reason string) string {
	inner, begins := strings.CutPrefix(reason, "<<")
	inner, ends := strings.CutSuffix(inner, ">>")
	if !begins || !ends {
		return reason
	}
	if quoted, isText := strings.CutPrefix(inner, `"`); isText {
		return strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(strings.TrimSuffix(quoted, `"`))
	}
	var octets []byte
	for number := range strings.SplitSeq(inner, ",") {
		octet, err := strconv.ParseUint(strings.TrimSpace(number), 10, 8)
		if err != nil {
			return reason
		}
		octets = append(octets, byte(octet))
	}
	return string(octets)
}

func (m *management) version() (string, error) {
	out, err := m.do("GET", nil, "overview")
	if err != nil {
		return "", err
	}
	var overview struct {
		Version string `json:"rabbitmq_version"`
	}
	err = json.Unmarshal(out, &overview)
	return overview.Version, err
}

func (m *management) vhosts() ([]string, error) {
	out, err := m.do("GET", nil, "vhosts")
	if err != nil {
		return nil, err
	}
	var all []named
	err = json.Unmarshal(out, &all)
	return names(all), err
}

func (m *management) CreateVHost() error {
	_, err := m.do("PUT", map[string]any{}, "vhosts", m.vhost)
	return err
}

func (m *management) DeleteVHost() error {
	_, err := m.do("DELETE", nil, "vhosts", m.vhost)
	return err
}

func (m *management) DeleteUser(name string) error {
	_, err := m.do("DELETE", nil, "users", name)
	return err
}

// named is what has a name.
type named struct{ Name string }

func names(all []named) []string {
	var list []string
	for _, n := range all {
		list = append(list, n.Name)
	}
	return list
}

func (m *management) SetPolicy(p leveret.Policy, operator bool) error {
	applyTo := p.ApplyTo
	if applyTo == "" {
		applyTo = leveret.ApplyToAll
	}
	_, err := m.do("PUT", map[string]any{"pattern": p.Pattern, "definition": jsonNumbers(p.Definition), "priority": p.Priority,
		"apply-to": applyTo}, policies(operator), m.vhost, p.Name)
	return err
}

// jsonNumbers returns a definition in whose JSON a floating-point number without a fraction stays one.
func jsonNumbers(t leveret.Table) map[string]any {
	definition := make(map[string]any, len(t))
	for key, v := range t {
		if f, ok := v.(float64); ok && f == math.Trunc(f) {
			v = json.RawMessage(strconv.FormatFloat(f, 'f', 1, 64))
		}
		definition[key] = v
	}
	return definition
}

func policies(operator bool) string {
	if operator {
		return "operator-policies"
	}
	return "policies"
}

func (m *management) ClearPolicy(name string, operator bool) error {
	_, err := m.do("DELETE", nil, policies(operator), m.vhost, name)
	return err
}

// addingUsers serialises AddUser: scenarios share users, and a broker refuses to make one twice at the same time.
var addingUsers sync.Mutex

func (m *management) AddUser(name, password string, tags []string) error {
	addingUsers.Lock()
	defer addingUsers.Unlock()
	_, err := m.do("PUT", map[string]any{"password": password, "tags": strings.Join(tags, ",")}, "users", name)
	return err
}

func (m *management) SetPermissions(user string, p leveret.Permissions) error {
	_, err := m.do("PUT", map[string]any{"configure": p.Configure, "write": p.Write, "read": p.Read}, "permissions",
		m.vhost, user)
	return err
}

// ClearPermissions says nothing of permissions that are not there, as rabbitmqctl does.
func (m *management) ClearPermissions(user string) error {
	_, err := m.do("DELETE", nil, "permissions", m.vhost, user)
	var refused *leveret.Error
	if errors.As(err, &refused) && refused.Reason == "Not Found" {
		return nil
	}
	return err
}

func (m *management) clearTopicPermissions(user string) error {
	_, err := m.do("DELETE", nil, "topic-permissions", m.vhost, user)
	return err
}

func (m *management) SetTopicPermissions(user, exchange string, p leveret.TopicPermissions) error {
	_, err := m.do("PUT", map[string]any{"exchange": exchange, "write": p.Write, "read": p.Read}, "topic-permissions",
		m.vhost, user)
	return topicRefusal(err, exchange)
}

func (m *management) SetVHostLimits(l leveret.VHostLimits) error {
	if err := m.limit("vhost-limits", m.vhost, "max-queues", l.MaxQueues); err != nil {
		return err
	}
	return m.limit("vhost-limits", m.vhost, "max-connections", l.MaxConnections)
}

func (m *management) SetUserLimits(user string, l leveret.UserLimits) error {
	if err := m.limit("user-limits", user, "max-channels", l.MaxChannels); err != nil {
		return err
	}
	return m.limit("user-limits", user, "max-connections", l.MaxConnections)
}

func (m *management) limit(of, name, what string, n int) error {
	if n == leveret.NoLimit {
		_, err := m.do("DELETE", nil, of, name, what)
		return err
	}
	_, err := m.do("PUT", map[string]any{"value": n}, of, name, what)
	return err
}

func (m *management) SetDefaultQueueType(t string) error {
	_, err := m.do("PUT", map[string]any{"default_queue_type": t}, "vhosts", m.vhost)
	return err
}

func (m *management) Import(definitions string) error {
	_, err := m.do("POST", json.RawMessage(definitions), "definitions", m.vhost)
	return err
}

func (m *management) Export() ([]byte, error) { return m.do("GET", nil, "definitions", m.vhost) }

func (m *management) Queue(name string) (scenario.QueueView, error) {
	// stats come late
	b, err := m.get("queues/" + url.PathEscape(m.vhost) + "/" + url.PathEscape(name) + "?disable_stats=true")
	if err != nil {
		return scenario.QueueView{}, err
	}
	var q struct {
		Type            string
		Arguments       map[string]any
		Policy          string
		OperatorPolicy  string          `json:"operator_policy"`
		EffectivePolicy json.RawMessage `json:"effective_policy_definition"`
	}
	if err := json.Unmarshal(b, &q); err != nil {
		return scenario.QueueView{}, err
	}
	effective := map[string]any{}
	_ = json.Unmarshal(q.EffectivePolicy, &effective) // an empty one is sometimes written as a list
	return scenario.QueueView{Type: q.Type, Arguments: q.Arguments, Policy: q.Policy, OperatorPolicy: q.OperatorPolicy,
		EffectivePolicy: effective}, nil
}
