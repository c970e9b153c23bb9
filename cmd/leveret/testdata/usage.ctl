# Mistakes in calling, and the limits for memory and disk.
$ list_queue
! 
! Command 'list_queue' not found. 
! Did you mean 'list_queues'? 
! 
= 64
$ list_qeues
! 
! Command 'list_qeues' not found. 
! Did you mean 'list_queues'? 
! 
= 64
$ help ctl-no
! Error:
! 
! Command 'ctl-no' not found.
= 64
$ status extra
! Error (argument validation): too many arguments.
! Arguments given:
! 	status extra
! 
! Usage
! 
! PROGRAM status [--unit <unit>] [--timeout <timeout>]
= 64
$ status --unit foo
! Error (argument validation): "unit 'foo' is not supported. Please use one of: bytes, mb, mib, gb, gib, tb, tib"
! Arguments given:
! 	status --unit foo
! 
! Usage
! 
! PROGRAM status [--unit <unit>] [--timeout <timeout>]
= 64
$ await_startup
$ set_vm_memory_high_watermark
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_vm_memory_high_watermark
! 
! Usage
! 
! PROGRAM set_vm_memory_high_watermark <fraction> | absolute <value>
= 64
$ set_vm_memory_high_watermark 1.5
! Error (argument validation): Bad argument: The threshold should be a fraction between 0.0 and 1.0
! Arguments given:
! 	set_vm_memory_high_watermark 1.5
! 
! Usage
! 
! PROGRAM set_vm_memory_high_watermark <fraction> | absolute <value>
= 65
$ set_vm_memory_high_watermark -0.5
! Error (argument validation): Bad argument: The threshold should be a fraction between 0.0 and 1.0
! Arguments given:
! 	set_vm_memory_high_watermark -0.5
! 
! Usage
! 
! PROGRAM set_vm_memory_high_watermark <fraction> | absolute <value>
= 65
$ set_vm_memory_high_watermark abc
! Error (argument validation): Bad argument.
! Arguments given:
! 	set_vm_memory_high_watermark abc
! 
! Usage
! 
! PROGRAM set_vm_memory_high_watermark <fraction> | absolute <value>
= 65
$ set_vm_memory_high_watermark 0.4 5
! Error (argument validation): too many arguments.
! Arguments given:
! 	set_vm_memory_high_watermark 0.4 5
! 
! Usage
! 
! PROGRAM set_vm_memory_high_watermark <fraction> | absolute <value>
= 64
$ set_vm_memory_high_watermark absolute
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_vm_memory_high_watermark absolute
! 
! Usage
! 
! PROGRAM set_vm_memory_high_watermark <fraction> | absolute <value>
= 64
$ set_vm_memory_high_watermark absolute abc
! Error (argument validation): Bad argument.
! Arguments given:
! 	set_vm_memory_high_watermark absolute abc
! 
! Usage
! 
! PROGRAM set_vm_memory_high_watermark <fraction> | absolute <value>
= 65
$ set_vm_memory_high_watermark absolute 1XB
! Error (argument validation): Bad argument: Invalid units.
! Arguments given:
! 	set_vm_memory_high_watermark absolute 1XB
! 
! Usage
! 
! PROGRAM set_vm_memory_high_watermark <fraction> | absolute <value>
= 65
$ set_vm_memory_high_watermark absolute 1.5GB
! Error (argument validation): Bad argument: The threshold should be an integer.
! Arguments given:
! 	set_vm_memory_high_watermark absolute 1.5GB
! 
! Usage
! 
! PROGRAM set_vm_memory_high_watermark <fraction> | absolute <value>
= 65
$ set_vm_memory_high_watermark absolute 2GB
> Setting memory threshold on NODE to 2GB bytes ...
$ set_vm_memory_high_watermark absolute 2000000000 --formatter json
> {"node":"NODE","result":"ok"}
$ set_vm_memory_high_watermark absolute 1 2 3
! Error (argument validation): too many arguments.
! Arguments given:
! 	set_vm_memory_high_watermark absolute 1 2 3
! 
! Usage
! 
! PROGRAM set_vm_memory_high_watermark <fraction> | absolute <value>
= 64
$ stop a b
! Error (argument validation): too many arguments.
! Arguments given:
! 	stop a b
! 
! Usage
! 
! PROGRAM stop [--idempotent] [<pidfile>]
= 64
$ shutdown a
! Error (argument validation): too many arguments.
! Arguments given:
! 	shutdown a
! 
! Usage
! 
! PROGRAM shutdown [--wait] [--timeout <timeout>]
= 64
$ set_disk_free_limit
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_disk_free_limit
! 
! Usage
! 
! PROGRAM set_disk_free_limit <disk_limit> | mem_relative <fraction>
= 64
$ set_disk_free_limit abc
! Error (argument validation): Bad argument.
! Arguments given:
! 	set_disk_free_limit abc
! 
! Usage
! 
! PROGRAM set_disk_free_limit <disk_limit> | mem_relative <fraction>
= 65
$ set_disk_free_limit 1.5
! Error (argument validation): Bad argument.
! Arguments given:
! 	set_disk_free_limit 1.5
! 
! Usage
! 
! PROGRAM set_disk_free_limit <disk_limit> | mem_relative <fraction>
= 65
$ set_disk_free_limit 50mb
! Error (argument validation): Bad argument.
! Arguments given:
! 	set_disk_free_limit 50mb
! 
! Usage
! 
! PROGRAM set_disk_free_limit <disk_limit> | mem_relative <fraction>
= 65
$ set_disk_free_limit 50MB 5
! Error (argument validation): too many arguments.
! Arguments given:
! 	set_disk_free_limit 50MB 5
! 
! Usage
! 
! PROGRAM set_disk_free_limit <disk_limit> | mem_relative <fraction>
= 64
$ set_disk_free_limit mem_relative
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_disk_free_limit mem_relative
! 
! Usage
! 
! PROGRAM set_disk_free_limit <disk_limit> | mem_relative <fraction>
= 64
$ set_disk_free_limit mem_relative abc
! Error (argument validation): Bad argument.
! Arguments given:
! 	set_disk_free_limit mem_relative abc
! 
! Usage
! 
! PROGRAM set_disk_free_limit <disk_limit> | mem_relative <fraction>
= 65
$ set_disk_free_limit 50MB
> Setting disk free limit on NODE to 50MB bytes ...
$ set_disk_free_limit mem_relative 0.01
> Setting disk free limit on NODE to 0.01 times the total RAM ...
$ set_disk_free_limit 0
> Setting disk free limit on NODE to 0 bytes ...
$ set_disk_free_limit 50000000
> Setting disk free limit on NODE to 50000000 bytes ...
