package firehose

// Running counts the brokers that are remembered.
func Running() int {
	running.mu.Lock()
	defer running.mu.Unlock()
	return len(running.of)
}
