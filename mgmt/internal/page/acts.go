package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// What the forms of queues and exchanges do, with the user's permissions: by the API, or as the user's client (transfer.go).

var queueActs = map[string]func(*visit) act{"publish": (*visit).publishToQueue, "get": (*visit).get, "purge": (*visit).purge,
	"delete": (*visit).deleteQueue, "sendback": (*visit).sendBack, "move": (*visit).move}

var exchangeActs = map[string]func(*visit) act{"publish": (*visit).publishToExchange}

func (v *visit) publishToExchange() act {
	_, name := v.vhostAndName()
	return v.publish(name, v.field("key"))
}

// publishToQueue publishes by the default exchange.
func (v *visit) publishToQueue() act {
	_, name := v.vhostAndName()
	return v.publish("", name)
}

func (v *visit) publish(exchange, key string) act {
	properties := json.RawMessage("{}")
	if given := v.field("properties"); given != "" {
		properties = json.RawMessage(given)
	}
	if !json.Valid(properties) {
		return failed(&Refusal{http.StatusBadRequest, "The properties are no JSON."})
	}
	encoding := "string"
	if v.field("base64") != "" {
		encoding = "base64"
	}
	vhost, _ := v.vhostAndName()
	answer, err := v.source.Ask(v.request, Question{Method: http.MethodPost, Path: []string{"exchanges", vhost, exchangeInPath(exchange), "publish"},
		Query: url.Values{}, Body: Object{"routing_key": key, "properties": properties, "payload": v.field("body"), "payload_encoding": encoding}})
	switch {
	case err != nil:
		return failed(err)
	case answer.(Object)["routed"] != true:
		return failed(&Refusal{http.StatusConflict, "No queue took the message: it was unroutable."})
	}
	return did("The message was published and routed.")
}

// get takes messages by the API, and gives them back or not as the mode says.
func (v *visit) get() act {
	vhost, name := v.vhostAndName()
	answer, err := v.source.Ask(v.request, Question{Method: http.MethodPost, Path: []string{"queues", vhost, name, "get"}, Query: url.Values{},
		Body: Object{"count": strconv.Itoa(v.howMany(perPage)), "ackmode": v.field("mode"), "encoding": "auto"}})
	if err != nil {
		return failed(err)
	}
	all, _ := answer.([]Object)
	done := did(some(len(all)) + " taken.")
	for _, o := range all {
		done.Messages = append(done.Messages, taken(o))
	}
	return done
}

// howMany reads the count of a form, from 1 to most.
func (v *visit) howMany(most int) int {
	n, _ := strconv.Atoi(v.field("count")) // what is no number is 1
	return min(max(n, 1), most)
}

// some says how many messages.
func some(n int) string {
	if n == 1 {
		return "1 message was"
	}
	return fmt.Sprintf("%d messages were", n)
}

func (v *visit) purge() act {
	vhost, name := v.vhostAndName()
	_, err := v.source.Ask(v.request, Question{Method: http.MethodDelete, Path: []string{"queues", vhost, name, "contents"}, Query: url.Values{}})
	if err != nil {
		return failed(err)
	}
	return did("The ready messages are gone.")
}

// deleteQueue deletes the queue, if it is as the form's boxes demand, and goes on with the list.
func (v *visit) deleteQueue() act {
	vhost, name := v.vhostAndName()
	conditions := url.Values{}
	for _, condition := range []string{"if-unused", "if-empty"} {
		if v.field(condition) != "" {
			conditions.Set(condition, "true")
		}
	}
	_, err := v.source.Ask(v.request, Question{Method: http.MethodDelete, Path: []string{"queues", vhost, name}, Query: conditions})
	if err != nil {
		return failed(err)
	}
	return act{goTo: "/queues"}
}
