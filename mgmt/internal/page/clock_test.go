package page_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// On a manual clock time passes by buttons, and what is due has happened when the answer comes.
func TestClock(t *testing.T) {
	clock := leveret.NewManualClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()
	s := site{t, mgmt.Handler(b, mgmt.Config{Clock: clock})}
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMessageTTL: time.Minute}})
	require.NoError(t, err)
	assert.Contains(t, words(s.get("/clock")), "Due next nothing")
	assert.Equal(t, http.StatusConflict, s.send("/clock", url.Values{"do": {"next"}}).Code)
	_, err = b.Publish("", "q", leveret.Message{})
	require.NoError(t, err)
	assert.Contains(t, words(s.get("/clock")), "The clock shows 2030-01-02 03:04:05 UTC Due next 2030-01-02 03:05:05 UTC, in 1m0s")
	assert.Contains(t, words(s.post("/clock", url.Values{"do": {"advance"}, "for": {"59s"}})), "59s have passed.")
	assert.Equal(t, 1, q.Info().Messages)
	page := words(s.post("/clock", url.Values{"do": {"next"}}))
	assert.Contains(t, page, "1s have passed.")
	assert.Contains(t, page, "The clock shows 2030-01-02 03:05:05 UTC")
	assert.Equal(t, 0, q.Info().Messages)
	for _, wrong := range []string{"", "x", "-1s", "2100000h"} {
		assert.Equal(t, http.StatusBadRequest, s.send("/clock", url.Values{"do": {"advance"}, "for": {wrong}}).Code, wrong)
	}
	require.NoError(t, b.AddUser("mon", "mon", "monitoring"))
	assert.Contains(t, words(s.get("/clock", as("mon"))), "The clock shows")
	assert.Equal(t, http.StatusForbidden, s.send("/clock", url.Values{"do": {"advance"}, "for": {"1s"}}, as("mon")).Code)
	assert.Equal(t, time.Date(2030, 1, 2, 3, 5, 5, 0, time.UTC), clock.Now())
	assert.Contains(t, s.get("/"), `href="/clock"`)
}

func TestNoClock(t *testing.T) {
	_, s := newSite(t)
	assert.NotContains(t, s.get("/"), `href="/clock"`)
	assert.Equal(t, http.StatusNotFound, s.send("/clock", nil).Code)
	for _, do := range []string{"advance", "next"} {
		assert.LessOrEqual(t, 400, s.send("/clock", url.Values{"do": {do}, "for": {"1s"}}).Code)
	}
}
