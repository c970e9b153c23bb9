package erl

import (
	"encoding/base64"
	"strings"
)

var withoutBlanks = strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "")

// DecodeBase64 decodes base64 as Erlang does: blanks may stand anywhere.
func DecodeBase64(text string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(withoutBlanks.Replace(text))
}
