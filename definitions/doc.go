// Package definitions reads and writes RabbitMQ's definitions files: a broker's users, permissions,
// parameters, policies and topology as one JSON document, by which they move between leveret and
// RabbitMQ. Messages, exclusive queues and the predeclared exchanges are no part of it.
//
// Export and Import are for a whole broker, ExportVHost and ImportVHost for what is in one virtual
// host. [Definitions] is the parsed document, for programs that look at one or change it: Parse
// reads it, Of and OfVHost make it, Apply and ApplyToVHost put it into force.
//
// An import is applied to a rehearsal first: a broker that has what the document refers to and
// nothing else. Only if every entry is accepted there, anything is changed. So a document with a
// mistake changes nothing. The error is an [*Error], which says where the entry stands in the
// document, and wraps a [*leveret.Error] with RabbitMQ's explanation; a document that is no JSON is
// a [*SyntaxError]. Changes that are made to the broker by others during an import may still leave
// it applied in part.
package definitions
