package pcre

// A Fault is why an expression is refused, in PCRE's words.
type Fault struct {
	Message string
	Offset  int // in bytes, where PCRE noticed
}

// Error returns the message.
func (f *Fault) Error() string { return f.Message }

// A message is a Fault's text in both dialects.
type message struct{ now, old string }

func same(text string) message { return message{text, text} }

func unsupported(what string) message { return same(what + " not supported by leveret") }

var (
	backslashAtEnd      = same(`\ at end of pattern`)
	controlAtEnd        = same(`\c at end of pattern`)
	unknownEscape       = same(`unrecognized character follows \`)
	numbersOutOfOrder   = same("numbers out of order in {} quantifier")
	numberTooBig        = same("number too big in {} quantifier")
	classOpen           = same("missing terminating ] for character class")
	invalidClassEscape  = same("escape sequence is invalid in character class")
	rangeOutOfOrder     = same("range out of order in character class")
	invalidRange        = same("invalid range in character class")
	nothingToRepeat     = message{"quantifier does not follow a repeatable item", "nothing to repeat"}
	unknownGroup        = same("unrecognized character after (? or (?-")
	posixOutside        = same("POSIX named classes are supported only within a class")
	posixCollating      = same("POSIX collating elements are not supported")
	posixUnknown        = same("unknown POSIX class name")
	parenMissing        = message{"missing closing parenthesis", "missing )"}
	parenUnmatched      = message{"unmatched closing parenthesis", "unmatched parentheses"}
	noSuchGroup         = same("reference to non-existent subpattern")
	commentOpen         = message{"missing ) after (?# comment", "missing ) after comment"}
	tooLarge            = same("regular expression is too large")
	tooDeep             = same("parentheses are too deeply nested")
	behindNotFixed      = message{"length of lookbehind assertion is not limited", "lookbehind assertion is not fixed length"}
	tooManyBranches     = message{"conditional subpattern contains more than two branches", "conditional group contains more than two branches"}
	digitsMissing       = same(`digits missing after \x or in \x{} or \o{} or \N{U+}`)
	nonHex              = same(`non-hex character in \x{} (closing brace missing?)`)
	nonOctal            = same(`non-octal character in \o{} (closing brace missing?)`)
	octalBrace          = same(`missing opening brace after \o`)
	characterTooLarge   = message{`character code point value in \x{} or \o{} is too large`, `character value in \x{} or \o{} is too large`}
	octalTooLarge       = same(`octal value is greater than \377 in 8-bit non-UTF-8 mode`)
	controlNotASCII     = message{`\c must be followed by a printable ASCII character`, `\c must be followed by an ASCII character`}
	propertyMalformed   = same(`malformed \P or \p sequence`)
	propertyUnknown     = message{`unknown property after \P or \p`, `unknown property name after \P or \p`}
	perlEscape          = message{`PCRE2 does not support \F, \L, \l, \N{name}, \U, or \u`, `PCRE does not support \L, \l, \N{name}, \U, or \u`}
	notNewlineInClass   = same(`\N is not supported in a class`)
	keepInLookaround    = same(`\K is not allowed in lookarounds (but see PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)`)
	nameExpected        = message{"subpattern name expected", "unrecognized character after (?<"}
	nameWithDigit       = message{"subpattern name must start with a non-digit", "group name must start with a non-digit"}
	nameOpen            = message{"syntax error in subpattern name (missing terminator?)", "syntax error in subpattern name (missing terminator)"}
	nameTooLong         = message{"subpattern name is too long (maximum 128 code units)", "subpattern name is too long (maximum 32 characters)"}
	nameTaken           = message{"two named subpatterns have the same name (PCRE2_DUPNAMES not set)", "two named subpatterns have the same name"}
	calloutTooBig       = message{"number after (?C is greater than 255", "number after (?C is > 255"}
	verbUnknown         = same("(*VERB) not recognized or malformed")
	recursion           = unsupported("recursion is")
	verbs               = unsupported("verbs and options (*...) are")
	nonAtomicLookaround = unsupported("non-atomic lookaround is")
)

// fail ends the compilation. PCRE 8 mostly names the offset of the last character that it
// looked at, PCRE2 the one behind it.
func (p *parser) fail(m message, now, old int) {
	if p.version == PCRE1 {
		panic(&Fault{m.old, old})
	}
	panic(&Fault{m.now, now})
}

// failHere is fail for what was noticed before the present position.
func (p *parser) failHere(m message) { p.fail(m, p.pos, p.pos-1) }

// failAtEnd is fail for what was noticed at the end of the pattern.
func (p *parser) failAtEnd(m message) { p.fail(m, len(p.source), len(p.source)) }
