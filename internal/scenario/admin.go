package scenario

import (
	"errors"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret"
)

// outcome writes the refusal of an administrative call: its reason only.
func (r *run) outcome(err error) ([]string, error) {
	var e *leveret.Error
	if errors.As(err, &e) {
		text := strings.ReplaceAll(r.render.hideTerm(e.Reason), r.driver.VHost(), "/")
		return []string{"refused: " + strings.ReplaceAll(strings.TrimSpace(text), "\n", `\n`)}, nil
	}
	return nil, err
}

// refused writes a refusal that consoles word differently, without its reason.
func (r *run) refused(err error) ([]string, error) {
	out, err := r.outcome(err)
	if out != nil {
		out = []string{"refused"}
	}
	return out, err
}

// policy NAME PATTERN {definition} [apply-to=] [priority=]; operator-policy likewise.
func policy(r *run, s *session, w *words) ([]string, error) {
	p := leveret.Policy{Name: w.word("a name"), Pattern: w.word("a pattern"), Definition: leveret.Table{}}
	if len(w.pos) > 0 {
		def, ok := FieldsOf(w.next("a definition").Value)
		if !ok {
			fail("the definition must be a table")
		}
		p.Definition = jsonTable(def)
	}
	p.ApplyTo = leveret.ApplyTo(w.str("apply-to"))
	if v, ok := w.take("priority"); ok {
		switch n := v.(type) {
		case float64:
			p.Priority = n
		case int32:
			p.Priority = float64(n)
		}
	}
	w.done()
	return r.outcome(r.driver.SetPolicy(p, w.step.Verb == "operator-policy"))
}

// jsonTable makes integers long and tables objects, as they are when a definition arrives as JSON.
func jsonTable(f leveret.Fields) leveret.Table {
	t := TableOf(f)
	for k, v := range t {
		t[k] = jsonValue(v)
	}
	return t
}

func jsonValue(v any) any {
	switch v := v.(type) {
	case int32:
		return int64(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = jsonValue(v[i])
		}
		return list
	case leveret.Fields:
		return jsonTable(v)
	}
	return v
}

func clearPolicy(r *run, s *session, w *words) ([]string, error) {
	name := w.word("a name")
	w.done()
	return r.outcome(r.driver.ClearPolicy(name, w.step.Verb == "clear-operator-policy"))
}

// own is a name of a user or a virtual host. What is made for this run only has the name of the run's virtual host in its own:
// a script writes / for that.
func (r *run) own(name string) string { return strings.ReplaceAll(name, "/", r.driver.VHost()) }

// operator takes vhost=NAME, the virtual host that a statement is about if that is not the run's.
func (r *run) operator(w *words) Admin {
	if vhost := w.str("vhost"); vhost != "" {
		return r.driver.In(r.own(vhost))
	}
	return r.driver
}

// create-vhost NAME: the administrator has all permissions in it.
func createVHost(r *run, s *session, w *words) ([]string, error) {
	name := r.own(w.word("a name"))
	w.done()
	return r.outcome(r.driver.In(name).CreateVHost())
}

// delete-vhost NAME
func deleteVHost(r *run, s *session, w *words) ([]string, error) {
	name := r.own(w.word("a name"))
	w.done()
	return r.refused(r.driver.In(name).DeleteVHost())
}

// delete-user NAME
func deleteUser(r *run, s *session, w *words) ([]string, error) {
	name := r.own(w.word("a name"))
	w.done()
	return r.refused(r.driver.DeleteUser(name))
}

// user NAME [tags=[…]]: its password is its name.
func user(r *run, s *session, w *words) ([]string, error) {
	name := r.own(w.word("a name"))
	v, _ := w.take("tags")
	tags, _ := stringArray(v)
	w.done()
	return r.outcome(r.driver.AddUser(name, name, tags))
}

