package mgmt_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// described returns what a virtual host is said to be.
func (d direct) described(vhost string) (description, tags, queueType any) {
	o := d.at("vhosts/" + vhost).(map[string]any)
	metadata := o["metadata"].(map[string]any)
	assert.Equal(d.t, o["description"], metadata["description"])
	assert.Equal(d.t, o["tags"], metadata["tags"])
	return o["description"], o["tags"], o["default_queue_type"]
}

// A PUT says all of a virtual host but its tracing: what the body does not mention has its default again.
func TestVHostIsSetAsAWhole(t *testing.T) {
	for _, c := range []struct {
		profile         leveret.Profile
		classic, quorum string
	}{
		{leveret.RabbitMQ43, "classic", "quorum"},
		{leveret.RabbitMQ310, "undefined", "undefined"},
	} {
		b := leveret.New(leveret.WithProfile(c.profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		put := func(body string, status int) {
			assert.Equal(t, status, api.send("PUT", "vhosts/v", body).status, body)
		}
		is := func(description string, tags []any, queueType string) {
			t.Helper()
			gotDescription, gotTags, gotType := api.described("v")
			assert.Equal(t, []any{description, tags, queueType}, []any{gotDescription, gotTags, gotType})
		}
		put(`{"description":"d","tags":"a,b","default_queue_type":"quorum","tracing":true}`, 201)
		is("d", []any{"a", "b"}, c.quorum)
		put(`{}`, 204)
		is("", []any{}, c.classic)
		assert.Equal(t, true, api.at("vhosts/v", "tracing"))
		put(`{"description":"d"}`, 204)
		put(`{"default_queue_type":"undefined"}`, 204)
		is("", []any{}, c.classic)
		for body, tags := range map[string][]any{
			`{"tags":" a, ,b ,"}`: {"a", "", "b", ""}, `{"tags":[1]}`: {"\x01"}, `{"tags":null}`: {}, `{"tags":""}`: {}, `{"tags":[]}`: {},
			`{"tags":["x,y"," z"]}`: {"x,y", "z"}, `{"tags":["\u000bx\f","\u001f"]}`: {"x", "\x1f"},
		} {
			put(body, 204)
			is("", tags, c.classic)
		}
		for _, tags := range []string{`[[]]`, `[{}]`, `5`, `{}`, `true`} {
			put(`{"description":"no","tags":`+tags+`}`, 500)
		}
		for given, description := range map[string]string{`1`: "1", `true`: "true", `null`: "null", `{"a":1}`: `{"a":1}`, `[]`: "[]"} {
			put(`{"description":`+given+`}`, 204) // RabbitMQ keeps the value, here it is a text
			is(description, []any{}, c.classic)
		}
	}
}

// RabbitMQ 3.10 takes the octets of tags for characters of Latin-1, among which is white space, too.
func TestTagsOfOctets(t *testing.T) {
	for profile, want := range map[leveret.Profile][]any{leveret.RabbitMQ43: {"\u00e9", "x", "\u00a0"},
		leveret.RabbitMQ310: {"\u00c3\u00a9", "x\u00c2", "\u00c2\u00a0"}} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		for _, tags := range []string{`["\u00e9 "," x\u0085","\u00a0"]`, `"\u00e9, x\u0085,\u00a0"`} {
			api.send("PUT", "vhosts/v", `{"tags":`+tags+`}`)
			assert.Equal(t, want, api.at("vhosts/v", "tags"), profile.Version()+tags)
		}
	}
}

// Numbers behind the first of a list of tags are texts in 3.10, and no tags in 4.3.
func TestNumbersAsTags(t *testing.T) {
	for profile, status := range map[leveret.Profile]int{leveret.RabbitMQ43: 500, leveret.RabbitMQ310: 201} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		assert.Equal(t, status, api.send("PUT", "vhosts/v", `{"tags":["a",1]}`).status)
		if status == 201 {
			assert.Equal(t, []any{"a", "1"}, api.at("vhosts/v", "tags"))
		}
	}
}

// The default queue type of a virtual host is one of 4.3's. 3.10 does not look at it.
func TestDefaultQueueTypes(t *testing.T) {
	for given, want := range map[string]any{
		`"classic"`: "classic", `"quorum"`: "quorum", `"rabbit_quorum_queue"`: "quorum", `"undefined"`: "classic", `null`: "classic",
		`""`: answered{400, "default_queue_type must not be an empty string"}, `"zz"`: answered{400, "zz is not a valid queue type"},
		`true`: answered{400, "true is not a valid queue type"}, `1`: answered{400, "1 is not a valid default_queue_type value"},
		`[]`: answered{400, "[] is not a valid default_queue_type value"}, `{}`: answered{400, "#{} is not a valid default_queue_type value"},
	} {
		for _, member := range []string{"default_queue_type", "defaultqueuetype"} {
			b := leveret.New()
			api := direct{t, mgmt.Handler(b)}
			r := api.send("PUT", "vhosts/v", `{"`+member+`":`+given+`}`)
			if a, refused := want.(answered); refused {
				assert.Equal(t, a.status, r.status, given)
				assert.Equal(t, map[string]any{"error": "bad_request", "reason": a.reason}, r.body, given)
			} else {
				assert.Equal(t, 201, r.status, given)
				assert.Equal(t, want, api.at("vhosts/v", "default_queue_type"), given)
			}
			b.Close()

			b = leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
			api = direct{t, mgmt.Handler(b)}
			assert.Equal(t, 201, api.send("PUT", "vhosts/v", `{"`+member+`":`+given+`}`).status, given)
			assert.Equal(t, "undefined", api.at("vhosts/v", "default_queue_type"), given)
			assert.Equal(t, 201, api.send("PUT", "queues/v/q", `{"durable":true}`).status)
			assert.Equal(t, "classic", api.at("queues/v/q", "type"))
			b.Close()
		}
	}
}

// The first exchanges of a virtual host are made by whoever makes the virtual host.
func TestWhoMadeTheFirstExchanges(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	maker := func(vhost string) (all []any) {
		for _, x := range api.at("exchanges/" + vhost).([]any) {
			all = append(all, x.(map[string]any)["user_who_performed_action"])
		}
		assert.Equal(t, all[0], api.at("exchanges/"+vhost+"/amq.default", "user_who_performed_action"))
		return all
	}
	all := func(user string) []any { return []any{user, user, user, user, user, user, user} }
	assert.Subset(t, all("rmq-internal"), maker("%2F"))
	assert.Equal(t, 201, api.send("PUT", "vhosts/v", `{}`).status)
	assert.Equal(t, all("guest"), maker("v"))
	assert.Equal(t, 204, api.send("POST", "definitions", `{"vhosts":[{"name":"imported"}]}`, sentAsJSON).status)
	assert.Equal(t, all("guest"), maker("imported"))
	require.NoError(t, b.DeleteVHost("v"))
	_, err := b.CreateVHost("v")
	require.NoError(t, err)
	assert.Equal(t, all("rmq-internal"), maker("v"))
	assert.Equal(t, 204, api.send("PUT", "vhosts/v", `{}`).status)
	assert.Equal(t, all("rmq-internal"), maker("v"))
}
