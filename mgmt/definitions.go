package mgmt

import (
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

// getDefinitions exports the definitions of the broker or of a virtual host.
func (c *call) getDefinitions() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, errNoDefinitions
	}
	if err := c.nameFile(); err != nil {
		return nil, err
	}
	if v != nil {
		return c.tag(definitions.OfVHost(v)), nil
	}
	d := definitions.Of(c.broker)
	if d.ClusterName != "" {
		d.ClusterName = c.clusterName()
		d.Explanation = "Definitions of cluster '" + d.ClusterName + "'"
	}
	return c.tag(d), nil
}

// tag gives definitions an entity tag, which they have in 4.3.
func (c *call) tag(d *definitions.Definitions) any {
	if c.oldFeatures {
		return d
	}
	return tagged{d, c.request.Method == http.MethodHead}
}

// token matches what may stand in a header without quotes.
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// nameFile says under which name a browser keeps the definitions, which the parameter download asks for.
func (c *call) nameFile() error {
	names := c.params["download"]
	switch {
	case c.malformed != nil:
		return c.malformed
	case names == nil:
		return nil
	case c.namesAnyFile && c.valueless["download"]:
		return errCrash
	case !c.namesAnyFile && (len(names) > 1 || !token.MatchString(names[0])):
		return errMalformed
	}
	c.header.Set("Content-Disposition", "attachment; filename="+names[0])
	return nil
}

// postDefinitions imports a document: all of it, or nothing if an entry is refused.
func (c *call) postDefinitions() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, notFound("vhost_not_found")
	}
	data, err := c.uploaded()
	if err != nil || len(data) == 0 {
		return nil, err
	}
	if c.readsLeniently {
		data = jsondoc.Lenient(data)
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
	return nil, c.refusedImport(err)
}

// refusedImport is invalid for an import. RabbitMQ 3.10 shows some refusals before it has made texts of them: JSON has such a term
// as a list, and the text in it as a list of octets.
func (c *call) refusedImport(err error) error {
	var entry *definitions.Error
	var reason *leveret.Error
	if !c.termsOfImports || !errors.As(err, &entry) || !errors.As(err, &reason) {
		return invalid(err)
	}
	var term interface {
		error
		Term() erl.Tuple
	}
	if errors.As(err, &term) {
		return c.refusedByTerm(term.Term())
	}
	code, text, _ := strings.Cut(reason.Reason, ": ") // the refusal of an exchange or a queue begins with its code
	hasCode := code == "precondition_failed" || code == "command_invalid"
	switch {
	case reason.Code == leveret.NotFound:
		return badRequest([]string{"no_such_vhost", reason.Name})
	case entry.Section == "policies" || entry.Section == "parameters":
		return c.refusedParameter(reason)
	case c.ofVHost:
	case hasCode:
		return badRequest([]any{"amqp_error", code, octetList([]byte(text)), "none"})
	case entry.Index < 0 && strings.HasPrefix(reason.Reason, "Adding "):
		return badRequest([]any{"vhost_limit_exceeded", octetList([]byte(reason.Reason))})
	}
	return invalid(err)
}

// refusedByTerm shows a term as JSON. RabbitMQ's handler fails at complaints about limits.
func (c *call) refusedByTerm(term erl.Tuple) error {
	if term[0] == erl.Atom("errors") {
		return errCrash
	}
	return badRequest(jsonOf(term))
}

// jsonOf is a term as JSON has it: a tuple is a list, a string a list of its characters, and an atom or a binary a text.
func jsonOf(term any) any {
	switch t := term.(type) {
	case erl.Tuple:
		return jsonOf(erl.List(t))
	case erl.List:
		all := make([]any, len(t))
		for i := range t {
			all[i] = jsonOf(t[i])
		}
		return all
	case erl.String:
		return []rune(string(t))
	case erl.Map:
		all := object{}
		for _, p := range t {
			all[fmt.Sprint(p.Key)] = jsonOf(p.Value)
		}
		return all
	case erl.Atom:
		return decodeAtom(t)
	}
	return term
}

// decodeAtom is an atom as JSON has it: some are no texts.
func decodeAtom(a erl.Atom) any {
	switch a {
	case "true", "false":
		return a == "true"
	case "null":
		return nil
	}
	return string(a)
}

// refusedParameter is the refusal of a policy or a parameter in an import. In one of a single virtual host the text is printed as a
// term.
func (c *call) refusedParameter(reason *leveret.Error) error {
	err := c.escaped(invalid(reason))
	if f, ok := err.(*failure); ok && c.ofVHost {
		text, _ := f.reason.(string)
		return badRequest(c.notation.FormatWidth(erl.Binary(text), 0, math.MaxInt32))
	}
	return err
}

// importAll imports a document of the whole broker. The user makes the virtual hosts that are new, and may do all there unless
// the document says otherwise.
func (c *call) importAll(data []byte) error {
	before := c.broker.VHosts()
	if err := definitions.Import(c.broker, data); err != nil {
		return err
	}
	for _, info := range c.broker.VHosts() {
		isNew := !slices.ContainsFunc(before, func(old leveret.VHostInfo) bool { return old.Name == info.Name })
		v, err := c.broker.VHost(info.Name)
		if err != nil || !isNew {
			continue
		}
		c.remember(v)
		if err := c.permitMaker(v); err != nil {
			return err
		}
	}
	return nil
}

// permitMaker gives the user all permissions in a virtual host, unless the user has some.
func (c *call) permitMaker(v *leveret.VHost) error {
	if c.isMember(v) {
		return nil
	}
	return v.SetPermissions(c.user.Name, leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"})
}

// uploaded returns the body of a request, or the file in the form that a page sends.
func (c *call) uploaded() ([]byte, error) {
	kind, _, err := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return c.readAll()
	}
	c.request.Body = http.MaxBytesReader(nil, c.request.Body, maxBody)
	if err := c.request.ParseMultipartForm(maxBody); err != nil {
		return nil, badRequest(err.Error())
	}
	if text, ok := c.request.MultipartForm.Value["file"]; ok { // without the name of a file
		return []byte(text[0]), nil
	}
	file, _, err := c.request.FormFile("file")
	if err != nil {
		return nil, badRequest("failed_to_parse_json")
	}
	defer file.Close()
	return io.ReadAll(file)
}
