#!/bin/bash
# report.sh [REPETITIONS]: measures everything with run.sh, and writes docs/performance.md and its plots from it. run.sh tells which
# variables have RabbitMQ measured, too.
set -eu
cd "$(dirname "$0")"
./run.sh "${1:-3}"
go run ./report
