package leveret

import (
	"slices"
	"strings"
)

// RabbitMQ looks an exchange type up among the symbols of its runtime, Erlang's atoms. For a type that does not exist
// the text of the error tells whether there is such an atom. There are tens of thousands, and some appear only when the
// module that uses them is loaded. So the lists here are an approximation: of the names in AMQP 0-9-1, Erlang's
// reserved words and constants, and everyday words, those that live brokers of both releases know.

// isAtom reports whether a text is a symbol of RabbitMQ's runtime.
// Rules: X-3.
func (r *rules) isAtom(text string) bool {
	switch {
	case len(text) < 2:
		return text == "" || strings.Contains(shortAtoms, text)
	case slices.Contains(atoms43, text):
		return !r.noNewExchangeTypes
	}
	return slices.Contains(strings.Fields(atoms), text)
}

// shortAtoms are the atoms of one character.
const shortAtoms = "\x01" + `!#%&()*+,-./36:;<=>?@BEKLNPSTUVX[\]^_abcdefghijklmnpqrsuvwxyz{|}~` + "`"

// atoms43 are words that look like exchange types, and which only 4.3 knows.
var atoms43 = []string{"x-random", "x-jms-topic", "delayed"}

const atoms = `
AMQP PLAIN access access_refused ack active after alert alias all alternate-exchange amqp and andalso any app_id
arguments array atom auto_delete bad badarg badarith badmatch balance band bar basic begin behavior behaviour binary
bind binding bitstring blocked bnot body bool boolean bor both broadcast bsl bsr bxor byte callback cancel
capabilities case case_clause catch challenge channel channel_error channel_id channel_max char class class_id classic
client_properties close cluster_id commit cond confirm connection connection_forced consistent consume consumer
consumer_count consumer_tag content_encoding content_too_large content_type correlation_id dead decimal declare
default delay delete deliver delivery_mode delivery_tag destination div dlx double durable duration email empty end
erlang error ets event events exchange exchanges exclusive expiration export exports false federation file first float
flow foo frame_body frame_end frame_header frame_heartbeat frame_max frame_method frame_min_size fun function
function_clause g gen_server get get_empty global hash header heartbeat html http https id if if_clause if_empty
if_unused immediate import include infinity insist int integer internal internal_error invalid invalid_path job json
key kind known_hosts last lazy let line list lists load locale locales log long longstr mail mandatory map maps match
maybe mechanism mechanisms message message_count message_id method method_id metrics mnesia module multicast multiple
name nil no no_ack no_consumers no_route node nodes none noproc normal not not_allowed not_found not_implemented
nothing notify now nowait null number object of offset ok opaque open or orelse out_of_band partition passive path pid
plain policy port precondition_failed prefetch_count prefetch_size priority properties publish purge queue queue_name
queues quorum rabbit rabbit_exchange_type_direct rabbit_exchange_type_topic rabbit_queue rabbitmq random read realm
reason receive record recover redelivered ref reference reject rem reply reply_code reply_success reply_text reply_to
request requeue resource_error resource_locked response retry return routing_key rpc secure select self
server_properties service services short shortstr shutdown simple source spec ssl start stats stream string subscribe
syntax_error system table tcp test text ticket timeout timestamp tls trace transient true try tuple tx type udp
unblocked undef undefined unexpected_frame unknown user user_id users value version_major version_minor vhost
virtual_host void wait when work worker workers write ws xor
`
