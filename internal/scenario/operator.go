package scenario

import (
	"errors"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// An Operator is Admin for a virtual host of a broker in this process.
type Operator struct {
	Broker *leveret.Broker
	vhost  string
}

var _ Admin = Operator{}

// NewOperator returns the operator of a virtual host, which need not be there yet.
func NewOperator(b *leveret.Broker, vhost string) Operator { return Operator{b, vhost} }

// In returns the operator of another virtual host.
func (o Operator) In(vhost string) Admin { return Operator{o.Broker, vhost} }

// do calls f with the virtual host as it is now: it may have been deleted and made again.
func (o Operator) do(f func(*leveret.VHost) error) error {
	v, err := o.Broker.VHost(o.vhost)
	if err != nil {
		return err
	}
	return f(v)
}

// CreateVHost makes the virtual host, with all permissions for the administrator.
func (o Operator) CreateVHost() error {
	v, err := o.Broker.CreateVHost(o.vhost)
	if err != nil {
		return err
	}
	return v.SetPermissions("guest", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"})
}

func (o Operator) DeleteVHost() error { return o.Broker.DeleteVHost(o.vhost) }

func (o Operator) SetPolicy(p leveret.Policy, operator bool) error {
	return o.do(func(v *leveret.VHost) error {
		if operator {
			return v.SetOperatorPolicy(p)
		}
		return v.SetPolicy(p)
	})
}

func (o Operator) ClearPolicy(name string, operator bool) error {
	return o.do(func(v *leveret.VHost) error {
		if operator {
			return v.ClearOperatorPolicy(name)
		}
		return v.ClearPolicy(name)
	})
}

// AddUser makes a user, or gives one that there is the password and the tags.
func (o Operator) AddUser(name, password string, tags []string) error {
	if err := o.Broker.ValidateCredentials(name, password); err != nil {
		return err
	}
	return o.Broker.SetUser(name, o.Broker.HashPassword(password), tags...)
}

func (o Operator) DeleteUser(name string) error { return o.Broker.DeleteUser(name) }

func (o Operator) SetPermissions(user string, p leveret.Permissions) error {
	return o.do(func(v *leveret.VHost) error { return v.SetPermissions(user, p) })
}

func (o Operator) ClearPermissions(user string) error {
	return o.do(func(v *leveret.VHost) error { return v.ClearPermissions(user) })
}

func (o Operator) SetTopicPermissions(user, exchange string, p leveret.TopicPermissions) error {
	return o.do(func(v *leveret.VHost) error { return v.SetTopicPermissions(user, exchange, p) })
}

func (o Operator) SetVHostLimits(l leveret.VHostLimits) error {
	return o.do(func(v *leveret.VHost) error { return v.SetLimits(l) })
}

func (o Operator) SetUserLimits(user string, l leveret.UserLimits) error {
	return o.Broker.SetUserLimits(user, l)
}

func (o Operator) SetDefaultQueueType(t string) error {
	return o.do(func(v *leveret.VHost) error { return v.SetDefaultQueueType(leveret.QueueType(t)) })
}

func (o Operator) Import(document string) error {
	return o.do(func(v *leveret.VHost) error { return RabbitMQError(definitions.ImportVHost(v, []byte(document))) })
}

func (o Operator) Export() (document []byte, err error) {
	err = o.do(func(v *leveret.VHost) error {
		document, err = definitions.ExportVHost(v)
		return err
	})
	return document, err
}

func (o Operator) Queue(name string) (view QueueView, err error) {
	err = o.do(func(v *leveret.VHost) error {
		q, err := v.Queue(name)
		if err != nil {
			return err
		}
		i := q.Info()
		view = QueueView{Type: string(i.Type), Arguments: i.Arguments, Policy: i.Policy, OperatorPolicy: i.OperatorPolicy,
			EffectivePolicy: i.EffectivePolicy, SingleActive: i.SingleActive}
		return nil
	})
	return view, err
}

func (o Operator) VHostLimits() (l leveret.VHostLimits, err error) {
	err = o.do(func(v *leveret.VHost) error {
		l = v.Info().Limits
		return nil
	})
	return l, err
}

func (o Operator) Consumers(queue string) (list []ConsumerView, err error) {
	err = o.do(func(v *leveret.VHost) error {
		for _, c := range v.Consumers() {
			if c.Queue == queue {
				list = append(list, ConsumerView{Tag: c.Tag, Arguments: c.ArgumentFields})
			}
		}
		return nil
	})
	return list, err
}

// RabbitMQError returns what RabbitMQ would say of an import: the explanation, without the entry's position.
func RabbitMQError(err error) error {
	var e *leveret.Error
	if errors.As(err, &e) {
		return e
	}
	return err
}
