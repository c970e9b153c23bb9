# Users, permissions and virtual hosts.
$ add_vhost ctl-test
> Adding vhost "ctl-test" ...
$ add_vhost ctl-test
> Adding vhost "ctl-test" ...
$ add_vhost ctl-2 --description 'some text' --tags a,b --default-queue-type quorum
> Adding vhost "ctl-2" ...
$ add_vhost ctl-3 -q
$ add_vhost ctl-4 --formatter json
> {"node":"NODE","result":"ok"}
$ add_vhost
! Error (argument validation): not enough arguments.
! Arguments given:
! 	add_vhost
! 
! Usage
! 
! PROGRAM add_vhost <vhost> [--description <description> --tags "<tag1>,<tag2>,<...>" --default-queue-type <quorum|classic|stream>]
= 64
$ add_vhost a b
! Error (argument validation): too many arguments.
! Arguments given:
! 	add_vhost a b
! 
! Usage
! 
! PROGRAM add_vhost <vhost> [--description <description> --tags "<tag1>,<tag2>,<...>" --default-queue-type <quorum|classic|stream>]
= 64
$ add_vhost ctl-5 --default-queue-type nope
! Error (argument validation): Bad argument: Default queue type must be one of: quorum, stream, classic. Provided: nope
! Arguments given:
! 	add_vhost ctl-5 --default-queue-type nope
! 
! Usage
! 
! PROGRAM add_vhost <vhost> [--description <description> --tags "<tag1>,<tag2>,<...>" --default-queue-type <quorum|classic|stream>]
= 65
$ add_vhost ctl-5 --default-queue-type=
! Error (argument validation): Bad argument: Default queue type must not be an empty string
! Arguments given:
! 	add_vhost ctl-5 --default-queue-type=
! 
! Usage
! 
! PROGRAM add_vhost <vhost> [--description <description> --tags "<tag1>,<tag2>,<...>" --default-queue-type <quorum|classic|stream>]
= 65
~ ctl-
$ list_vhosts
> ctl-2
> ctl-3
> ctl-4
> ctl-test
~ ctl-
$ list_vhosts -q name tracing default_queue_type description tags
> ctl-2	false	quorum	some text	[a, b]
> ctl-3	false	classic		[]
> ctl-4	false	classic		[]
> ctl-test	false	classic		[]
~ ctl-
$ list_vhosts --formatter json name default_queue_type description tags
> {"default_queue_type":"classic","description":"","name":"ctl-3","tags":[]}
> {"default_queue_type":"classic","description":"","name":"ctl-4","tags":[]}
> {"default_queue_type":"classic","description":"","name":"ctl-test","tags":[]}
> {"default_queue_type":"quorum","description":"some text","name":"ctl-2","tags":["a","b"]}
~ ctl-
$ list_vhosts cluster_state metadata name
> [{NODE, running}]	#{default_queue_type => classic, description => , tags => []}	ctl-3
> [{NODE, running}]	#{default_queue_type => classic, description => , tags => []}	ctl-4
> [{NODE, running}]	#{default_queue_type => classic, description => , tags => []}	ctl-test
> [{NODE, running}]	#{default_queue_type => quorum, description => some text, tags => [a, b]}	ctl-2
$ delete_vhost ctl-3
> Deleting vhost "ctl-3" ...
$ delete_vhost ctl-3
> Deleting vhost "ctl-3" ...
! Virtual host 'ctl-3' does not exist
= 65
$ delete_vhost ctl-3 --formatter json
! Virtual host 'ctl-3' does not exist
= 65
$ delete_vhost ctl-4 --formatter json
> {"node":"NODE","result":"ok"}
$ delete_vhost
! Error (argument validation): not enough arguments.
! Arguments given:
! 	delete_vhost
! 
! Usage
! 
! PROGRAM delete_vhost <vhost>
= 64
$ delete_vhost ctl-2 -q
$ add_user ctl-user pw
> Adding user "ctl-user" ...
> Done. Don't forget to grant the user permissions to some virtual hosts! See 'PROGRAM help set_permissions' to learn more.
$ add_user ctl-user pw
> Adding user "ctl-user" ...
! Error:
! User "ctl-user" already exists
= 70
$ add_user ctl-user pw --formatter json
! {"message":"User ctl-user already exists","node":"NODE","result":"error"}
= 69
$ add_user ctl-2 pw -q
$ add_user ctl-3 pw --formatter json
> {"message":"Done. Don't forget to grant the user permissions to some virtual hosts! See 'PROGRAM help set_permissions' to learn more.","node":"NODE","status":"ok"}
$ add_user '' pw
! Error (argument validation): Bad argument: user cannot be an empty string
! Arguments given:
! 	add_user  pw
! 
! Usage
! 
! PROGRAM add_user <username> [<password>] [<password_hash> --pre-hashed-password]
= 65
$ add_user
! Error (argument validation): not enough arguments.
! Arguments given:
! 	add_user
! 
! Usage
! 
! PROGRAM add_user <username> [<password>] [<password_hash> --pre-hashed-password]
= 64
$ add_user a b c
! Error (argument validation): too many arguments.
! Arguments given:
! 	add_user a b c
! 
! Usage
! 
! PROGRAM add_user <username> [<password>] [<password_hash> --pre-hashed-password]
= 64
< secret
$ add_user ctl-4
> Adding user "ctl-4" ...
> Password: 
> Done. Don't forget to grant the user permissions to some virtual hosts! See 'PROGRAM help set_permissions' to learn more.
$ authenticate_user ctl-4 secret
> Authenticating user "ctl-4" ...
> Success
$ add_user ctl-5
> Adding user "ctl-5" ...
> Password: 
! Error:
! Password is not provided via argument or stdin
= 65
$ add_user ctl-6 ''
> Adding user "ctl-6" ...
> Done. Don't forget to grant the user permissions to some virtual hosts! See 'PROGRAM help set_permissions' to learn more.
$ add_user ctl-7 +0tRIj0N8XBP9rY7f4XgYvBDSYPtlrUqJZXHXwAuqm2pBKl3 --pre-hashed-password
> Adding user "ctl-7" ...
> Done. Don't forget to grant the user permissions to some virtual hosts! See 'PROGRAM help set_permissions' to learn more.
$ add_user ctl-8 !! --pre-hashed-password
! Error (argument validation): Bad argument: Could not Base64 decode provided password hash value
! Arguments given:
! 	add_user ctl-8 !! --pre-hashed-password
! 
! Usage
! 
! PROGRAM add_user <username> [<password>] [<password_hash> --pre-hashed-password]
= 65
$ set_user_tags ctl-user administrator monitoring
> Setting tags for user "ctl-user" to [administrator, monitoring] ...
~ ctl-
$ list_users
> ctl-2	[]
> ctl-3	[]
> ctl-4	[]
> ctl-6	[]
> ctl-7	[]
> ctl-user	[administrator, monitoring]
~ ctl-
$ list_users --formatter json
> {"tags":["administrator","monitoring"],"user":"ctl-user"}
> {"tags":[],"user":"ctl-2"}
> {"tags":[],"user":"ctl-3"}
> {"tags":[],"user":"ctl-4"}
> {"tags":[],"user":"ctl-6"}
> {"tags":[],"user":"ctl-7"}
$ set_user_tags ctl-user
> Setting tags for user "ctl-user" to [] ...
$ set_user_tags
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_user_tags
! 
! Usage
! 
! PROGRAM set_user_tags <username> <tag> [...]
= 64
$ set_user_tags ctl-no a
> Setting tags for user "ctl-no" to [a] ...
! Error:
! User "ctl-no" does not exist
= 67
$ set_user_tags ctl-no a --formatter json
! {"message":"User ctl-no does not exists","node":"NODE","result":"error"}
= 69
$ set_user_tags ctl-user a --formatter json
> {"node":"NODE","result":"ok"}
$ change_password ctl-user new
> Changing password for user "ctl-user" ...
$ change_password ctl-no new
> Changing password for user "ctl-no" ...
! Error:
! User "ctl-no" does not exist
= 67
$ change_password ctl-no new --formatter json
! {"message":"User ctl-no does not exists","node":"NODE","result":"error"}
= 69
< typed
$ change_password ctl-user
> Changing password for user "ctl-user" ...
> Password: 
$ authenticate_user ctl-user typed
> Authenticating user "ctl-user" ...
> Success
$ authenticate_user ctl-user new
> Authenticating user "ctl-user" ...
! Error:
! Error: failed to authenticate user "ctl-user"
! user 'ctl-user' - invalid credentials
= 65
$ authenticate_user ctl-user new --formatter json
! Error:
! Error: failed to authenticate user "ctl-user"
! user 'ctl-user' - invalid credentials
= 65
$ authenticate_user ctl-no new
> Authenticating user "ctl-no" ...
! Error:
! Error: failed to authenticate user "ctl-no"
! user 'ctl-no' - invalid credentials
= 65
$ change_password ctl-user
> Changing password for user "ctl-user" ...
> Password: 
! Error:
! Password is not provided via argument or stdin
= 70
$ change_password ctl-user new --formatter json
> {"node":"NODE","result":"ok"}
$ change_password
! Error (argument validation): not enough arguments.
! Arguments given:
! 	change_password
! 
! Usage
! 
! PROGRAM change_password <username> <password>
= 64
$ change_password a b c
! Error (argument validation): too many arguments.
! Arguments given:
! 	change_password a b c
! 
! Usage
! 
! PROGRAM change_password <username> <password>
= 64
$ set_permissions -p ctl-test ctl-user ^c ^w ^r
> Setting permissions for user "ctl-user" in vhost "ctl-test" ...
$ set_permissions -p ctl-no ctl-user .* .* .*
> Setting permissions for user "ctl-user" in vhost "ctl-no" ...
! Error:
! Virtual host ctl-no does not exist
= 69
$ set_permissions -p ctl-test ctl-no .* .* .*
> Setting permissions for user "ctl-no" in vhost "ctl-test" ...
! Error:
! User ctl-no does not exist
= 67
$ set_permissions -p ctl-no ctl-user .* .* .* --formatter json
! {"message":"Virtual host ctl-no does not exist","node":"NODE","result":"error"}
= 69
$ set_permissions -p ctl-test ctl-no .* .* .* --formatter json
! {"message":"User ctl-no does not exist","node":"NODE","result":"error"}
= 69
$ set_permissions -p ctl-test ctl-user ( .* .*
> Setting permissions for user "ctl-user" in vhost "ctl-test" ...
! Error:
! {:invalid_regexp, ~c"(", {~c"missing closing parenthesis", 1}}
= 69
$ set_permissions -p ctl-test ctl-user .* .*
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_permissions -p ctl-test ctl-user .* .*
! 
! Usage
! 
! PROGRAM set_permissions [--vhost <vhost>] <username> <conf> <write> <read>
= 64
$ set_permissions -p ctl-test ctl-user .* .* .* .*
! Error (argument validation): too many arguments.
! Arguments given:
! 	set_permissions -p ctl-test ctl-user .* .* .* .*
! 
! Usage
! 
! PROGRAM set_permissions [--vhost <vhost>] <username> <conf> <write> <read>
= 64
$ list_permissions -p ctl-test
> Listing permissions for vhost "ctl-test" ...
> ctl-user	^c	^w	^r
> user	configure	write	read
$ list_permissions -p ctl-test --formatter json
> [
> ]
> {"configure":"^c","read":"^r","user":"ctl-user","write":"^w"}
$ list_permissions -p ctl-no
> Listing permissions for vhost "ctl-no" ...
! Virtual host 'ctl-no' does not exist
= 65
$ list_user_permissions ctl-user
> Listing permissions for user "ctl-user" ...
> ctl-test	^c	^w	^r
> vhost	configure	write	read
$ list_user_permissions ctl-no
> Listing permissions for user "ctl-no" ...
! Error:
! {:no_such_user, "ctl-no"}
= 69
$ clear_permissions -p ctl-test ctl-no
> Clearing permissions for user "ctl-no" in vhost "ctl-test" ...
$ clear_permissions -p ctl-no ctl-user
> Clearing permissions for user "ctl-user" in vhost "ctl-no" ...
$ clear_permissions -p ctl-test ctl-user
> Clearing permissions for user "ctl-user" in vhost "ctl-test" ...
$ clear_permissions -p ctl-test ctl-user
> Clearing permissions for user "ctl-user" in vhost "ctl-test" ...
$ clear_permissions -p ctl-test ctl-no --formatter json
> {"node":"NODE","result":"ok"}
$ clear_permissions
! Error (argument validation): not enough arguments.
! Arguments given:
! 	clear_permissions
! 
! Usage
! 
! PROGRAM clear_permissions [--vhost <vhost>] <username>
= 64
$ clear_permissions a b
! Error (argument validation): too many arguments.
! Arguments given:
! 	clear_permissions a b
! 
! Usage
! 
! PROGRAM clear_permissions [--vhost <vhost>] <username>
= 64
$ list_permissions -p ctl-test
> Listing permissions for vhost "ctl-test" ...
> 
$ list_permissions -p ctl-test --formatter json
> []
$ set_topic_permissions -p ctl-test ctl-user amq.topic ^a ^b
> Setting topic permissions on "amq.topic" for user "ctl-user" in vhost "ctl-test" ...
$ set_topic_permissions -p ctl-test ctl-user ctl-no ^a ^b
> Setting topic permissions on "ctl-no" for user "ctl-user" in vhost "ctl-test" ...
! Error:
! Exchange ctl-no does not exist
= 69
$ set_topic_permissions -p ctl-test ctl-no amq.topic ^a ^b
> Setting topic permissions on "amq.topic" for user "ctl-no" in vhost "ctl-test" ...
! Error:
! User ctl-no does not exist
= 67
$ set_topic_permissions -p ctl-no ctl-user amq.topic ^a ^b
> Setting topic permissions on "amq.topic" for user "ctl-user" in vhost "ctl-no" ...
! Error:
! Virtual host ctl-no does not exist
= 69
$ set_topic_permissions -p ctl-no ctl-user amq.topic ^a ^b --formatter json
! {"message":"Virtual host ctl-no does not exist","node":"NODE","result":"error"}
= 69
$ set_topic_permissions -p ctl-test ctl-user amq.topic ( ^b
> Setting topic permissions on "amq.topic" for user "ctl-user" in vhost "ctl-test" ...
! Error:
! {:invalid_regexp, "(", {~c"missing closing parenthesis", 1}}
= 69
$ set_topic_permissions -p ctl-test ctl-user amq.topic ^a
! Error (argument validation): not enough arguments.
! Arguments given:
! 	set_topic_permissions -p ctl-test ctl-user amq.topic ^a
! 
! Usage
! 
! PROGRAM set_topic_permissions [--vhost <vhost>] <username> <exchange> <write> <read>
= 64
$ list_topic_permissions -p ctl-test
> Listing topic permissions for vhost "ctl-test" ...
> ctl-user	amq.topic	^a	^b
> user	exchange	write	read
$ list_topic_permissions -p ctl-test --formatter json
> [
> ]
> {"exchange":"amq.topic","read":"^b","user":"ctl-user","write":"^a"}
$ clear_topic_permissions -p ctl-test ctl-user amq.topic
> Clearing topic permissions on "amq.topic" for user "ctl-user" in vhost "ctl-test" ...
$ clear_topic_permissions -p ctl-test ctl-user
> Clearing topic permissions for user "ctl-user" in vhost "ctl-test" ...
$ clear_topic_permissions -p ctl-test ctl-no
> Clearing topic permissions for user "ctl-no" in vhost "ctl-test" ...
$ clear_topic_permissions -p ctl-no ctl-user
> Clearing topic permissions for user "ctl-user" in vhost "ctl-no" ...
$ clear_topic_permissions -p ctl-test ctl-no --formatter json
> {"node":"NODE","result":"ok"}
$ clear_topic_permissions
! Error (argument validation): not enough arguments.
! Arguments given:
! 	clear_topic_permissions
! 
! Usage
! 
! PROGRAM clear_topic_permissions [--vhost <vhost>] <username> [<exchange>]
= 64
$ list_topic_permissions -p ctl-test
> Listing topic permissions for vhost "ctl-test" ...
> 
$ delete_user ctl-user
> Deleting user "ctl-user" ...
$ delete_user ctl-user
> Deleting user "ctl-user" ...
$ delete_user ctl-2 --formatter json
> {"node":"NODE","result":"ok"}
$ delete_user
! Error (argument validation): not enough arguments.
! Arguments given:
! 	delete_user
! 
! Usage
! 
! PROGRAM delete_user <username>
= 64
$ -q delete_user ctl-3
$ -q delete_user ctl-4
$ -q delete_user ctl-6
$ -q delete_user ctl-7
$ -q delete_vhost ctl-test
