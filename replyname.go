package leveret

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// A direct reply-to name is amq.rabbitmq.reply-to.PROCESS.KEY. PROCESS is the base64 of an Erlang process identifier in
// the external term format, with a hash of its node in the node's place. KEY is random. Clients may change a name, so
// what a release accepts of one is a rule (M-19).

const (
	replyQueue  = "amq.rabbitmq.reply-to"
	replyPrefix = replyQueue + "."

	replyNodeHash = "104729363" // in the place of a hash of the node's name
	replyNode     = "reply@" + replyNodeHash
	replyCreation = 1 // which of the node's lives the process is from
)

// A replyProcess is a channel in direct reply-to names.
type replyProcess struct{ number, serial, creation uint32 }

// A replyAddress is what a direct reply-to name says.
type replyAddress struct {
	process replyProcess
	key     string
}

// isReplyQueue reports whether a declaration of name is about direct reply-to. A dot behind the pseudo queue's name is
// not asked for.
// Rules: M-19.
func isReplyQueue(name string) bool { return strings.HasPrefix(name, replyQueue) }

// The octets of the external term format.
const (
	termVersion   = 131
	termProcess   = 88
	termAtom      = 118 // its length is in two octets
	termSmallAtom = 119 // its length is in one octet
)

// The numbers of a process.
// Rules: M-19.
const (
	numberBits     = 15    // of its number
	serialBits     = 13    // of its serial number
	newNumberBits  = 28    // of its number in 4.3
	processNumbers = 3 * 4 // octets of number, serial number and creation
	processHead    = 5     // octets in front of the node's name, if its length is in two of them
)

// newReplyProcess returns the process of the n-th channel that consumes replies. Its numbers have as many bits as those
// of a process in any release.
func newReplyProcess(n uint32) replyProcess {
	return replyProcess{n & (1<<numberBits - 1), n >> numberBits & (1<<serialBits - 1), replyCreation}
}

// name returns the direct reply-to name of an address.
func (a replyAddress) name() string {
	term := []byte{termVersion, termProcess, termAtom}
	term = binary.BigEndian.AppendUint16(term, uint16(len(replyNode)))
	term = append(term, replyNode...)
	for _, n := range [...]uint32{a.process.number, a.process.serial, a.process.creation} {
		term = binary.BigEndian.AppendUint32(term, n)
	}
	return replyPrefix + base64.StdEncoding.EncodeToString(term) + "." + a.key
}

// A replyNameState is what a release makes of a direct reply-to name.
type replyNameState uint8

const (
	replyWellFormed replyNameState = iota
	replyMissing                   // it leads nowhere
	replyCrash                     // RabbitMQ cannot read it
)

// parseReplyName reads a direct reply-to name. 3.10 takes the process and the key to be the parts between dots, however
// many dots there are; 4.3 takes what follows the first dot to be the key.
// Rules: M-19.
func parseReplyName(name string, r *rules) (replyAddress, replyNameState) {
	suffix, ok := strings.CutPrefix(name, replyPrefix)
	process, key, cut := strings.Cut(suffix, ".")
	if r.repliesBypassQueues {
		parts := strings.FieldsFunc(suffix, func(c rune) bool { return c == '.' })
		if !ok || len(parts) != 2 {
			return replyAddress{}, replyMissing
		}
		process, key, cut = parts[0], parts[1], true
	}
	if !cut {
		return replyAddress{}, replyCrash
	}
	p, ok := parseReplyProcess(process, r)
	if !ok {
		return replyAddress{}, replyCrash
	}
	return replyAddress{p, key}, replyWellFormed
}

// parseReplyProcess reads a process. The node must be known by its hash; what stands before the hash does not matter.
// Rules: M-19.
func parseReplyProcess(encoded string, r *rules) (p replyProcess, ok bool) {
	spaceless := strings.NewReplacer(" ", "", "\t", "").Replace(encoded) // Go skips line ends, Erlang all white space
	term, err := base64.StdEncoding.DecodeString(spaceless)
	anyTag := r.repliesBypassQueues // 3.10 does not look whether it is a process
	if err != nil || len(term) < processHead || term[0] != termVersion || term[1] != termProcess && !anyTag {
		return p, false
	}
	var length int
	switch rest := term[3:]; term[2] {
	case termAtom:
		length, term = int(binary.BigEndian.Uint16(rest)), rest[2:]
	case termSmallAtom:
		length, term = int(rest[0]), rest[1:]
	default:
		return p, false
	}
	if len(term) != length+processNumbers {
		return p, false
	}
	node, numbers := string(term[:length]), term[length:]
	u32 := binary.BigEndian.Uint32
	p = replyProcess{u32(numbers), u32(numbers[4:]), u32(numbers[8:])}
	_, hash, _ := strings.Cut(node, "@")
	return p, utf8.ValidString(node) && strings.TrimPrefix(hash, "+") == replyNodeHash && p.exists(r)
}

// exists reports whether a process may have these numbers. Those of another life of the node are not looked at.
// Rules: M-19.
func (p replyProcess) exists(r *rules) bool {
	switch {
	case p.creation != replyCreation:
		return true
	case r.repliesBypassQueues:
		return p.number < 1<<numberBits && p.serial < 1<<serialBits
	}
	return p.number < 1<<newNumberBits
}
