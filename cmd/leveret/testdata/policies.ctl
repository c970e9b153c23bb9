# Policies and operator policies.
$ -q add_vhost ctl-test
$ -q add_vhost ctl-2
$ set_policy -p ctl-test p1 '^q' '{"max-length":10,"dead-letter-exchange":"d"}'
$ set_policy -p ctl-test p2 '^x' '{"alternate-exchange":"ae"}' --priority 7 --apply-to exchanges
$ set_policy -p ctl-test p3 '' '{"max-length":0}' --priority -2 --apply-to classic_queues
$ set_policy -p ctl-test p4 'a' '{"max-length":-1}'
$ set_policy -p ctl-test p4 'a' '{"foo":1}'
$ set_policy -p ctl-test p4 'a' '{}'
$ set_policy -p ctl-test p4 'a' 'notjson'
$ set_policy -p ctl-test p4 'a' '{"max-length":'
$ set_policy -p ctl-test p4 'a' '{"max-length":10, "dead-letter-exchange":5, "overflow":"x"}'
$ set_policy -p ctl-test p4 '(' '{"max-length":10}'
$ set_policy -p ctl-test p4 'a' '{"max-length":10}' --apply-to foo
$ set_policy -p ctl-test p4 'a' '{"max-length":10}' --priority x
$ set_policy -p ctl-test p4 'a' '{"max-length":10}' --priority 1.5
$ set_policy -p ctl-no p4 'a' '{"max-length":10}'
$ set_policy -p ctl-no p4 'a' '{"max-length":10}' --formatter json
$ set_policy -p ctl-test p5 'a' '{"max-length":10}' --formatter json
$ set_policy -p ctl-test p5 'a' '{"max-length":"x"}' --formatter json
$ set_policy -p ctl-test p4 'a'
$ set_policy
$ set_policy a b c d
$ set_policy -p ctl-test p6 'a' '{"max-length":10}' -q
$ set_policy -p ctl-test
$ list_policies -p ctl-test
$ list_policies -p ctl-test -q
$ list_policies -p ctl-test -s
$ list_policies -p ctl-test --formatter json
$ list_policies -p ctl-no
$ list_policies -p ctl-test extra
$ set_operator_policy -p ctl-test o1 '^q' '{"max-length":10}' --priority 2 --apply-to queues
$ set_operator_policy -p ctl-test o1 '^q' '{"dead-letter-exchange":"x"}'
$ set_operator_policy -p ctl-test o1 '^q' '{"max-length":10}' --formatter json
$ list_operator_policies -p ctl-test
$ list_operator_policies -p ctl-test --formatter json
$ clear_operator_policy -p ctl-test o1
$ clear_operator_policy -p ctl-test o1
$ clear_operator_policy -p ctl-test
$ clear_policy -p ctl-test p1
$ clear_policy -p ctl-test p1
$ clear_policy -p ctl-test p1 --formatter json
$ clear_policy -p ctl-test p2 --formatter json
$ clear_policy -p ctl-no p1
$ clear_policy
$ list_policies -p ctl-2
$ list_policies -p ctl-2 --formatter json
$ set_policy -p ctl-2 twice a '{"message-ttl":10,"max-length":7}' --apply-to=all --priority=5
$ -q delete_vhost ctl-2
$ -q delete_vhost ctl-test
