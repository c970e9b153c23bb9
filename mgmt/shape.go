package mgmt

import (
	"encoding/json"

	"github.com/leveretmq/leveret/definitions"
)

// What a request asks of an answer: a page, an order, columns. RabbitMQ looks at the parameters of a page for every
// answer, but few lists have pages. It fails at wrong parameters where there are none, and shows an object as a whole
// if they are right.

// pages says whether a list has pages.
type pages uint8

const (
	noPages  pages = iota
	newPages       // not in 3.10
	hasPages
)

// A check is the answer of a health check.
type check object

// A whole is an object that columns do not cut.
type whole object

// An uncut list is one that columns do not cut.
type uncut []object

// shape cuts an answer to the page and the columns that the request asks for.
func (c *call) shape(answer any, p pages) (any, error) {
	switch answer := answer.(type) {
	case nil:
		return nil, nil
	case document:
		return answer, nil
	case reply:
		return c.shapeReply(answer)
	}
	if c.malformed != nil {
		return nil, c.malformed
	}
	switch answer := answer.(type) {
	case plain:
		return answer, nil
	case list:
		if p == hasPages || p == newPages && !c.oldPages {
			return c.page(answer)
		}
		return c.wholeList(answer)
	case uncut:
		_, err := c.columnsOfAll()
		if c.ordersNothing() {
			err = errCrash
		}
		return answer, err
	case whole:
		_, err := c.columnsOfAll()
		return answer, err
	case check:
		return c.shapeCheck(answer)
	case tagged:
		return answer, nil
	case *definitions.Definitions:
		return c.shapeDefinitions(answer)
	}
	wanted, err := c.columnsOfAll()
	return within(answer, wanted), err
}

// wholeList is a list without pages.
func (c *call) wholeList(l list) (any, error) {
	if _, err := c.columnsOfAll(); err != nil {
		return nil, err
	}
	if c.ordersNothing() {
		return nil, errCrash
	}
	l, err := c.sorted(l)
	return c.render(l), err
}

// ordersNothing reports whether a list is to have columns, or an order, and the query does not say which. RabbitMQ fails at that.
func (c *call) ordersNothing() bool {
	return c.valueless["columns"] || c.valueless["sort"] || c.valueless["sort_reverse"]
}

// columnsOfAll returns the columns of an answer without pages: all if the request asks for a page.
func (c *call) columnsOfAll() ([][]string, error) {
	page, err := c.paging()
	switch {
	case err != nil:
		return nil, errCrash
	case page != nil:
		return nil, nil
	case c.valueless["columns"]:
		return nil, errCrash
	}
	return c.columns(), nil
}

func (c *call) shapeReply(r reply) (any, error) {
	if r.body == nil {
		return r, nil
	}
	body, err := c.shape(r.body, noPages)
	r.body = body
	return r, err
}

// shapeCheck leaves the answer of a health check as it is, and fails if a page is asked for. In 3.10 it is an object
// like others.
func (c *call) shapeCheck(answer check) (any, error) {
	switch {
	case c.cutsChecks:
		return c.shape(object(answer), noPages)
	case c.params.Has("page"):
		return nil, errCrash
	}
	_, err := c.columnsOfAll()
	return answer, err
}

// shapeDefinitions leaves definitions as they are. In 3.10 they are an object like others.
func (c *call) shapeDefinitions(d *definitions.Definitions) (any, error) {
	asked := c.params.Has("page") || c.params.Has("page_size") || c.params.Has("columns") || c.valueless["name"] || c.valueless["use_regex"]
	if !c.cutsChecks || !asked {
		return d, nil
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, err
	}
	return c.shape(o, noPages)
}
