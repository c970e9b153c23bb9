package mgmt

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/leveretmq/leveret/definitions"
)

// getDefinitions exports the definitions of the broker or of a virtual host.
func (c *call) getDefinitions() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, badRequest("vhost_not_found")
	}
	if v != nil {
		return definitions.OfVHost(v), nil
	}
	d := definitions.Of(c.broker)
	if d.ClusterName != "" {
		d.ClusterName = c.clusterName()
		d.Explanation = "Definitions of cluster '" + d.ClusterName + "'"
	}
	return d, nil
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
	if v != nil {
		err = definitions.ImportVHost(v, data)
	} else {
		err = definitions.Import(c.broker, data)
	}
	var syntax *definitions.SyntaxError
	if errors.As(err, &syntax) {
		return nil, badRequest("failed_to_parse_json")
	}
	return nil, invalid(err)
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
