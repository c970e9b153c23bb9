package ctl

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leveretmq/leveret/internal/erl"
)

// A pretty table has its cells in boxes, drawn with the line characters of a terminal, and bold titles.

const (
	barStart, barEnd = "\x1b(0", "\x1b(B" // between them letters are lines
	bar              = barStart + "x" + barEnd
)

// formatPretty writes a listing as a table, and anything else as one with a single cell.
func formatPretty(_ *call, r result) string {
	switch {
	case r.raw:
		return r.message
	case r.listing && len(r.rows) == 0 && r.blank:
		return prettyTable([]string{"Output"}, [][]string{{"[]"}})
	case !r.listing && r.message != "":
		return prettyTable([]string{"Output"}, [][]string{{r.message}})
	case len(r.rows) == 0:
		return ""
	}
	var titles []string
	for _, it := range r.rows[0] {
		titles = append(titles, it.key)
	}
	var cells [][]string
	for _, row := range r.rows {
		var texts []string
		for _, it := range row {
			texts = append(texts, prettyText(valueTerm(it.value)))
		}
		cells = append(cells, texts)
	}
	return prettyTable(titles, cells)
}

// prettyText is what stands in a cell: a list has its elements one after the other.
func prettyText(term any) string {
	switch term := term.(type) {
	case erl.Atom:
		return string(term)
	case erl.Latin1:
		if utf8.ValidString(string(term)) {
			return string(term)
		}
	case float64:
		return fmt.Sprintf("%f", term)
	case erl.List:
		var b strings.Builder
		for _, elem := range term {
			b.WriteString(prettyText(elem))
		}
		return b.String()
	}
	return erl.Format(term, 0)
}

// prettyTable draws a table whose cells may have several lines.
func prettyTable(titles []string, rows [][]string) string {
	widths := make([]int, len(titles))
	for _, row := range append([][]string{titles}, rows...) {
		for i, cell := range row {
			for _, line := range cellLines(cell) {
				widths[i] = max(widths[i], utf8.RuneCountInString(line))
			}
		}
	}
	var b strings.Builder
	border(&b, "lwk", widths)
	drawLine(&b, titles, widths, func(title string) string { return "\x1b[1m" + title + "\x1b[0m" })
	for _, row := range rows {
		border(&b, "tnu", widths)
		drawRow(&b, row, widths)
	}
	border(&b, "mvj", widths)
	return b.String()
}

// cellLines splits a cell into lines, with spaces for tabs.
func cellLines(cell string) []string {
	lines := strings.Split(cell, "\n")
	for i, line := range lines {
		parts := strings.Split(strings.TrimRight(line, "\r"), "\t")
		for j, part := range parts[:len(parts)-1] {
			parts[j] = part + strings.Repeat(" ", 8-utf8.RuneCountInString(part)%8)
		}
		lines[i] = strings.Join(parts, "")
	}
	return lines
}

// border draws a horizontal line. Its corners are at the left, between columns, and at the right.
func border(b *strings.Builder, corners string, widths []int) {
	b.WriteString(barStart)
	for i, w := range widths {
		corner := corners[1]
		if i == 0 {
			corner = corners[0]
		}
		b.WriteByte(corner)
		b.WriteString(strings.Repeat("q", w+2))
	}
	b.WriteByte(corners[2])
	b.WriteString(barEnd + "\n")
}

func drawRow(b *strings.Builder, row []string, widths []int) {
	cells, height := make([][]string, len(row)), 0
	for i, cell := range row {
		cells[i] = cellLines(cell)
		height = max(height, len(cells[i]))
	}
	for y := range height {
		line := make([]string, len(row))
		for i, cell := range cells {
			if y < len(cell) {
				line[i] = cell[y]
			}
		}
		drawLine(b, line, widths, func(text string) string { return text })
	}
}

func drawLine(b *strings.Builder, texts []string, widths []int, style func(string) string) {
	b.WriteString(bar)
	for i, text := range texts {
		fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
		b.WriteString(" " + style(text) + fill + " " + bar)
	}
	b.WriteByte('\n')
}
