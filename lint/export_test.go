package lint

// Severities returns the severity of each code.
func Severities() map[Code]Severity { return codes }
