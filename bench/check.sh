#!/bin/bash
# check.sh: a short form of run.sh. It runs some of leveret's own benchmarks ten times and fails if one exceeds limits.txt: if it takes
# more than so many times its anchor of the same run, or allocates more or less than it did. Curves are measured three times, of 1,000 and
# 10,000.
set -eu
cd "$(dirname "$0")"
mkdir -p results
curves=$(sed -n 's/^BenchmarkCurves\/\(.*\) bends at most .*/\1/p' limits.txt | paste -sd '|')
go test -C .. -run '^$' -bench '^Benchmark(Cycle|Publish|Consumer|Headers|Reject|Full|Fanout)$' -benchmem -benchtime 30ms -cpu 1 -count 10 \
  ./internal/bench >results/check.out
go test -C .. -run '^$' -bench "^BenchmarkCurves$/^($curves)\$" -benchtime 1x -short -count 3 ./internal/bench >>results/check.out
go run ./ratios -check limits.txt results/check.out
