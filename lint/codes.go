package lint

// A Code names one kind of finding. Codes are never used again for another kind.
type Code string

// The codes. docs/lint.md has a section for each.
const (
	Refused        Code = "L001" // an import refuses the entry
	LeftOut        Code = "L002" // leveret does not have it, so it was not looked at
	PassedOver     Code = "L003" // an import does not make the queue, and does not say so
	UnknownSection Code = "L004" // an import does not look at the section
	Presumed       Code = "L005" // the virtual host or user must be there already

	DeadLetterExchangeMissing Code = "L010" // the dead-letter exchange is not there
	DeadLettersLost           Code = "L011" // the dead-letter exchange leads to no queue
	CircleDropped             Code = "L012" // the cycle rule drops messages that come round
	CircleOfRejections        Code = "L013" // messages come round as long as consumers reject them
	ExpiryLost                Code = "L014" // what expires is lost
	OverflowLost              Code = "L015" // what a limit drops is lost
	KeyWithoutExchange        Code = "L016" // a dead-letter routing key without a dead-letter exchange
	AtLeastOnceOff            Code = "L017" // the at-least-once strategy is set and not in force
	RejectDLXOfQuorum         Code = "L018" // reject-publish-dlx on a quorum queue
	ExpirationWaits           Code = "L020" // a message's own expiration may wait behind a longer one

	PolicyUnused      Code = "L030" // the policy matches nothing in the file
	PolicyUseless     Code = "L031" // the policy can match nothing
	PolicyShadowed    Code = "L032" // others apply to all that the policy matches
	PolicyTie         Code = "L033" // two policies of the same priority
	PolicyUnfit       Code = "L034" // a key keeps the whole policy away from queues
	PolicyOverruled   Code = "L035" // an argument keeps a key of a policy out of force
	PolicyLimited     Code = "L036" // an operator policy keeps a key of a policy out of force
	ArgumentOverruled Code = "L037" // a policy keeps an argument out of force

	UnknownArgument Code = "L040" // an argument that nothing knows
	MayNotDeclare   Code = "L050" // a user may declare the queue, but not with its dead-letter exchange
	NeverMatches    Code = "L060" // the binding cannot match what it seems to be for
)

// codes has the severity of each code.
var codes = map[Code]Severity{
	Refused: Error, LeftOut: Info, PassedOver: Warning, UnknownSection: Warning, Presumed: Info,
	DeadLetterExchangeMissing: Error, DeadLettersLost: Error, CircleDropped: Warning, CircleOfRejections: Info,
	ExpiryLost: Warning, OverflowLost: Warning, KeyWithoutExchange: Warning, AtLeastOnceOff: Warning,
	RejectDLXOfQuorum: Warning, ExpirationWaits: Info,
	PolicyUnused: Info, PolicyUseless: Warning, PolicyShadowed: Warning, PolicyTie: Warning, PolicyUnfit: Warning,
	PolicyOverruled: Warning, PolicyLimited: Info, ArgumentOverruled: Info,
	UnknownArgument: Warning, MayNotDeclare: Warning, NeverMatches: Warning,
}
