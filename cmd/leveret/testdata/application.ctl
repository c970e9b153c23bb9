# The application is stopped and started while the node answers.
$ add_vhost kept
> Adding vhost "kept" ...
$ reset
! Error: this command requires the 'rabbit' app to be stopped on the target node. Stop it with 'rabbitmqctl stop_app'.
! Arguments given:
! 	reset
! 
! Usage
! 
! PROGRAM reset
= 64
$ stop_app
> Stopping rabbit application on node NODE ...
$ stop_app -q
$ list_queues
! Error: this command requires the 'rabbit' app to be running on the target node. Start it with 'rabbitmqctl start_app'.
! Arguments given:
! 	list_queues
! 
! Usage
! 
! PROGRAM list_queues [--vhost <vhost>] [--online] [--offline] [--local] [--no-table-headers] [<column>, ...] [--timeout <timeout>]
= 64
$ list_vhosts name
! Error: this command requires the 'rabbit' app to be running on the target node. Start it with 'rabbitmqctl start_app'.
! Arguments given:
! 	list_vhosts name
! 
! Usage
! 
! PROGRAM list_vhosts [--no-table-headers] [<column> ...] [--timeout <timeout>]
= 64
$ add_vhost other
! Error: this command requires the 'rabbit' app to be running on the target node. Start it with 'rabbitmqctl start_app'.
! Arguments given:
! 	add_vhost other
! 
! Usage
! 
! PROGRAM add_vhost <vhost> [--description <description> --tags "<tag1>,<tag2>,<...>" --default-queue-type <quorum|classic|stream>]
= 64
$ start_app
> Starting node NODE ...
$ list_vhosts name -s
> /
> kept
$ start_app -q
$ stop_app --formatter json
> {"node":"NODE","result":"ok"}
$ reset
> Resetting node NODE ...
$ start_app --formatter json
> {"node":"NODE","result":"ok"}
$ list_vhosts name -s
> /
$ stop_app x
! Error (argument validation): too many arguments.
! Arguments given:
! 	stop_app x
! 
! Usage
! 
! PROGRAM stop_app
= 64
$ start_app x
! Error (argument validation): too many arguments.
! Arguments given:
! 	start_app x
! 
! Usage
! 
! PROGRAM start_app
= 64
$ reset x
! Error (argument validation): too many arguments.
! Arguments given:
! 	reset x
! 
! Usage
! 
! PROGRAM reset
= 64
