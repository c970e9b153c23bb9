package move

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// A document is the definitions of one virtual host, as the management API exports them. What a move does not look at stays as
// it is.
type document map[string]json.RawMessage

// entry is what a move looks at in an entry of a document.
type entry struct {
	Name            string
	Type            string
	Component       string
	Destination     string
	DestinationType string         `json:"destination_type"`
	Arguments       map[string]any `json:"arguments"`
}

// definitions exports the virtual host.
func (b *Broker) definitions() (d document, err error) {
	return d, b.get("definitions/"+b.segment(), &d)
}

// entries are those of a section.
func (d document) entries(section string) (all []json.RawMessage) {
	_ = json.Unmarshal(d[section], &all) // a section that is missing has none
	return all
}

// keep leaves in a section what the function wants.
func (d document) keep(section string, want func(entry) bool) {
	kept := slices.DeleteFunc(d.entries(section), func(raw json.RawMessage) bool {
		var e entry
		return json.Unmarshal(raw, &e) != nil || !want(e)
	})
	if len(kept) == 0 {
		kept = []json.RawMessage{}
	}
	d[section], _ = json.Marshal(kept)
}

// movedParameters are the components of parameters that are settings of the broker itself. Others belong to plugins, and a
// federation or a shovel that works on both sides would take messages twice.
var movedParameters = []string{"operator_policy", "vhost-limits"}

// narrow takes out of a document what is not to be moved, and returns what that was.
func (d document) narrow(wanted func(queue string) bool) (leftOut []string) {
	gone := map[string]bool{}
	d.keep("queues", func(e entry) bool {
		stream := e.Type == "stream" || e.Arguments["x-queue-type"] == "stream"
		if stream && wanted(e.Name) {
			leftOut = append(leftOut, "queue "+e.Name+": a stream is not moved")
		}
		gone[e.Name] = stream || !wanted(e.Name)
		return !gone[e.Name]
	})
	d.keep("bindings", func(e entry) bool { return e.DestinationType != "queue" || !gone[e.Destination] })
	d.keep("exchanges", func(e entry) bool { return !strings.HasPrefix(e.Name, "amq.") })
	d.keep("parameters", func(e entry) bool {
		if !slices.Contains(movedParameters, e.Component) {
			leftOut = append(leftOut, "parameter "+e.Component+" "+e.Name+": parameters of plugins are not moved")
			return false
		}
		return true
	})
	return leftOut
}

// counts says how many entries of which section a document has.
func (d document) counts() map[string]int {
	all := map[string]int{}
	for _, section := range []string{"exchanges", "queues", "bindings", "policies", "parameters"} {
		all[section] = len(d.entries(section))
	}
	return all
}

// accept makes the virtual host if it is missing, and imports definitions. What exists already stays as it is.
func (b *Broker) accept(d document) error {
	var refused *apiError
	err := b.get("vhosts/"+b.segment(), nil)
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		err = b.call(http.MethodPut, "vhosts/"+b.segment(), struct{}{}, nil)
	}
	if err != nil {
		return err
	}
	return b.call(http.MethodPost, "definitions/"+b.segment(), d, nil)
}
