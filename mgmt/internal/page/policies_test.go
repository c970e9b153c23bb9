package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A preview says what a policy would do to queues and what is in them, and does nothing.
func TestPolicyPreview(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		for _, kind := range []string{"policies", "operator-policies"} {
			b, s := newSite(t, leveret.WithProfile(profile))
			fill(t, b)
			form := url.Values{"do": {"preview"}, "vhost": {"/"}, "kind": {kind}, "policy": {"new"}, "pattern": {"^parked"}, "apply-to": {"queues"},
				"definition": {`{"max-length": 5}`}, "priority": {"7"}}
			page := s.post("/policy", form)
			assert.Contains(t, words(page), "queue parked")
			assert.Contains(t, words(page), "max-length")
			assert.NotContains(t, words(page), "queue orders")
			assert.Contains(t, page, `value="^parked"`, "what was typed stays")
			assert.Contains(t, page, `{&#34;max-length&#34;: 5}</textarea>`)
			assert.Len(t, b.Policies(), 1)
			assert.Len(t, b.OperatorPolicies(), 1)

			form.Set("do", "set")
			w := s.send("/policy", form)
			require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
			assert.Equal(t, "/policies", w.Header().Get("Location"))
			q, err := b.Queue("parked")
			require.NoError(t, err)
			limit, _ := q.Effective().Get("max-length")
			assert.Equal(t, int64(5), limit.Value)
			assert.Contains(t, words(s.post("/policy", withDo(form, "preview"))), "Nothing would change")

			known := "/policy?" + url.Values{"vhost": {"/"}, "name": {"new"}, "kind": {kind}}.Encode()
			assert.Contains(t, strings.ReplaceAll(s.get("/policies"), "&amp;", "&"), known)
			assert.Contains(t, s.get(known), `value="^parked"`)
			assert.Contains(t, words(s.post(known, url.Values{"do": {"previewclear"}})), "queue parked")
			assert.Equal(t, http.StatusSeeOther, s.send(known, url.Values{"do": {"clear"}}).Code)
			assert.Len(t, b.Policies(), 1)
			assert.Len(t, b.OperatorPolicies(), 1)
		}
	}
}

func withDo(form url.Values, do string) url.Values {
	form.Set("do", do)
	return form
}

// Messages that a limit would drop are told of before it is set.
func TestPolicyPreviewTellsOfLosses(t *testing.T) {
	b, s := newSite(t)
	fill(t, b)
	form := url.Values{"do": {"preview"}, "policy": {"new"}, "pattern": {"^parked"}, "definition": {`{"max-length": 5}`}}
	assert.Contains(t, words(s.post("/policy", form)), "dropped")
}

func TestPolicyRefused(t *testing.T) {
	b, s := newSite(t)
	fill(t, b)
	for _, c := range []struct{ want, field, value string }{
		{"The definition is no JSON", "definition", "{"},
		{"The priority is no number", "priority", "high"},
		{"The priority is no number", "priority", "NaN"},
		{"The priority is no number", "priority", "-inf"},
		{"max-length", "definition", `{"max-length": "many"}`},
		{"missing closing", "pattern", "(<img"},
	} {
		for _, do := range []string{"preview", "set"} {
			form := url.Values{"do": {do}, "policy": {"new"}, "pattern": {"x"}, "definition": {`{"max-length": 5}`}}
			form.Set(c.field, c.value)
			w := s.send("/policy", form)
			assert.Equal(t, http.StatusBadRequest, w.Code, "%s %s", do, c.value)
			assert.Contains(t, words(w.Body.String()), c.want)
			assertHarmless(t, c.want, w.Body.String())
		}
	}
	assert.Equal(t, http.StatusNotFound, s.send("/policy?name=unknown", nil).Code)
	assert.Len(t, b.Policies(), 1)
}

// Only those who may set policies may see what they would change.
func TestPoliciesNeedTags(t *testing.T) {
	b, s := newSite(t)
	fill(t, b)
	for _, user := range []string{"management", "policymaker"} {
		require.NoError(t, b.AddUser(user, user, user))
		require.NoError(t, b.SetPermissions(user, leveret.Permissions{}))
	}
	form := url.Values{"policy": {"new"}, "pattern": {"^parked"}, "definition": {`{"max-length": 5}`}}
	for _, do := range []string{"preview", "set", "previewclear", "clear"} {
		w := s.send("/policy?name=limit&kind=policies", withDo(form, do), as("management"))
		assert.Equal(t, http.StatusForbidden, w.Code, do)
		assert.NotContains(t, w.Body.String(), "orders")
	}
	assert.Equal(t, http.StatusOK, s.send("/policy", withDo(form, "preview"), as("policymaker")).Code)
	assert.Equal(t, http.StatusSeeOther, s.send("/policy", withDo(form, "set"), as("policymaker")).Code)
	form.Set("kind", "operator-policies")
	assert.Equal(t, http.StatusForbidden, s.send("/policy", withDo(form, "set"), as("policymaker")).Code)
}
