#!/usr/bin/env bash
# Prints what `ut plan` predicts beside what `ut bench` measures, as a Markdown table. Both run REPEATS times, in turn;
# the table has the medians.
#
#   cluster/plan_check.sh                                      meshes of 1, 2 and 4 ranks on this machine
#   LAUNCH_SLOW="netrun.sh {}" cluster/plan_check.sh           also 2 and 4 ranks over another launcher's links
#
# Variables: UT (build/release/ut), REPEATS (3), ITERATIONS (10), LAUNCH and LAUNCH_SLOW (the command that starts {}
# ranks of a program; without LAUNCH, `ut` starts them, with --ranks), SLOW_NAME (the name of those links in the table).
set -euo pipefail
case ${1-} in
  "") ;;
  --help) sed -n '2,/^set -/{/^set -/!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
  *) echo "plan_check.sh: $1: unknown option (see plan_check.sh --help)" >&2; exit 2 ;;
esac
here=$(unset CDPATH; cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
UT=${UT:-$here/../build/release/ut}
[[ -x $UT ]] ||
  { echo "plan_check.sh: $UT: no such program; ./quickstart build makes it, UT=FILE names another" >&2; exit 2; }
UT=$(realpath "$UT")
REPEATS=${REPEATS:-3}
ITERATIONS=${ITERATIONS:-10}
LAUNCH=${LAUNCH:-}
LAUNCH_SLOW=${LAUNCH_SLOW:-}
SLOW_NAME=${SLOW_NAME:-slowed}

small="--d-model 128 --heads 4 --ffn 512 --batch 16 --length 128 --encoder-only"
large="--d-model 256 --heads 4 --ffn 1024 --batch 4 --length 256 --encoder-only"
halting="--steps 12 --halting act-copy --bench-ponder"

# A setting: "name | links | ranks | sequence-parallel | options"
settings() {
  local ranks_shared
  for ranks_shared in "1 1" "2 1" "2 2" "4 2" "4 4"; do
    read -r ranks shared <<<"$ranks_shared"
    echo "d 256, ponder 3 | free | $ranks | $shared | $large $halting 3"
    echo "d 256, ponder 12 | free | $ranks | $shared | $large $halting 12"
  done
  echo "d 128, ponder 3 | free | 1 | 1 | $small $halting 3"
  echo "d 128, ponder 12 | free | 2 | 2 | $small $halting 12"
  echo "d 128, no halting, decoder | free | 2 | 1 | --d-model 128 --heads 4 --ffn 512 --batch 32 --length 40 --steps 6"
  [[ -n $LAUNCH_SLOW ]] || return 0
  echo "d 256, ponder 3 | $SLOW_NAME | 2 | 2 | $large $halting 3"
  echo "d 256, ponder 12 | $SLOW_NAME | 2 | 2 | $large $halting 12"
  echo "d 128, ponder 3 | $SLOW_NAME | 2 | 1 | $small $halting 3"
  echo "d 128, ponder 3 | $SLOW_NAME | 4 | 4 | $small $halting 3"
}

# run LINKS RANKS arguments…: runs the program on RANKS ranks
run() {
  local links=$1 ranks=$2 launch=$LAUNCH
  shift 2
  [[ $links == free ]] || launch=$LAUNCH_SLOW
  if [[ -n $launch ]]; then
    ${launch//\{\}/$ranks} "$UT" "$@"
  else
    "$UT" "$@" --ranks "$ranks"
  fi
}

# value EXPRESSION: prints the value of EXPRESSION, in which `json` is the JSON object on standard input
value() { python3 -c 'import json, sys; json = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
median() { python3 -c 'import statistics, sys; print(statistics.median(map(float, sys.argv[1:])))' "$@"; }

echo "| setting | links | ranks | sequence-parallel | predicted (ms) | measured (ms) | predicted / measured |"
echo "|---|---|---|---|---|---|---|"
settings | while IFS='|' read -r name links ranks shared options; do
  links=$(xargs <<<"$links")
  ranks=$(xargs <<<"$ranks")
  shared=$(xargs <<<"$shared")
  predicted=() measured=()
  chosen="max((one['shards'], one['update_s']) for one in json['candidates'] if one['sequence_parallel'] == $shared \
and one['exchange'] in ('none', 'broadcast') and one['sends'] == 'keys-values')[1]"  # zigzag if there is a decoder
  for ((repeat = 0; repeat < REPEATS; ++repeat)); do
    predicted+=("$(run "$links" "$ranks" plan $options --vocab 64 --threads 1 --json </dev/null | value "$chosen")")
    measured+=("$(run "$links" "$ranks" bench $options --vocab 64 --threads 1 --iterations "$ITERATIONS" \
      --sequence-parallel "$shared" --json </dev/null | value "json['median_step_s']")")
  done
  python3 - "$name" "$links" "$ranks" "$shared" "$(median "${predicted[@]}")" "$(median "${measured[@]}")" <<'PYTHON'
import sys
name, links, ranks, shared = (word.strip() for word in sys.argv[1:5])
predicted, measured = (1000 * float(word) for word in sys.argv[5:7])
numbers = f"{predicted:.0f} | {measured:.0f} | {predicted / measured:.2f}"
print(f"| {name} | {links} | {ranks} | {shared} | {numbers} |", flush=True)
PYTHON
done
