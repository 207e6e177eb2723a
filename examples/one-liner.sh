#!/bin/sh
# One batch with curl and jq: every command with its exit code, in the order asked.
# Start `signalbox serve`, then: examples/one-liner.sh [address]
curl -sf "${1:-http://127.0.0.1:7311}/batches" -H 'content-type: application/json' -H 'prefer: wait=60' -d '{"commands":["ls","git --version","echo written > made.txt"]}' | jq -r '.commands[] | "\(.exitCode) \(.verdict.kind) \(.command)"'
