package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// rabbitmqctl is a broker's command line tool, as a scenario's operator uses it: RabbitMQ's own, or leveret ctl.
type rabbitmqctl struct {
	command []string
	vhost   string
}

var _ console = (*rabbitmqctl)(nil)

func (c *rabbitmqctl) run(stdin string, args ...string) ([]byte, error) {
	if slices.ContainsFunc(args, func(a string) bool { return strings.ContainsRune(a, 0) }) { // no process can be given it
		return nil, &leveret.Error{Code: leveret.PreconditionFailed, Reason: "an argument with a NUL"}
	}
	args = append(c.command[1:len(c.command):len(c.command)], args...)
	cmd := exec.Command(c.command[0], args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return stdout.Bytes(), err
	}
	_, reason, refused := strings.Cut("\n"+stderr.String(), "\nError:\n") // what it logs comes first
	if !refused {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, &stderr)
	}
	return nil, &leveret.Error{Code: leveret.PreconditionFailed, Reason: strings.TrimSuffix(reason, "\n")}
}

func (c *rabbitmqctl) do(args ...string) error {
	_, err := c.run("", args...)
	return err
}

// list returns a listing or a report.
func (c *rabbitmqctl) list(into any, args ...string) error {
	out, err := c.run("", append(args, "--formatter", "json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

func (c *rabbitmqctl) version() (string, error) {
	var status struct {
		Version string `json:"rabbitmq_version"`
	}
	err := c.list(&status, "status")
	return status.Version, err
}

func (c *rabbitmqctl) vhosts() ([]string, error) {
	var all []named
	err := c.list(&all, "list_vhosts")
	return names(all), err
}

func (c *rabbitmqctl) CreateVHost() error { return c.do("add_vhost", c.vhost) }

// DeleteVHost refuses what is not there, as the management API does: the command ends with a status of its own.
func (c *rabbitmqctl) DeleteVHost() error {
	all, err := c.vhosts()
	if err == nil && !slices.Contains(all, c.vhost) {
		err = &leveret.Error{Code: leveret.NotFound, Reason: "Not Found"}
	}
	if err != nil {
		return err
	}
	return c.do("delete_vhost", c.vhost)
}

// DeleteUser refuses who is not there, as the management API does: the command succeeds.
func (c *rabbitmqctl) DeleteUser(name string) error {
	var all []struct{ User string }
	if err := c.list(&all, "list_users"); err != nil {
		return err
	}
	for _, u := range all {
		if u.User == name {
			return c.do("delete_user", name)
		}
	}
	return &leveret.Error{Code: leveret.NotFound, Reason: "Not Found"}
}

// SetPolicy imports a policy whose priority is a fraction, which the command's option does not take.
func (c *rabbitmqctl) SetPolicy(p leveret.Policy, operator bool) error {
	if p.Priority != math.Trunc(p.Priority) && !operator {
		policy, err := json.Marshal(map[string]any{"name": p.Name, "pattern": p.Pattern, "definition": jsonNumbers(p.Definition),
			"priority": p.Priority, "apply-to": cmp.Or(p.ApplyTo, leveret.ApplyToAll)})
		if err != nil {
			return err
		}
		return c.Import(fmt.Sprintf(`{"policies":[%s]}`, policy))
	}
	definition, err := json.Marshal(jsonNumbers(p.Definition))
	if err != nil {
		return err
	}
	return c.do("set"+policyKind(operator), "-p", c.vhost, "--priority", strconv.FormatFloat(p.Priority, 'f', -1, 64),
		"--apply-to", string(cmp.Or(p.ApplyTo, leveret.ApplyToAll)), p.Name, p.Pattern, string(definition))
}

func policyKind(operator bool) string {
	if operator {
		return "_operator_policy"
	}
	return "_policy"
}

func (c *rabbitmqctl) ClearPolicy(name string, operator bool) error {
	return c.do("clear"+policyKind(operator), "-p", c.vhost, name)
}

// AddUser makes a user, or gives one that there is the password and the tags.
func (c *rabbitmqctl) AddUser(name, password string, tags []string) error {
	addingUsers.Lock()
	defer addingUsers.Unlock()
	err := c.do("add_user", name, password)
	var refused *leveret.Error
	if errors.As(err, &refused) {
		err = c.do("change_password", name, password)
	}
	return errors.Join(err, c.do(append([]string{"set_user_tags", name}, tags...)...))
}

func (c *rabbitmqctl) SetPermissions(user string, p leveret.Permissions) error {
	return c.do("set_permissions", "-p", c.vhost, user, p.Configure, p.Write, p.Read)
}

func (c *rabbitmqctl) ClearPermissions(user string) error {
	return c.do("clear_permissions", "-p", c.vhost, user)
}

func (c *rabbitmqctl) clearTopicPermissions(user string) error {
	return c.do("clear_topic_permissions", "-p", c.vhost, user)
}

// SetTopicPermissions imports those for an exchange whose name the command cannot be given.
func (c *rabbitmqctl) SetTopicPermissions(user, exchange string, p leveret.TopicPermissions) error {
	if strings.ContainsRune(exchange, 0) {
		grant, err := json.Marshal(map[string]any{"user": user, "exchange": exchange, "write": p.Write, "read": p.Read})
		if err != nil {
			return err
		}
		return topicRefusal(c.Import(fmt.Sprintf(`{"topic_permissions":[%s]}`, grant)), exchange)
	}
	return topicRefusal(c.do("set_topic_permissions", "-p", c.vhost, user, exchange, p.Write, p.Read), exchange)
}

func (c *rabbitmqctl) SetVHostLimits(l leveret.VHostLimits) error {
	return c.do("set_vhost_limits", "-p", c.vhost, givenLimits(map[string]int{
		"max-queues": l.MaxQueues, "max-connections": l.MaxConnections}))
}

func (c *rabbitmqctl) SetUserLimits(user string, l leveret.UserLimits) error {
	// The command leaves limits as they are that it is not told of.
	return errors.Join(c.do("clear_user_limits", user, "all"), c.do("set_user_limits", user, givenLimits(map[string]int{
		"max-channels": l.MaxChannels, "max-connections": l.MaxConnections})))
}

// givenLimits is the document with the limits that are set.
func givenLimits(limits map[string]int) string {
	maps.DeleteFunc(limits, func(_ string, n int) bool { return n == leveret.NoLimit })
	document, _ := json.Marshal(limits)
	return string(document)
}

func (c *rabbitmqctl) SetDefaultQueueType(t string) error {
	return c.do("update_vhost_metadata", c.vhost, "--default-queue-type", t)
}

func (c *rabbitmqctl) Import(definitions string) error {
	document, err := inVHost(definitions, c.vhost)
	if err != nil {
		return err
	}
	_, err = c.run(document, "import_definitions")
	return err
}

// inVHost names the virtual host in each definition of a document, because the command is not for a single one. What
// the document has twice it keeps.
func inVHost(document, vhost string) (string, error) {
	in := json.NewDecoder(strings.NewReader(document))
	if _, err := in.Token(); err != nil { // the opening brace
		return "", err
	}
	var sections []string
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return "", err
		}
		var elements []json.RawMessage
		if err := in.Decode(&elements); err != nil {
			return "", err
		}
		for i, e := range elements {
			elements[i] = fmt.Appendf(nil, `{"vhost":%q,%s`, vhost, bytes.TrimPrefix(e, []byte("{")))
		}
		section, err := json.Marshal(elements)
		if err != nil {
			return "", err
		}
		sections = append(sections, fmt.Sprintf("%q:%s", name, section))
	}
	return "{" + strings.Join(sections, ",") + "}", nil
}

// Export is not there: the command exports the whole broker.
func (c *rabbitmqctl) Export() ([]byte, error) {
	return nil, fmt.Errorf("rabbitmqctl cannot export one virtual host: %w", errors.ErrUnsupported)
}

func (c *rabbitmqctl) Queue(name string) (scenario.QueueView, error) {
	var rows []struct {
		Name, Type, Policy string
		Arguments          columnTable
		OperatorPolicy     string      `json:"operator_policy"`
		EffectivePolicy    columnTable `json:"effective_policy_definition"`
	}
	err := c.list(&rows, "list_queues", "-p", c.vhost,
		"name", "type", "policy", "arguments", "operator_policy", "effective_policy_definition")
	if err != nil {
		return scenario.QueueView{}, err
	}
	for _, q := range rows {
		if q.Name == name {
			return scenario.QueueView{Type: q.Type, Arguments: leveret.Table(q.Arguments), Policy: q.Policy,
				OperatorPolicy: q.OperatorPolicy, EffectivePolicy: leveret.Table(q.EffectivePolicy)}, nil
		}
	}
	return scenario.QueueView{}, fmt.Errorf("no queue '%s' in the listing", name)
}

// A columnTable is a table in a column: an object, or a list of [name, value] or [name, type, value].
type columnTable leveret.Table

func (t *columnTable) UnmarshalJSON(text []byte) error {
	*t = columnTable{}
	var fields [][]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return json.Unmarshal(text, (*map[string]any)(t))
	}
	for _, f := range fields {
		name, ok := f[0].(string)
		if !ok {
			return fmt.Errorf("no table: %s", text)
		}
		(*t)[name] = f[len(f)-1]
	}
	return nil
}
