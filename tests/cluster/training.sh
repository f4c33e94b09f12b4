# shellcheck shell=bash
# A small training run, and functions that compare two runs and check how a command ended.

export OMP_NUM_THREADS=1

readonly training=(
  train --task addition --train-length 9 --evaluation-length 9 --evaluation-examples 10 --train-examples 100
  --d-model 16 --heads 2 --ffn 32 --steps 2 --batch 8 --dropout 0.2 --dtype float64 --learning-rate 0.003 --warmup 5
  --log-every 1 --evaluate-every 0 --checkpoint-every 10 --threads 1
)

# losses RUN: prints a line `update loss` for each update.
losses() { sed -nE 's/^\{"update":([0-9]+),"loss":([^,]+),.*/\1 \2/p' "$1/metrics.jsonl"; }

updates_done() { losses "$1" 2>/dev/null | tail -n 1 | cut -d ' ' -f 1; }

# has_done RUN UPDATES
has_done() { [[ $(updates_done "$1") -ge $2 ]]; }

# expect_same_curve RUN REFERENCE: the same updates, each once, with losses equal to 1e-9 relative.
expect_same_curve() {
  paste -d ' ' <(losses "$1") <(losses "$2") | awk '
    NF != 4 || $1 != $3 { print "line " NR ": \"" $0 "\""; exit 1 }
    { error = ($2 - $4) / $4; if (error * error > 1e-18) { print "update " $1 ": losses " $2 " and " $4; exit 1 } }
    END { if (NR == 0) { print "no losses"; exit 1 } }' || fail "$1 did not go as $2"
}

# exit_code COMMAND…: runs it and prints its exit code. Its output goes to /mnt/output, its errors to /mnt/errors.
exit_code() {
  local code=0
  "$@" >/mnt/output 2>/mnt/errors </dev/null || code=$?
  echo $code
}

# expect_said LINES PATTERN: /mnt/errors has so many lines of `ut`, and a line that matches.
expect_said() {
  [[ $(grep -c '^ut: ' /mnt/errors) == "$1" ]] && grep -Eq "$2" /mnt/errors && return
  cat /mnt/output /mnt/errors
  fail "expected $1 line of ut like \"$2\""
}

# expect_code CODE COMMAND…
expect_code() {
  local expected=$1 code
  shift
  code=$(exit_code "$@")
  [[ $code == "$expected" ]] && return
  cat /mnt/output /mnt/errors
  fail "exit code $code instead of $expected: $*"
}

# run_tests NAME…: calls these functions; a test that fails ends the script.
run_tests() {
  local name begin
  for name in "$@"; do
    begin=$SECONDS
    $name
    echo "passed: ${name//_/ }, $((SECONDS - begin)) s"
  done
}
