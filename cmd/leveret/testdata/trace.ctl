# Tracing, which nobody asks a virtual host's existence for.
$ -q add_vhost ctl-test
$ trace_on -p ctl-test
> Starting tracing for vhost "ctl-test" ...
> Trace enabled for vhost ctl-test
$ trace_on -p ctl-test -q
> Trace enabled for vhost ctl-test
~ ctl-test
$ list_vhosts -q name tracing
> ctl-test	true
$ trace_off -p ctl-test
> Stopping tracing for vhost "ctl-test" ...
> Trace disabled for vhost ctl-test
$ trace_off -p ctl-test -q
> Trace disabled for vhost ctl-test
$ trace_off -p ctl-test --formatter json
> {"node":"NODE","value":"Trace disabled for vhost ctl-test","result":"ok"}
~ ctl-test
$ list_vhosts -q name tracing
> ctl-test	false
$ -q delete_vhost ctl-test
