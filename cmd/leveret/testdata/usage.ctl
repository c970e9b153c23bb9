# Mistakes in calling, and the memory limit.
$ list_queue
$ list_qeues
$ help ctl-no
$ status extra
$ status --unit foo
$ await_startup
$ set_vm_memory_high_watermark
$ set_vm_memory_high_watermark 1.5
$ set_vm_memory_high_watermark -0.5
$ set_vm_memory_high_watermark abc
$ set_vm_memory_high_watermark 0.4 5
$ set_vm_memory_high_watermark absolute
$ set_vm_memory_high_watermark absolute abc
$ set_vm_memory_high_watermark absolute 1XB
$ set_vm_memory_high_watermark absolute 1.5GB
$ set_vm_memory_high_watermark absolute 2GB
$ set_vm_memory_high_watermark absolute 2000000000 --formatter json
$ set_vm_memory_high_watermark absolute 1 2 3
