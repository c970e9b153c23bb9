package mgmt_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// The answer to a login is a token in 4.3, and a cookie in 3.10.
func TestAnswersToLogins(t *testing.T) {
	asForm := func(r *http.Request) {
		r.Header.Del("Authorization")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for p, want := range map[leveret.Profile][]any{
		leveret.RabbitMQ43: {map[string]any{"user": map[string]any{"name": "guest", "tags": []any{"administrator"}, "is_internal_user": true},
			"token": map[string]any{"type": "basic", "value": "Z3Vlc3Q6Z3Vlc3Q="}}, ""},
		leveret.RabbitMQ310: {"ok", "auth=Z3Vlc3Q6Z3Vlc3Q=; Version=1"},
	} {
		b := leveret.New(leveret.WithProfile(p))
		r := direct{t, mgmt.Handler(b)}.send("POST", "login", "username=guest&password=guest", asForm)
		assert.Equal(t, want, []any{r.body, r.header.Get("Set-Cookie")}, p.Version())
		b.Close()
	}
}

// The name of a cluster is a text, or a list of which a text can be made. RabbitMQ 4.3 and 3.10 fail at what is neither.
func TestClusterNamesOfOtherTypes(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	for given, want := range map[string]int{`["a"]`: 204, `1`: 500, `null`: 500} {
		assert.Equal(t, want, api.send("PUT", "cluster-name", `{"name":`+given+`}`).status, given)
	}
	assert.Equal(t, "a", api.at("cluster-name", "name"))
}

// Rules: A-17.
func TestPasswordsThatAreNotTaken(t *testing.T) {
	_, a, _ := newAPI(t, leveret.WithCredentialValidator(func(_, password string) error {
		if password == "bad" {
			return errors.New("no good")
		}
		return nil
	}))
	require.Equal(t, http.StatusCreated, a.do("PUT", "users/ann", `{"password":"good","tags":""}`).status)
	for _, r := range [][2]string{{"PUT", "users/ann"}, {"PUT", "users/bob"}} {
		got := a.do(r[0], r[1], `{"password":"bad","tags":""}`)
		assert.Equal(t, []any{http.StatusBadRequest, map[string]any{"error": "bad_request", "reason": "credential_validation_failed"}}, []any{got.status, got.body})
	}
	got := a.do("POST", "definitions", `{"users":[{"name":"bob","password":"bad","tags":""}]}`)
	assert.Equal(t, []any{http.StatusBadRequest, map[string]any{"error": "bad_request", "reason": "credential_validation_failed"}}, []any{got.status, got.body})
	require.Equal(t, http.StatusNoContent, a.do("PUT", "users/ann", `{"tags":""}`).status)
}
