package page

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Lists. The management API sorts, filters and pages; the columns are told by the tables in columns.go.

// A column says what a list has in one column.
type column struct {
	title string
	key   string // what the API sorts by; empty: it does not
	class string // "wide": not on a phone; "n": a number
	cell  func(Object) cell
}

// A listing is one table of a view.
type listing struct {
	Title, Kind string
	Heads       []head
	Rows        []row
	Total       int
	Page, Pages int
	Next, Back  string // URLs; empty: there is none
}

// A head is the heading of a column.
type head struct {
	Title, Class string
	Href         string // sorts by this column; empty: cannot
	Sorted       string // as aria-sort has it; empty: not by this column
}

// A row is one object.
type row struct{ Cells []cell }

// lister returns what loads a view of lists.
func lister(tables ...table) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		var all []listing
		for _, t := range tables {
			l, err := v.list(t)
			if err != nil {
				return nil, err
			}
			all = append(all, l)
		}
		return all, nil
	}
}

// A table is a list of the API with its columns.
type table struct {
	title, kind string // kind: what the API calls it, and the name of the table for others
	columns     []column
}

// list asks the API for the page that the query wants, in its order.
func (v *visit) list(t table) (listing, error) {
	path := []string{t.kind}
	if vhost := v.query.Get("vhost"); vhost != "" {
		path = append(path, vhost)
		if slices.Contains([]string{"connections", "channels"}, t.kind) {
			path = []string{"vhosts", vhost, t.kind}
		}
	}
	return v.listFrom(t, path)
}

func (v *visit) listFrom(t table, path []string) (listing, error) {
	q := url.Values{"page": {"1"}, "page_size": {"100"}}
	if !v.named {
		for _, name := range []string{"page", "sort", "sort_reverse", "name"} {
			if v.query.Get(name) != "" {
				q.Set(name, v.query.Get(name))
			}
		}
	}
	answer, err := v.source.Ask(v.request, Question{Path: path, Query: q})
	if err != nil {
		return listing{}, err
	}
	o, ok := answer.(Object)
	if !ok {
		return listing{}, fmt.Errorf("%v is no list", path)
	}
	l := listing{Title: t.title, Kind: t.kind, Total: int(number(o["filtered_count"])), Page: int(number(o["page"])),
		Pages: int(number(o["page_count"])), Heads: v.heads(t)}
	items, _ := o["items"].([]Object)
	for _, item := range items {
		l.Rows = append(l.Rows, t.row(item))
	}
	if l.Page > 1 {
		l.Back = v.with("page", strconv.Itoa(l.Page-1))
	}
	if l.Page < l.Pages {
		l.Next = v.with("page", strconv.Itoa(l.Page+1))
	}
	return l, nil
}

func (t table) row(o Object) (r row) {
	for _, c := range t.columns {
		cell := c.cell(o)
		cell.Class = strings.TrimSpace(c.class + " " + cell.Class)
		r.Cells = append(r.Cells, cell)
	}
	return r
}

// heads are the headings of a table; one more press on that of the column by which a list is sorted turns it round.
func (v *visit) heads(t table) (heads []head) {
	for _, c := range t.columns {
		h := head{Title: c.title, Class: c.class}
		if c.key != "" && !v.named {
			q := cloneValues(v.query)
			q.Del("page")
			q.Del("sort_reverse")
			q.Set("sort", c.key)
			if v.query.Get("sort") == c.key {
				h.Sorted = "descending"
				if v.query.Get("sort_reverse") != "true" {
					h.Sorted = "ascending"
					q.Set("sort_reverse", "true")
				}
			}
			h.Href = v.url(q)
		}
		heads = append(heads, h)
	}
	return heads
}

// with returns the URL of this view with one parameter changed.
func (v *visit) with(name, value string) string {
	q := cloneValues(v.query)
	q.Set(name, value)
	return v.url(q)
}
