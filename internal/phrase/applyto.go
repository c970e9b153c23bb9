package phrase

import "strings"

// EmptyApplyTo stands for an apply-to that is an empty text. The broker takes an empty text for all, and RabbitMQ refuses it.
const EmptyApplyTo = "\x00"

// WithEmptyApplyTo returns a refusal of EmptyApplyTo with the empty text in its place.
func WithEmptyApplyTo(refusal string) string {
	return strings.ReplaceAll(refusal, "'"+EmptyApplyTo+"'", "''")
}
