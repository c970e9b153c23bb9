# Definitions by way of files that the test's user cannot have, and of standard input.
$ -q add_vhost ctl-test
$ -q add_user ctl-user secret
$ -q set_permissions -p ctl-test ctl-user .* .* .*
$ export_definitions
$ export_definitions a b
$ export_definitions /ctl-no/x
$ export_definitions /
$ import_definitions /ctl-no/x
$ import_definitions /
$ import_definitions /dev/null
$ import_definitions a b
< []
$ import_definitions
< {"queues":[{"name":"z","vhost":"ctl-no","durable":true,"auto_delete":false,"arguments":{}}]}
$ import_definitions
< {"queues":[{"name":"z","vhost":"ctl-test","durable":true,"auto_delete":false,"arguments":{"x-max-length":"a"}}]}
$ import_definitions
< {"policies":[{"vhost":"ctl-test","name":"p","pattern":"","definition":{"max-length":"a"}}]}
$ import_definitions
$ -q delete_user ctl-user
$ -q delete_vhost ctl-test
