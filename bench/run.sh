#!/bin/bash
# run.sh [REPETITIONS [KIND]]: measures everything, or one kind (startup, cycle, topic, ttl, memory, amqp, latency, durable, connections,
# costs, contention, curves, bystander), interleaved, into results/; then prints medians and ratios. 'go run ./ratios -markdown results/*.txt' prints them as tables,
# 'go run ./ratios -amqp results/amqp.txt' how leveret does beside RabbitMQ, and 'go run ./ratios -durable results/durable.txt'
# how durable publishing does.
#   BENCH_RABBIT_URL   a RabbitMQ to measure beside leveret; its queues get names of their own
#   BENCH_RABBIT_PID   the process of that RabbitMQ, for its CPU time, if it is on this machine
#   BENCH_DATA         where leveret's directory is for kind durable: on the disk that RabbitMQ has its data on
#   BENCH_GARAGE_URL   a GarageMQ
#   BENCH_BASE         another build of the leveret command, to measure beside this one as impl=base
set -u
cd "$(dirname "$0")"
reps=${1:-6} only=${2:-}
mkdir -p results
rm -f results/*.txt results/*.hdr
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go test -c -o "$bin/peers" . && go test -C .. -c -o "$bin/own" ./internal/bench || exit 1
export BENCH_HISTOGRAMS=$PWD/results/latency.hdr
bench() { # kind benchtime cpus pattern [binary]: a run that hangs ends after nine minutes
  [ "${only:-$1}" = "$1" ] || return 0
  timeout -s QUIT 540 "$bin/${5:-peers}" -test.run '^$' -test.benchtime "$2" -test.cpu "$3" -test.bench "$4" >>"results/$1.txt" 2>>results/errors.txt ||
    echo "failed: $*" >>results/errors.txt
}
for _ in $(seq "$reps"); do
  bench startup 20x 2 Startup
  bench cycle 150ms 1,2 'Cycle|Copy'
  bench topic 100ms 1,2 Topic
  bench ttl 1x 2 'TTL|QueueTimers'
  bench memory 1x 2 'Memory|Goroutines'
  bench amqp 500ms 2 'AMQP$'
  bench latency 1s 2 Latency
  bench durable 1s 2 Durable
  bench connections 1x 2 'AMQP(Start|Connections)'
  bench costs 200ms 1 'Headers|Reject|Consumer' own
  bench contention 5x 2 Contention own
  bench curves 1x 2 Curves own
  bench bystander 1x 2 Bystander own
done
[ -s results/errors.txt ] && cat results/errors.txt >&2
go run ./ratios results/*.txt
