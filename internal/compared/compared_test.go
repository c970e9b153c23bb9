package compared_test

import (
	"testing"

	"github.com/leveretmq/leveret/internal/compared"
	"github.com/stretchr/testify/assert"
)

func TestJSON(t *testing.T) {
	answer := map[string]any{"name": "q", "memory": 5.0, "node": "a@b", "list": []any{"b", "a"}, "reason": []any{"b", "a"}}
	assert.Equal(t, map[string]any{"name": "q", "list": []any{"a", "b"}, "reason": []any{"b", "a"}}, compared.JSON(answer, false, "node"))
	assert.Equal(t, map[string]any{"name": "q", "node": "a@b", "list": []any{"b", "a"}, "reason": []any{"b", "a"}}, compared.JSON(answer, true))
}
