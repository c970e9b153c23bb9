// Package pcre finds RabbitMQ's regular expressions, those of policies and permissions, in names.
//
// RabbitMQ's expressions are those of PCRE, run over bytes: RabbitMQ 3.10 has PCRE 8, which takes
// a byte for a Latin-1 character, and RabbitMQ 4.3 has PCRE2 10.4x, to which a byte above 127 is neither
// letter nor digit. Compile reads either dialect and reports what it does not accept with
// PCRE's own message and offset.
//
// # Why a matcher of its own
//
// A name is matched while the virtual host is locked, perhaps inside a testing/synctest bubble. So a match
// starts no goroutine, looks at no clock, and ends after a bounded number of steps; with MatchWithin after so few that the lock
// may be held. Package
// regexp has no lookaround, which real policies use: ^(?!amq\.). github.com/dlclark/regexp2 has
// it, but bounds a match only by a timeout, for which it starts a goroutine, and without the timeout
// (a+)+$ takes years. regexp2 remains in the tests, where random patterns are compared with it.
//
// # How long a match takes
//
// The matcher backtracks, as PCRE does, and remembers in which places of the pattern each byte of the
// name has failed, so that nothing is tried twice. The time then grows with the pattern's length and
// with the square of the name's. What is remembered would be wrong where the outcome
// depends on how a place was reached: with back-references, with conditions on groups, and where a
// pattern has both an atomic group and an unlimited repetition of something that may be empty.
// Only then may a name take exponential time, and the match is given up after MaxSteps. The bound holds for every
// pattern, but no other is known to reach it with a name of AMQP, which has at most 255 bytes.
//
// A match given up finds nothing, which is what RabbitMQ makes of PCRE's match limit. RabbitMQ
// does so for (a+)+$|! in a long row of a, too, where this package finds the exclamation mark: the count of
// PCRE's steps is not reproduced.
//
// # What is missing
//
// Recursion and subroutines (?R) (?1) \g<1>, verbs (*ACCEPT) other than (*FAIL), the options (*UTF)
// and (*UCP), and non-atomic lookaround (?* are refused.
package pcre
