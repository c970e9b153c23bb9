package mgmt

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// getDefinitions exports the definitions of the broker or of a virtual host.
func (c *call) getDefinitions() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, badRequest("vhost_not_found")
	}
	if v != nil {
		d := definitions.OfVHost(v)
		name := ""
		if c.namesVHosts {
			name = v.Name()
		}
		d.Parameters = append(d.Parameters, c.emptyLimits(name, v)...)
		return d, nil
	}
	d := definitions.Of(c.broker)
	for _, v := range c.vhosts() {
		d.Parameters = append(d.Parameters, c.emptyLimits(v.Name(), v)...)
	}
	if d.ClusterName != "" {
		d.ClusterName = c.clusterName()
		d.Explanation = "Definitions of cluster '" + d.ClusterName + "'"
	}
	return d, nil
}

// emptyLimits returns the parameter of a virtual host's limits if no limit is left in it.
func (n *node) emptyLimits(named string, v *leveret.VHost) []definitions.Parameter {
	if _, isEmpty := n.limitsOf(v).([]any); !isEmpty {
		return nil
	}
	return []definitions.Parameter{{VHost: named, Component: componentLimits, Name: "limits", Value: json.RawMessage("[]")}}
}

// postDefinitions imports a document: all of it, or nothing if an entry is refused.
func (c *call) postDefinitions() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, notFound("vhost_not_found")
	}
	data, err := c.uploaded()
	if err != nil {
		return nil, err
	}
	before := c.topology()
	if v != nil {
		err = definitions.ImportVHost(v, data)
	} else {
		err = c.importAll(data)
	}
	if err == nil {
		c.rememberImport(before)
	}
	var syntax *definitions.SyntaxError
	if errors.As(err, &syntax) {
		return nil, badRequest("failed_to_parse_json")
	}
	return nil, invalid(err)
}

// importAll imports a document of the whole broker. The user makes the virtual hosts that are new.
func (c *call) importAll(data []byte) error {
	before := c.broker.VHosts()
	if err := definitions.Import(c.broker, data); err != nil {
		return err
	}
	for _, info := range c.broker.VHosts() {
		isNew := !slices.ContainsFunc(before, func(old leveret.VHostInfo) bool { return old.Name == info.Name })
		if v, err := c.broker.VHost(info.Name); err == nil && isNew {
			c.remember(v)
		}
	}
	return nil
}

// uploaded returns the body of a request, or the file in the form that a page sends.
func (c *call) uploaded() ([]byte, error) {
	kind, _, err := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return c.readAll()
	}
	c.request.Body = http.MaxBytesReader(nil, c.request.Body, maxBody)
	file, _, err := c.request.FormFile("file")
	if err != nil {
		return nil, badRequest(err.Error())
	}
	defer file.Close()
	return io.ReadAll(file)
}