// permit USER [configure=] [write=] [read=] [vhost=]
func permit(r *run, s *session, w *words) ([]string, error) {
	name, operator := r.own(w.word("a user")), r.operator(w)
	p := leveret.Permissions{Configure: w.str("configure"), Write: w.str("write"), Read: w.str("read")}
	w.done()
	return r.outcome(operator.SetPermissions(name, p))
}

func forbid(r *run, s *session, w *words) ([]string, error) {
	name, operator := r.own(w.word("a user")), r.operator(w)
	w.done()
	return r.outcome(operator.ClearPermissions(name))
}

// permit-topic USER EXCHANGE [write=] [read=]. Of a refusal only what is at fault is shown.
func permitTopic(r *run, s *session, w *words) ([]string, error) {
	name, exchange := r.own(w.word("a user")), w.word("an exchange")
	p := leveret.TopicPermissions{Write: w.str("write"), Read: w.str("read")}
	w.done()
	if err := r.driver.SetTopicPermissions(name, exchange, p); err != nil {
		return r.atFault(err, exchange)
	}
	return nil, nil
}

func limitVHost(r *run, s *session, w *words) ([]string, error) {
	l := leveret.VHostLimits{MaxConnections: w.number("max-connections", leveret.NoLimit), MaxQueues: w.number("max-queues", leveret.NoLimit)}
	w.done()
	return r.outcome(r.driver.SetVHostLimits(l))
}

func limitUser(r *run, s *session, w *words) ([]string, error) {
	name := r.own(w.word("a user"))
	l := leveret.UserLimits{MaxConnections: w.number("max-connections", leveret.NoLimit), MaxChannels: w.number("max-channels", leveret.NoLimit)}
	w.done()
	return r.outcome(r.driver.SetUserLimits(name, l))
}

// defaultQueueType does nothing to 3.10, whose operator cannot change the type of a virtual host that is there.
func defaultQueueType(r *run, s *session, w *words) ([]string, error) {
	t := w.word("a queue type")
	w.done()
	if r.driver.Profile() == leveret.RabbitMQ310 {
		return r.outcome(nil)
	}
	return r.outcome(r.driver.SetDefaultQueueType(t))
}

// import "JSON" imports definitions into the run's virtual host.
func importDefinitions(r *run, s *session, w *words) ([]string, error) {
	json := w.word("definitions")
	w.done()
	return r.outcome(r.driver.Import(json))
}

// show QUEUE shows what configures a queue.
func show(r *run, s *session, w *words) ([]string, error) {
	name := w.word("a queue")
	w.done()
	return r.watch(w.wanted(r), func() ([]string, error) {
		q, err := r.driver.Queue(name)
		if err != nil {
			return r.outcome(err)
		}
		out := []string{q.Type}
		add := func(what, text string) {
			if text != "" && text != "{}" {
				out = append(out, what+"="+text)
			}
		}
		add("arguments", plainTable(q.Arguments))
		add("policy", q.Policy)
		add("operator-policy", q.OperatorPolicy)
		add("effective", plainTable(q.EffectivePolicy))
		add("active", q.SingleActive)
		return []string{strings.Join(out, " ")}, nil
	})
}

func plainTable(t leveret.Table) string { return plainFields(sorted(t)) }

// plainFields writes fields without the widths of their integers, which JSON does not keep.
func plainFields(fields leveret.Fields) string {
	out := leveret.Fields{}
	for _, f := range fields {
		switch n := f.Value.(type) {
		case float64:
			f.Value = bare(strconv.FormatFloat(n, 'f', -1, 64))
		case int64:
			f.Value = bare(strconv.FormatInt(n, 10))
		case int:
			f.Value = bare(strconv.Itoa(n))
		case uint8, int8, int16, uint16, uint32:
			f.Value = bare(strings.Trim(Format(n), "abcdefghijklmnopqrstuvwxyz()"))
		}
		out = append(out, f)
	}
	return Format(out)
}
