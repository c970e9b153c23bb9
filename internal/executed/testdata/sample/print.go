package main

import (
	"fmt"
	"path"

	"github.com/leveretmq/leveret/internal/executed"
)

// printCounts prints the blocks of main.go. What it executes itself is counted while it does so.
func printCounts() {
	code, err := executed.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := code.Counts()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range code.Functions {
		for _, b := range f.Blocks {
			if path.Base(f.File) == "main.go" {
				fmt.Println(f.Package, f.Name, f.Literal, b.From, b.To, counts[b.Number])
			}
		}
	}
}
