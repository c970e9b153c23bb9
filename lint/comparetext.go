package lint

import (
	"fmt"
	"strings"
)

// signs stand before a change, as in the output of diff.
var signs = map[How]string{Added: "+", Removed: "-", Changed: "~"}

// String returns the changes as lines for a person. It is empty if the files say the same.
func (c *Comparison) String() string {
	var b strings.Builder
	for _, e := range c.Changes {
		b.WriteString(e.String())
	}
	for _, text := range c.NotCompared {
		fmt.Fprintf(&b, "? not compared: %s\n", text)
	}
	return b.String()
}

// String returns the change as a line, and a line under it for each difference and each effect.
func (c Change) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s '%s'", signs[c.How], c.Kind, c.Name)
	if c.VHost != "" && c.VHost != "/" && c.Kind != kindVHost {
		fmt.Fprintf(&b, " in virtual host '%s'", c.VHost)
	}
	b.WriteString("\n")
	for _, d := range c.Differences {
		fmt.Fprintf(&b, "    %s\n", d)
	}
	for _, e := range c.Effects {
		fmt.Fprintf(&b, "  ! %s\n", e.Text)
	}
	return b.String()
}

// String returns the difference as a line.
func (d Difference) String() string {
	from, when := "", ""
	if d.From != "" {
		from = " by " + d.From
	}
	if !d.AtOnce {
		when = ", when it is declared anew"
	}
	return fmt.Sprintf("%s: %s → %s%s%s", d.Key, valueText(d.Old), valueText(d.New), from, when)
}
