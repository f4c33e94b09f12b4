#!/usr/bin/env bash
# Measures how training scales: runs `ut bench` over a grid of meshes, sizes and exchange forms, and writes a table and
# a chart.
#
#   cluster/scaling.sh --out DIR              every setting in turn, several times over; then the report
#   cluster/scaling.sh --list                 the settings, one a line, numbered from 0
#   cluster/scaling.sh --out DIR --one N      setting N alone (cluster/scaling.sbatch: one job of an array)
#   cluster/scaling.sh --out DIR --report     the report alone: DIR/scaling.csv, scaling.md, scaling.svg
#
# Variables set what is run:
#   UT          the program (build/release/ut)
#   RANKS       numbers of ranks ("1 2")
#   SIZES       models, as d-model:heads:ffn:steps ("256:4:1024:6")
#   BATCH       number of sequences: per rank in weak scaling, in all in strong scaling (32)
#   LENGTH      positions of a sequence if the ranks share the batch (40)
#   LONG        positions of a sequence that is cut over the ranks (1024)
#   LONG_BATCH  number of such sequences in an update (2)
#   EXCHANGES   exchange forms; "default" is the one that `ut` takes by itself ("default")
#   REPEATS     how often each setting is run (5)
#   ITERATIONS  updates of each run (10)
#   LAUNCH      the command that starts {} ranks of a program, such as "srun --mpi=pmix -n {}"; without it, `ut` starts
#               them, with --ranks
#   MORE        further options of ut bench ("--threads 1")
#
# Kinds of scaling: weak-data, the batch grows with the ranks; strong-data, the batch stays the same; strong-sequence,
# the ranks share the positions of the same sequences; weak-sequence, the sequences grow with the ranks.
#
# A setting whose results are in DIR already, with the same MORE and ITERATIONS, is not run again. Another UT or LAUNCH
# needs another DIR.
set -euo pipefail
here=$(unset CDPATH; cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

UT=${UT:-$here/../build/release/ut}
RANKS=${RANKS:-1 2}
SIZES=${SIZES:-256:4:1024:6}
BATCH=${BATCH:-32}
LENGTH=${LENGTH:-40}
LONG=${LONG:-1024}
LONG_BATCH=${LONG_BATCH:-2}
EXCHANGES=${EXCHANGES:-default}
REPEATS=${REPEATS:-5}
ITERATIONS=${ITERATIONS:-10}
LAUNCH=${LAUNCH:-}
MORE=${MORE:---threads 1}

out=
action=all
number=
while (($#)); do
  case $1 in
    --out | --one)
      (($# > 1)) || { echo "scaling.sh: $1: needs a value (see scaling.sh --help)" >&2; exit 2; }
      if [[ $1 == --out ]]; then out=$2; else action=one number=$2; fi
      shift 2
      ;;
    --list) action=list; shift ;;
    --report) action=report; shift ;;
    --help) sed -n '2,/^set -/{/^set -/!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "scaling.sh: $1: unknown option (see scaling.sh --help)" >&2; exit 2 ;;
  esac
done

# check NAME PATTERN WHAT: refuses the variable unless it matches the pattern.
check() {
  [[ ${!1} =~ ^($2)$ ]] || { echo "scaling.sh: $1: \"${!1}\" given, needs $3" >&2; exit 2; }
}
whole='[1-9][0-9]{0,8}'
for name in BATCH LENGTH LONG LONG_BATCH REPEATS ITERATIONS; do check $name "$whole" "a whole number from 1 on"; done
check RANKS "$whole( +$whole)*" "whole numbers from 1 on, spaces between"
check SIZES "$whole(:$whole){3}( +$whole(:$whole){3})*" "models as 256:4:1024:6, spaces between"

# A setting: "kind size ranks sequence-parallel exchange | options of ut bench".
settings() {
  local size d heads ffn steps ranks exchange options
  for size in $SIZES; do
    IFS=: read -r d heads ffn steps <<<"$size"
    options="--d-model $d --heads $heads --ffn $ffn --steps $steps"
    for ranks in $RANKS; do
      echo "weak-data $size $ranks 1 none | $options --batch $((BATCH * ranks)) --length $LENGTH"
      echo "strong-data $size $ranks 1 none | $options --batch $BATCH --length $LENGTH"
      for exchange in $EXCHANGES; do
        echo "strong-sequence $size $ranks $ranks $exchange | $options --batch $LONG_BATCH --length $LONG"
        echo "weak-sequence $size $ranks $ranks $exchange | $options --batch $LONG_BATCH --length $((LONG * ranks))"
      done
    done
  done
}

# run_setting NUMBER REPEAT: makes one measurement and keeps it in a file, unless that file is there already. With other
# variables the same number is another setting, so the file is named after what is run.
run_setting() {
  local result setting sum kind size ranks shared exchange measured line
  local -a options more launch command
  setting=$(settings | sed -n "$(($1 + 1))p")
  read -r kind size ranks shared exchange _ <<<"$setting"
  read -r sum _ < <(cksum <<<"$setting | $MORE | $ITERATIONS")
  result=$(printf '%s/results/%s-%s-%s-%02d.json' "$out" "$kind" "$ranks" "$sum" "$2")
  [[ ! -s $result ]] || return 0
  read -ra options <<<"${setting#*| }"
  read -ra more <<<"$MORE"
  command=("$UT" bench "${options[@]}" --vocab 64 --iterations "$ITERATIONS" --sequence-parallel "$shared" --json)
  command+=("${more[@]}")
  [[ $exchange == none || $exchange == default ]] || command+=(--exchange "$exchange")
  if [[ -n $LAUNCH ]]; then
    read -ra launch <<<"${LAUNCH//\{\}/$ranks}"
    command=("${launch[@]}" "${command[@]}")
  else
    command+=(--ranks "$ranks")
  fi
  echo "$kind $size, $ranks ranks, sequence-parallel $shared, exchange $exchange: run $2" >&2
  if ! measured=$("${command[@]}"); then
    echo "scaling.sh: failed: ${command[*]}" >&2
    return 1
  elif ! line=$(python3 -c '
import json, sys
kind, size, ranks, shared, exchange, more, repeat, bench = sys.argv[1:]
measured = json.loads(bench)
assert isinstance(measured, dict)
print(json.dumps({"kind": kind, "size": size, "ranks": int(ranks), "sequence_parallel": int(shared),
                  "exchange": exchange, "more": more, "repeat": int(repeat), "bench": measured}))
' "$kind" "$size" "$ranks" "$shared" "$exchange" "$MORE" "$2" "$measured" 2>/dev/null); then
    echo "scaling.sh: not one JSON object on standard output: ${command[*]}" >&2
    return 1
  fi
  { echo "$line" >"$result.new" && mv "$result.new" "$result"; } ||
    { echo "scaling.sh: $result: cannot be written" >&2; return 1; }
}

if [[ $action == list ]]; then
  settings | cat -n | awk '{ $1 = $1 - 1; print }'
  exit 0
fi
[[ -n $out ]] || { echo "scaling.sh: --out: not given, needs a directory for the results" >&2; exit 2; }
[[ -x $UT ]] ||
  { echo "scaling.sh: $UT: no such program; ./quickstart build makes it, UT=FILE names another" >&2; exit 2; }
count=$(settings | wc -l)
was_there=$([[ -d $out ]] && echo yes || true)
[[ $action == report ]] || mkdir -p "$out/results" 2>/dev/null ||
  { echo "scaling.sh: --out $out: cannot be made, needs a directory that you may write to" >&2; exit 2; }
failed=0 # one setting may fail, such as `heads` with more ranks than heads, and the others still run
case $action in
  one)
    [[ $number =~ ^[0-9]+$ && 10#$number -lt $count ]] ||
      { echo "scaling.sh: --one: $number given, needs 0 to $((count - 1)), see --list" >&2; exit 2; }
    for ((repeat = 1; repeat <= REPEATS; ++repeat)); do run_setting "$((10#$number))" "$repeat" || failed=1; done
    ;;
  all) # every setting once, then every setting again, so that what changes over time affects all alike
    for ((repeat = 1; repeat <= REPEATS; ++repeat)); do
      for ((number = 0; number < count; ++number)); do run_setting "$number" "$repeat" || failed=1; done
    done
    ;;
esac
if [[ $action == all ]] && ! compgen -G "$out/results/*.json" >/dev/null; then
  echo "scaling.sh: no setting could be measured; the errors are above" >&2
  [[ -n $was_there ]] || rmdir "$out/results" "$out" 2>/dev/null || true
  exit 1
fi
[[ $action == one ]] || {
  python3 "$here/scaling_report.py" "$out"
  "$UT" report --scaling "$out/scaling.csv" --svg scaling --out "$out/scaling.svg" --quiet
}
exit $failed
