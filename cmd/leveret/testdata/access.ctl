# Users, permissions and virtual hosts.
$ add_vhost ctl-test
$ add_vhost ctl-test
$ add_vhost ctl-2 --description 'some text' --tags a,b --default-queue-type quorum
$ add_vhost ctl-3 -q
$ add_vhost ctl-4 --formatter json
$ add_vhost
$ add_vhost a b
$ add_vhost ctl-5 --default-queue-type nope
$ add_vhost ctl-5 --default-queue-type=
~ ctl-
$ list_vhosts
~ ctl-
$ list_vhosts -q name tracing default_queue_type description tags
~ ctl-
$ list_vhosts --formatter json name default_queue_type description tags
~ ctl-
$ list_vhosts cluster_state metadata name
$ delete_vhost ctl-3
$ delete_vhost ctl-3
$ delete_vhost ctl-3 --formatter json
$ delete_vhost ctl-4 --formatter json
$ delete_vhost
$ delete_vhost ctl-2 -q
$ add_user ctl-user pw
$ add_user ctl-user pw
$ add_user ctl-user pw --formatter json
$ add_user ctl-2 pw -q
$ add_user ctl-3 pw --formatter json
$ add_user '' pw
$ add_user
$ add_user a b c
< secret
$ add_user ctl-4
$ authenticate_user ctl-4 secret
$ add_user ctl-5
$ add_user ctl-6 ''
$ add_user ctl-7 +0tRIj0N8XBP9rY7f4XgYvBDSYPtlrUqJZXHXwAuqm2pBKl3 --pre-hashed-password
$ add_user ctl-8 !! --pre-hashed-password
$ set_user_tags ctl-user administrator monitoring
~ ctl-
$ list_users
~ ctl-
$ list_users --formatter json
$ set_user_tags ctl-user
$ set_user_tags
$ set_user_tags ctl-no a
$ set_user_tags ctl-no a --formatter json
$ set_user_tags ctl-user a --formatter json
$ change_password ctl-user new
$ change_password ctl-no new
$ change_password ctl-no new --formatter json
< typed
$ change_password ctl-user
$ authenticate_user ctl-user typed
$ authenticate_user ctl-user new
$ authenticate_user ctl-user new --formatter json
$ authenticate_user ctl-no new
$ change_password ctl-user
$ change_password ctl-user new --formatter json
$ change_password
$ change_password a b c
$ set_permissions -p ctl-test ctl-user ^c ^w ^r
$ set_permissions -p ctl-no ctl-user .* .* .*
$ set_permissions -p ctl-test ctl-no .* .* .*
$ set_permissions -p ctl-no ctl-user .* .* .* --formatter json
$ set_permissions -p ctl-test ctl-no .* .* .* --formatter json
$ set_permissions -p ctl-test ctl-user ( .* .*
$ set_permissions -p ctl-test ctl-user .* .*
$ set_permissions -p ctl-test ctl-user .* .* .* .*
$ list_permissions -p ctl-test
$ list_permissions -p ctl-test --formatter json
$ list_permissions -p ctl-no
$ list_user_permissions ctl-user
$ list_user_permissions ctl-no
$ clear_permissions -p ctl-test ctl-no
$ clear_permissions -p ctl-no ctl-user
$ clear_permissions -p ctl-test ctl-user
$ clear_permissions -p ctl-test ctl-user
$ clear_permissions -p ctl-test ctl-no --formatter json
$ clear_permissions
$ clear_permissions a b
$ list_permissions -p ctl-test
$ list_permissions -p ctl-test --formatter json
$ set_topic_permissions -p ctl-test ctl-user amq.topic ^a ^b
$ set_topic_permissions -p ctl-test ctl-user ctl-no ^a ^b
$ set_topic_permissions -p ctl-test ctl-no amq.topic ^a ^b
$ set_topic_permissions -p ctl-no ctl-user amq.topic ^a ^b
$ set_topic_permissions -p ctl-no ctl-user amq.topic ^a ^b --formatter json
$ set_topic_permissions -p ctl-test ctl-user amq.topic ( ^b
$ set_topic_permissions -p ctl-test ctl-user amq.topic ^a
$ list_topic_permissions -p ctl-test
$ list_topic_permissions -p ctl-test --formatter json
$ clear_topic_permissions -p ctl-test ctl-user amq.topic
$ clear_topic_permissions -p ctl-test ctl-user
$ clear_topic_permissions -p ctl-test ctl-no
$ clear_topic_permissions -p ctl-no ctl-user
$ clear_topic_permissions -p ctl-test ctl-no --formatter json
$ clear_topic_permissions
$ list_topic_permissions -p ctl-test
$ delete_user ctl-user
$ delete_user ctl-user
$ delete_user ctl-2 --formatter json
$ delete_user
$ -q delete_user ctl-3
$ -q delete_user ctl-4
$ -q delete_user ctl-6
$ -q delete_user ctl-7
$ -q delete_vhost ctl-test
