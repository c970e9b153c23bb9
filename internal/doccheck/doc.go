// Package doccheck tests what is written about the code, and how the files look: the quotations and links of
// README.md and CONTRIBUTING.md, the tests and commands that docs/reliability.md names, an Example for each exported
// operation, doc comments that name the function below them, the groups of imports.
package doccheck
