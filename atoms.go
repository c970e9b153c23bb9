package leveret

import (
	"slices"
	"strings"
)

// RabbitMQ looks an exchange type up among the symbols of its runtime, Erlang's atoms. For a type that does not exist
// the text of the error tells whether there is such an atom. There are tens of thousands, and some appear only when the
// module that uses them is loaded. So the lists here are an approximation: of the names in AMQP 0-9-1, Erlang's
// reserved words and constants, and everyday words, those that a live broker knows when it has just been started.

// isAtom reports whether a text is a symbol of RabbitMQ's runtime.
// Rules: X-3.
func (r *rules) isAtom(text string) bool {
	if len(text) < 2 && strings.Contains(shortAtoms, text) { // also the empty text
		return true
	}
	own := atoms43
	if r.noNewExchangeTypes {
		own = atoms310
	}
	return slices.Contains(strings.Fields(atoms), text) || slices.Contains(strings.Fields(own), text)
}

// shortAtoms are the atoms of one character that both releases know.
const shortAtoms = "\x01" + `!#%&()*+,-./36:;<=>?@BEKLNPSTUVX[\]^_abcdefghijklmnpqrsuvwxyz{|}~` + "`"

// atoms43 are words that only 4.3 knows.
const atoms43 = `
I binding_key dedup delayed delayed_retry khepri letter notification previous stdin x-jms-topic x-random
`

// atoms310 are words that only 3.10 knows.
const atoms310 = `
" ' A C Direct F H M O R alpha back black blue bottom common complex default_type got height illegal_type manager
modulo nobody order orders reduce rr severity slow sms special t temp tmp top unknown_type utc v2 white wrong_type
`

const atoms = `
AMQP PLAIN access access_refused ack active actual add address after alert alias all alternate-exchange alternative
amqp and andalso any app_id args arguments array atom auto_delete avg bad bad_type badarg badarith badmatch badtype
balance band bar basic begin behavior behaviour big binary bind binding bindings bitstring blocked bnot body bool
boolean bor both broadcast bsl bsr buffer bxor byte cache callback callback_mode cancel capabilities case case_clause
cat catch challenge channel channel_error channel_id channel_max char check circle class class_id classic client
client_properties close closed cluster cluster_id color commit cond config confirm connection connection_forced
consistent consume consumer consumer_count consumer_tag content_encoding content_too_large content_type correlation_id
corrupt count create critical data date day dead debug decimal declare default delay delete deliver delivery_limit
delivery_mode delivery_tag depth destination dets dev dir disabled div dlx double down dummy durable duration email
emergency empty enabled end enum env erlang error ets event events exchange exchanges exclusive exec expected
expiration expired export exports failed false federation file file_name filter finish first float flow follower foo
fork frame_body frame_end frame_header frame_heartbeat frame_max frame_method frame_min_size fun function
function_clause g gen_server get get_empty global green group handler hash head header heartbeat hello high history
host hour html http https id if if_clause if_empty if_unused illegal immediate import in inactive include index
infinity info init input insert insist int integer interface internal internal_error interval invalid invalid_path
invalid_type ip job join json key kind known_hosts last latest lazy leader left length let level limit line list lists
load local locale locales log long longstr loop low mail main mandatory map maps match max maxlen maybe mechanism
mechanisms medium merge message message_count message_id method method_id metrics middle min minute missing mixed
mnesia mod module multi multicast multiple name new news next nil no no_ack no_consumers no_route node nodes none
nonexisting noproc normal not not_allowed not_found not_implemented notfound nothing notice notify now nowait nowhere
null number object of off offset ok old on opaque open options or orelse origin other out out_of_band output owner
partition passive path pattern pending permission pid plain plugin policy pool port post precondition_failed
prefetch_count prefetch_size prev primary priorities priority prod properties publish purge put query queue queue_name
queues quorum quote rabbit rabbit_event rabbit_exchange rabbit_exchange_type_direct rabbit_exchange_type_fanout
rabbit_exchange_type_headers rabbit_exchange_type_topic rabbit_queue rabbitmq random rate read reader realm reason
receive record recover red redelivered ref reference regex regexp regular reject rejected release rem remote remove
replica reply reply_code reply_success reply_text reply_to request requeue resource_error resource_locked response
retry return right role route routing_key rpc run running sample second secret secure select self server
server_properties service services set short shortstr shutdown simple single size small socket source spawn spec speed
split square ssl stable start state stats status stdout stopped stream string sub subscribe success sum super
supervisor syntax_error system table tail target tcp temporary test text ticket time timeout timestamp tls today token
total trace transient true try tuple tx type udp unblocked undef undefined undefined_type unexpected_frame unique
unknown unsupported unsupported_type up update user user_id users v1 valid validate value verify version_major
version_minor vhost virtual_host void wait waiting want warning when width wildcard work worker worker_pool workers
world write writer ws xor year yes
`
