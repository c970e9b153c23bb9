package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// machine tells where the measurements were taken, and of which versions.
func (p *page) machine() {
	p.text("## The machine")
	fmt.Fprintf(p, "- %s, %d processors, %s of memory, %s/%s, %s\n", firstOf("/proc/cpuinfo", `model name\s*:\s*(.*)`), runtime.NumCPU(),
		memory(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	fmt.Fprintf(p, "- leveret: commit %s\n", output("git", "rev-parse", "--short=12", "HEAD"))
	if url := os.Getenv("BENCH_RABBIT_URL"); url != "" {
		fmt.Fprintf(p, "- RabbitMQ %s\n", rabbitVersion(url))
	}
	fmt.Fprintf(p, "- modules: %s\n\n", strings.ReplaceAll(output("go", "list", "-m", "-f", "{{.Path}} {{.Version}}",
		"github.com/rabbitmq/amqp091-go", "github.com/nats-io/nats-server/v2", "github.com/nats-io/nats.go", "github.com/ThreeDotsLabs/watermill",
		"github.com/mochi-mqtt/server/v2"), "\n", ", "))
}

// firstOf returns what a pattern's group matches first in a file, "unknown" if nothing does.
func firstOf(file, pattern string) string {
	text, _ := os.ReadFile(file)
	if found := regexp.MustCompile(pattern).FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return "unknown"
}

func memory() string {
	kB := firstOf("/proc/meminfo", `MemTotal:\s*(\d+)`)
	var n int
	if _, err := fmt.Sscan(kB, &n); err != nil {
		return kB
	}
	return fmt.Sprintf("%d GiB", (n+1<<19)>>20)
}

func output(command string, args ...string) string {
	out, err := exec.Command(command, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func rabbitVersion(url string) string {
	c, err := amqp.Dial(url)
	if err != nil {
		return "unknown"
	}
	defer c.Close()
	return fmt.Sprint(c.Properties["version"])
}
