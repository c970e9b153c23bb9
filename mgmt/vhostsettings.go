package mgmt

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

// vhostSettings are what a PUT of a virtual host sets. What its body does not mention gets its default again, but for
// the tracing.
type vhostSettings struct {
	description string
	tags        []string
	queueType   leveret.QueueType
	tracing     *bool // nil: not mentioned
}

// vhostSettings returns what the body says. RabbitMQ keeps a description of any type; here it is a text.
func (c *call) vhostSettings() (s vhostSettings, err error) {
	if _, given := c.body["description"]; given {
		s.description = c.body.word("description")
	}
	if s.tags, err = c.vhostTags(); err != nil {
		return s, err
	}
	if _, mentioned := c.body["tracing"]; mentioned {
		on, err := c.body.truth("tracing")
		if err != nil {
			return s, err
		}
		s.tracing = &on
	}
	if !c.noQueueTypes {
		s.queueType, err = c.defaultQueueType()
	}
	return s, err
}

// vhostTags returns the tags of the body: a list, or names separated by commas. A list that begins with an octet is a
// text to RabbitMQ. It keeps null, true and false among the tags; here they are texts.
func (c *call) vhostTags() (tags []string, err error) {
	v, _ := jsondoc.Decode(c.body["tags"], c.memberThatCounts)
	if text, isText := v.(string); isText {
		return trimmed(jsondoc.VHostTags(c.tagText(text))), nil
	}
	list, isList := v.([]any)
	switch {
	case isList && len(list) > 0 && isOctet(list[0]):
		text, ok := printedList(list)
		if !ok {
			return nil, errCrash
		}
		return trimmed(jsondoc.VHostTags(text)), nil
	case !isList && v != nil:
		return nil, errCrash
	}
	for _, member := range list {
		_, isNumber := member.(int64)
		tag, ok := printed(member)
		_, isList := member.([]any)
		switch {
		case isNumber && c.numbersAsTags:
			tag = c.notation.Format(member, 0)
		case !ok, isList:
			return nil, errCrash
		}
		tags = append(tags, c.tagText(tag))
	}
	return trimmed(tags), nil
}

// tagText is a text among tags, or one that has them. RabbitMQ 3.10 takes its octets for characters.
func (c *call) tagText(text string) string {
	if c.tagsOfOctets {
		return jsondoc.Latin1(text)
	}
	return text
}

func trimmed(tags []string) []string {
	for i, tag := range tags {
		tags[i] = jsondoc.TrimTag(tag)
	}
	return tags
}

func isOctet(v any) bool {
	n, ok := v.(int64)
	return ok && n >= 0 && n <= 255
}

// undefinedType is what RabbitMQ calls a default queue type that is not set.
const undefinedType = "undefined"

// defaultQueueType returns the type of the body; the node's if it is not mentioned.
func (c *call) defaultQueueType() (leveret.QueueType, error) {
	given, ok := c.body["default_queue_type"]
	if !ok {
		given, ok = c.body["defaultqueuetype"]
	}
	if !ok {
		return c.broker.NodeDefaultQueueType(), nil
	}
	v, _ := jsondoc.Decode(given, c.memberThatCounts)
	name, isWord := printed(v)
	if _, isList := v.([]any); isList || !isWord {
		return "", badRequest(c.notation.Format(erl.JSON(v), 0) + " is not a valid default_queue_type value")
	}
	switch name {
	case "null", undefinedType:
		return c.broker.NodeDefaultQueueType(), nil
	case string(leveret.QueueTypeClassic), "rabbit_classic_queue":
		return leveret.QueueTypeClassic, nil
	case string(leveret.QueueTypeQuorum), "rabbit_quorum_queue":
		return leveret.QueueTypeQuorum, nil
	case "":
		return "", badRequest("default_queue_type must not be an empty string")
	}
	return "", badRequest(name + " is not a valid queue type")
}

// A creation tells which user has made a virtual host.
type creation struct {
	vhost *leveret.VHost
	user  string
}

// remember keeps that the user has made a virtual host.
func (c *call) remember(v *leveret.VHost) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.creations == nil {
		c.creations = map[string]creation{}
	}
	c.creations[v.Name()] = creation{v, c.user.Name}
}

// creator returns who has made a virtual host, and its first exchanges with it: a user of the API, or the broker for
// a program.
func (n *node) creator(vhost string) string {
	v, err := n.broker.VHost(vhost)
	if err != nil {
		return internalUser
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if made, ok := n.creations[vhost]; ok && made.vhost == v {
		return made.user
	}
	return internalUser
}

// forgetVHost forgets what the API keeps of a virtual host that is deleted.
func (n *node) forgetVHost(v *leveret.VHost) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.creations, v.Name())
}
