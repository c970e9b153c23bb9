package erl_test

import (
	"testing"

	"github.com/leveretmq/leveret/internal/erl"
	"github.com/stretchr/testify/assert"
)

func TestDecodeBase64(t *testing.T) {
	for given, want := range map[string]string{" Y\tW\nJ\rj ZA= =  ": "abcd", "   ": "", "YWJj": "abc"} {
		data, err := erl.DecodeBase64(given)
		assert.NoError(t, err, given)
		assert.Equal(t, want, string(data), given)
	}
	for _, given := range []string{"YWJjZA", "YWJjZA==Y", "YWJj\vZA==", "YWJj-_=="} {
		_, err := erl.DecodeBase64(given)
		assert.Error(t, err, given)
	}
}
