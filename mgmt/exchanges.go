package mgmt

import (
	"cmp"
	"encoding/json"
	"errors"
	"math/big"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

func (c *call) exchanges() (any, error) {
	vhosts, err := c.listed()
	if err != nil {
		return nil, err
	}
	if err := c.checkSpans(); err != nil {
		return nil, err
	}
	l := list{}
	for _, v := range vhosts {
		for _, info := range v.Exchanges() {
			l = append(l, item{vhost: info.VHost, name: info.Name, show: func() object {
				o, _ := c.describeExchange(info) // the spans, which alone can be wrong, are checked
				return o
			}})
		}
	}
	return l, nil
}

func (c *call) describeExchange(info leveret.ExchangeInfo) (object, error) {
	o := object{"name": info.Name, "vhost": info.VHost, "type": info.Type, "durable": info.Durable, "auto_delete": info.AutoDelete,
		"internal": info.Internal, "arguments": fields(info.ArgumentFields), "user_who_performed_action": internalUser}
	if info.Name == "" || strings.HasPrefix(info.Name, "amq.") {
		o["user_who_performed_action"] = c.creator(info.VHost)
	} else if user := c.makerOfExchange(&info); user != "" {
		o["user_who_performed_action"] = user
	}
	if info.Policy != "" {
		o["policy"] = info.Policy
	}
	tell, s := c.messageStats, subject{anExchange, info.VHost, info.Name}
	if c.tellsTraffic && c.path("exchange") != "" {
		tell = c.messageStatsInAnyCase
	}
	return o, tell(o, s, exchangeFigures(info.Counters), exchangeStats)
}

// internalUser is who makes things on the broker's own behalf, such as what a file has from which it starts.
const internalUser = "rmq-internal"

// pathExchange returns the exchange in the path.
func (c *call) pathExchange() (*leveret.VHost, *leveret.Exchange, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, nil, err
	}
	x, err := v.Exchange(c.exchangeName("exchange"))
	if err != nil {
		return v, nil, errNoObject
	}
	return v, x, nil
}

func (c *call) exchange() (any, error) {
	_, x, err := c.pathExchange()
	if err == nil {
		err = c.checkStatistics()
	}
	if err == nil && c.tellsTraffic {
		err = c.wrongSpan()
	}
	if err != nil {
		return nil, err
	}
	o, err := c.describeExchange(x.Info())
	if err != nil {
		return nil, err
	}
	if !c.statsDisabled() || c.tellsTraffic {
		o["incoming"], o["outgoing"] = []any{}, []any{} // with the rates mode basic RabbitMQ has nothing there
	}
	return o, nil
}

// declaration is what the body of a declaration has.
type declaration struct {
	kind                          string
	durable, autoDelete, internal bool
	arguments                     leveret.Table
}

func (c *call) declaration() (d declaration, err error) {
	if err := c.readBody(); err != nil {
		return d, err
	}
	var wrong [3]error // the first is told
	d.autoDelete, wrong[0] = c.body.truth("auto_delete")
	d.durable, wrong[1] = c.body.truth("durable")
	d.internal, wrong[2] = c.body.truth("internal")
	if err := errors.Join(wrong[:]...); err != nil {
		return d, err
	}
	d.kind = string(leveret.Direct)
	if _, ok := c.body["type"]; ok {
		d.kind = c.body.word("type")
	}
	d.arguments, err = c.body.arguments()
	return d, err
}

// arguments returns the member arguments.
func (b body) arguments() (leveret.Table, error) { return b.table("arguments") }

// table returns a member that is an object; an empty table if there is none, or a list.
func (b body) table(key string) (leveret.Table, error) {
	given, ok := b[key]
	switch {
	case !ok || given[0] == '[':
		return leveret.Table{}, nil
	case given[0] != '{':
		return nil, errCrash
	}
	var a definitions.Arguments
	if err := json.Unmarshal(given, &a); err != nil {
		return nil, badRequest(err.Error())
	}
	return a.Table, nil
}

func (c *call) putExchange() (any, error) {
	v, err := c.vhostToChange()
	if err != nil {
		return nil, err
	}
	d, err := c.declaration()
	if err != nil {
		return nil, err
	}
	if err := c.checkNode(); err != nil {
		return nil, err
	}
	if err := c.checkType(&d); err != nil {
		return nil, err
	}
	_, _, missing := c.pathExchange()
	return put(missing == nil), c.operate(v, func(ch *leveret.Channel) error {
		return ch.DeclareExchange(c.exchangeName("exchange"), leveret.ExchangeType(d.kind), leveret.ExchangeConfig{
			Durable: d.durable, AutoDelete: d.autoDelete, Internal: d.internal, Arguments: d.arguments})
	})
}

// checkType reads an exchange's type that is no text: a list of characters and texts is one. RabbitMQ's channel fails at
// numbers and objects.
func (c *call) checkType(d *declaration) error {
	given, ok := c.body["type"]
	if !ok {
		return nil
	}
	if _, isInteger := new(big.Int).SetString(string(given), 10); isInteger {
		return c.crashed("badarg")
	}
	v, _ := jsondoc.Decode(given, c.memberThatCounts)
	if d.kind, ok = printed(v); !ok {
		return c.crashed("function_clause")
	}
	return nil
}

func (c *call) deleteExchange() (any, error) {
	v, x, err := c.pathExchange()
	if err = cmp.Or(err, c.malformed); err != nil {
		return nil, err
	}
	return nil, c.operate(v, func(ch *leveret.Channel) error {
		return ch.DeleteExchange(x.Name(), leveret.DeleteConfig{IfUnused: c.query("if-unused") == "true"})
	})
}
