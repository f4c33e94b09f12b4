#!/usr/bin/env bash
# cluster/scaling.sh and its report with tiny models. Measurements that exist are not made again. Those made with other
# variables are neither mistaken for them nor averaged with them.
#   scaling_test.sh UT
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scratch.sh"
export SIZES=16:2:16:1 BATCH=2 LENGTH=6 LONG=8 LONG_BATCH=2 RANKS="1 2" REPEATS=1 ITERATIONS=1

# expect_runs COUNT: the sweep makes so many new measurements.
expect_runs() {
  "$cluster/scaling.sh" --out "$scratch" >"$scratch/table" 2>"$scratch/said" || fail "it failed: $(cat "$scratch/said")"
  [[ $(grep -c 'run [0-9]$' "$scratch/said") == "$1" ]] || fail "not $1 runs: $(cat "$scratch/said")"
}

expect_runs 8
RANKS=2 expect_runs 0
export RANKS=1
REPEATS=2 expect_runs 4
LENGTH=7 expect_runs 2
ITERATIONS=2 expect_runs 4
MORE="--threads 1 --dropout 0" expect_runs 4
cat "$scratch/table"

python3 - "$scratch/scaling.csv" <<'PYTHON' || fail "the report is wrong"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 8 + 2 + 4 + 4, len(rows)
for kind, ranks, batch, length, curve, runs in (
        ("weak-data", 1, 2, 6, "2 × 6", 2), ("weak-data", 2, 4, 6, "2 × 6", 1), ("weak-data", 1, 2, 7, "2 × 7", 1),
        ("strong-data", 2, 2, 6, "2 × 6", 1), ("strong-data", 1, 2, 7, "2 × 7", 1)):
    named = f"{kind} 16:2:16:1, {curve}, --threads 1, --iterations 1"
    [row] = [row for row in rows if row["curve"] == named and row["ranks"] == str(ranks)]
    assert [row[name] for name in ("batch", "length", "runs")] == [str(batch), str(length), str(runs)], row
for curve in {row["curve"] for row in rows if row["efficiency"]}:
    assert 1 in [float(row["efficiency"]) for row in rows if row["curve"] == curve], curve
PYTHON
for curve in "weak-data 16:2:16:1, 2 × 7" "strong-sequence 16:2:16:1 default, --threads 1 --dropout 0"; do
  grep -qF "$curve" "$scratch/scaling.svg" || fail "the chart has no curve $curve"
done

# The rest is run even if a measurement fails: two ranks cannot share one head. Output with more than the result is no
# result.
rm -rf "$scratch/results"
code=0
RANKS="1 2" SIZES=16:1:16:1 EXCHANGES="heads default" "$cluster/scaling.sh" --out "$scratch" >"$scratch/table" \
  2>"$scratch/said" || code=$?
[[ $code == 1 && $(grep -c 'scaling.sh: failed: ' "$scratch/said") == 2 ]] ||
  fail "not two failures: $(cat "$scratch/said")"
[[ $(find "$scratch/results" -name '*.json' | wc -l) == 10 ]] || fail "not ten results beside two failures"
printf '#!/bin/sh\necho hello\nshift 2\nexec "$@"\n' >"$scratch/greets"
chmod +x "$scratch/greets"
code=0
LENGTH=8 LAUNCH="$scratch/greets -n {}" "$cluster/scaling.sh" --out "$scratch" --one 0 2>"$scratch/said" || code=$?
[[ $code == 1 ]] && grep -q 'not one JSON object on standard output' "$scratch/said" || fail "a greeting is a result"
"$cluster/scaling.sh" --out "$scratch" --report >/dev/null || fail "no report after that"
echo "scaling: as it should be"
