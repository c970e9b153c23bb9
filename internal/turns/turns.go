// Package turns says how long an operation keeps others waiting.
package turns

// Length is how many steps, of about a microsecond each, an operation takes before it lets others in. Tests make it
// short, so that others get in everywhere; it must not change while a broker is in use.
var Length = 1000
