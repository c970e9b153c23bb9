package control_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/control"
)

// directory returns a directory for a socket, and removes it.
func directory() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "orders")
	if err != nil {
		panic(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

// A program has a broker, and its operator looks at it from another terminal. Call stands for leveret ctl here.
func ExampleOpen() {
	b := leveret.New()
	defer b.Close()
	b.DeclareQueue("orders", leveret.QueueConfig{Durable: true})
	b.Publish("", "orders", leveret.Message{Body: []byte("order 17")})

	dir, remove := directory()
	defer remove()
	socket, err := control.Open(b, control.Config{Path: filepath.Join(dir, "control")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer socket.Close()

	std := control.Streams{In: strings.NewReader(""), Out: os.Stdout, Err: os.Stdout}
	control.Call([]string{"--control", socket.Path(), "list_queues", "name", "messages"}, std)
	control.Call([]string{"--control", socket.Path(), "set_policy", "short", "^orders$", `{"max-length":0}`}, std)
	control.Call([]string{"--control", socket.Path(), "list_queues", "-q", "--no-table-headers", "name", "messages", "policy"}, std)
	// Output:
	// Timeout: 60.0 seconds ...
	// Listing queues for vhost / ...
	// name	messages
	// orders	1
	// Setting policy "short" for pattern "^orders$" to "{"max-length":0}" with priority "0" for vhost "/" ...
	// orders	0	short
}

// A program that has no second binary gives operators the commands itself: orders ctl status.
func ExampleCall() {
	b := leveret.New()
	defer b.Close()
	dir, remove := directory()
	defer remove()
	socket, _ := control.Open(b, control.Config{Path: filepath.Join(dir, "control"), NodeName: "orders@farm"})
	defer socket.Close()

	std := control.Streams{In: strings.NewReader("a secret\n"), Out: os.Stdout, Err: os.Stdout}
	ctl := func(args ...string) { // in a program: os.Exit(control.Call(os.Args[2:], …))
		status := control.Call(append([]string{"--control", socket.Path()}, args...), std)
		fmt.Println("exit code", status)
	}
	ctl("check_running")
	ctl("add_user", "auditor", "--quiet") // reads the password from standard input
	ctl("stop")                           // the program has given no Config.Stop
	// Output:
	// Checking if RabbitMQ is running on node orders@farm ...
	// RabbitMQ on node orders@farm is fully booted and running
	// exit code 0
	// exit code 0
	// Error:
	// this node is part of a program that leveret ctl cannot end
	// exit code 69
}

// Without a path the socket is where leveret ctl looks by itself.
func ExampleDefaultPath() {
	os.Setenv("XDG_RUNTIME_DIR", "/run/user/1000")
	defer os.Unsetenv("XDG_RUNTIME_DIR")
	fmt.Println(control.DefaultPath())
	// Output: /run/user/1000/leveret/control
}

func ExampleSocket_Path() {
	b := leveret.New()
	defer b.Close()
	dir, remove := directory()
	defer remove()
	socket, _ := control.Open(b, control.Config{Path: filepath.Join(dir, "control")})
	defer socket.Close()
	fmt.Println(filepath.Base(socket.Path()))

	_, err := control.Open(b, control.Config{Path: socket.Path()})
	fmt.Println(errors.Is(err, control.ErrInUse))
	// Output:
	// control
	// true
}

// The broker goes on without its socket.
func ExampleSocket_Close() {
	b := leveret.New()
	defer b.Close()
	dir, remove := directory()
	defer remove()
	socket, _ := control.Open(b, control.Config{Path: filepath.Join(dir, "control")})
	fmt.Println(socket.Close())
	_, err := os.Lstat(socket.Path())
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	_, err = b.DeclareQueue("orders", leveret.QueueConfig{})
	fmt.Println(err)
	// Output:
	// <nil>
	// true
	// <nil>
}
