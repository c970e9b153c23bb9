package leveret_test

import (
	"fmt"

	"github.com/leveretmq/leveret"
)

// A test wants to see what a program does when the node is short of something.
func ExampleBroker_SetAlarm() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	b.SetAlarm(leveret.MemoryAlarm|leveret.DiskAlarm, true)
	fmt.Println(conn.Blocked(), conn.BlockedBy())
	b.SetAlarm(leveret.MemoryAlarm|leveret.DiskAlarm, false)
	fmt.Println(conn.Blocked())
	// Output:
	// true memory & disk
	// false
}

func ExampleBroker_Alarms() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(b.Alarms() == 0)
	b.SetAlarm(leveret.DiskAlarm, true)
	fmt.Println(b.Alarms(), b.Alarms()&leveret.MemoryAlarm != 0)
	// Output:
	// true
	// disk false
}

func ExampleAlarm_String() {
	fmt.Println(leveret.MemoryAlarm | leveret.DiskAlarm)
	// Output: memory & disk
}

func ExampleConn_BlockedBy() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	b.SetAlarm(leveret.DiskAlarm, true)
	if which := conn.BlockedBy(); which != 0 {
		fmt.Println("wait before publishing: low on", which)
	}
	// Output: wait before publishing: low on disk
}

// A broker whose disk needs more than the usual 50 MB as a reserve.
func ExampleWithDiskFreeLimit() {
	dir, remove := temporary()
	defer remove()

	b := try(leveret.Open(dir, leveret.WithDiskFreeLimit(1<<60)))
	defer b.Close()
	fmt.Println(b.Alarms())
	// Output: disk
}

func ExampleBroker_SetDiskFreeLimit() {
	dir, remove := temporary()
	defer remove()

	b := try(leveret.Open(dir))
	defer b.Close()
	conn := try(b.Connect("guest", "guest", "/"))
	b.SetDiskFreeLimit(1 << 60)
	fmt.Println(conn.Blocked())
	b.SetDiskFreeLimit(0)
	fmt.Println(conn.Blocked())
	// Output:
	// true
	// false
}

func ExampleBroker_DiskSpace() {
	dir, remove := temporary()
	defer remove()

	b := try(leveret.Open(dir))
	defer b.Close()
	s := b.DiskSpace()
	fmt.Println(s.Free > 0, s.Limit)
	// Output: true 50000000
}
