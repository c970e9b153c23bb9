package mgmt_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
)

// The tags of a user lose the blanks around them, whichever way they are given, and a tag may be empty then. RabbitMQ 4.3
// and 3.10 agree.
func TestTagsOfBlanks(t *testing.T) {
	for given, want := range map[string][]any{
		`"a\t, ,b,,c "`:        {"a\t", "", "b", "c"},
		`[" a","","b\t"," "]`:  {"a", "", "b\t", ""},
		`" "`:                  {""},
		`""`:                   {},
		`"administrator, x y"`: {"administrator", "x y"},
		`"\u00e9"`:             {"\u00c3\u00a9"}, // octets are characters of Latin-1
		`[1,true,null,-5]`:     {"1", "true", "null", "-5"},
		`[[32,97,233],[],{}]`:  {"a\u00e9", "", ""},
		`["\u00e9"]`:           {"\u00c3\u00a9"},
	} {
		b := leveret.New()
		api := direct{t, mgmt.Handler(b)}
		assert.Equal(t, 201, api.send("PUT", "users/u", `{"password":"x","tags":`+given+`}`).status)
		assert.Equal(t, want, api.at("users/u", "tags"), given)
		assert.Equal(t, 204, api.send("POST", "definitions", `{"users":[{"name":"i","password_hash":"eA==","tags":`+given+`}]}`, sentAsJSON).status)
		assert.Equal(t, want, api.at("users/i", "tags"), "imported: %s", given)
		b.Close()
	}
}
