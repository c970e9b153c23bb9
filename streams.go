package leveret

// Streams are known by name only. RabbitMQ's checks of their arguments, properties and policies are made, so that a
// wrong declaration is refused as RabbitMQ refuses it; what RabbitMQ would take is refused as not implemented. A queue
// under the name of a stream would lose with the first read what a stream keeps.

// noStreams refuses a stream, or what is for streams only.
func noStreams(name, what string) *Error {
	return NotImplemented.errorf(name, "leveret has no streams: %s", what)
}

// refuseStream refuses a declaration that has passed all other checks if it is that of a stream.
func (v *vhost) refuseStream(name string, kind queueKind) *Error {
	if kind != streamQueue {
		return nil
	}
	return noStreams(name, v.queueText(name))
}

// refuseForStreams refuses a valid policy that is for streams only.
func (p *policy) refuseForStreams() *Error {
	if p.ApplyTo != ApplyToStreams {
		return nil
	}
	return noStreams(p.Name, "policy '"+p.Name+"' applies to nothing else")
}
