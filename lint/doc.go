// Package lint finds what is probably a mistake in a definitions file, though RabbitMQ takes it without a word: dead
// letters that lead nowhere, policies that are never in force, arguments that nothing knows.
//
// [Check] puts the file into force in brokers of its own and asks them: which policy applies, what is in force for a
// queue, and where a message goes that dies there. So the rules are those of the engine, for each release that it
// behaves as. Each [Finding] has a code that stays the same, and a section in docs/lint.md.
//
// [Explain] asks the same brokers about one queue: every setting, where it comes from, and the way of its dead letters.
//
// A file does not tell what clients do. What depends on their routing keys, headers and expirations is found only where
// the bindings tell them.
package lint
