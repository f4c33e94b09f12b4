#!/usr/bin/env bash
# Compares tokens per second of `ut bench` and of a good PyTorch program, the peer. They run in turn, ROUNDS times; a
# Markdown table shows the medians and their ratio. Also prints what `ut bench` measures of products, memory and bytes.
#
#   tests/bench/compare.sh                 all rows
#   tests/bench/compare.sh NAME…           some of them, by the names that --list prints
#
# Variables: UT (build/release/ut), PEER (../shared/peers/ut_pytorch.py), PYTHON (python3; it needs torch), ROUNDS (7),
# ITERATIONS (5; updates of a round, an odd number), CUDA_VISIBLE_DEVICES (both programs take a GPU if they see one;
# empty: the CPU). Sizes: D (256), HEADS (D / 64), FFN (4 D), STEPS (6), BATCH (32), LENGTH (40).
#
# Exit codes: 1, a program failed; 2, bad input.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
UT=${UT:-$here/../../build/release/ut}
PEER=${PEER:-$here/../../../shared/peers/ut_pytorch.py}
PYTHON=${PYTHON:-python3}
ROUNDS=${ROUNDS:-7}
ITERATIONS=${ITERATIONS:-5}
D=${D:-256} STEPS=${STEPS:-6} BATCH=${BATCH:-32} LENGTH=${LENGTH:-40}
HEADS=${HEADS:-$((D / 64))} FFN=${FFN:-$((4 * D))}
ponder=$((STEPS / 2))
export OMP_NUM_THREADS=1

# A row: "name | what | ranks | options of ut bench | options of the peer"
rows() {
  local size="--steps $STEPS --length $LENGTH" batch="--batch $BATCH" double="--batch $((2 * BATCH))"
  local ours="--d-model $D --heads $HEADS --ffn $FFN $size" theirs="--d $D --heads $HEADS --ffn $FFN $size"
  local wide=$((2 * D)) wide_size="--heads $((2 * HEADS)) --ffn $((2 * FFN)) $size $batch"
  local longer="--steps $((2 * STEPS))" shorter="--steps $ponder" same="--steps $STEPS"
  echo "d$D | d $D | 1 | $ours $batch | $theirs $batch"
  echo "compiled | d $D, against torch.compile | 1 | $ours $batch | $theirs $batch --compile"
  echo "d$wide | d $wide | 1 | --d-model $wide $wide_size | --d $wide $wide_size"
  echo "ragged | d $D, lengths uniform in $((LENGTH / 10))…$LENGTH | 1 |" \
    "$ours $batch --min-length $((LENGTH / 10)) | $theirs $batch --ragged-min $((LENGTH / 10))"
  local act="--halting act-copy --bench-ponder $ponder"
  echo "halting | d $D, positions that halt after 1 to $((2 * STEPS)) steps, mean $ponder, against masked ACT | 1 |" \
    "${ours/$same/$longer} $batch $act | ${theirs/$same/$longer} $batch --act"
  echo "alike | d $D, positions that all halt after $ponder steps, so that halting saves masked ACT as much | 1 |" \
    "${ours/$same/$shorter} $batch $act | ${theirs/$same/$shorter} $batch --act --halt-bias=-5"
  echo "greedy | d $D, greedy decoding of $LENGTH symbols, batch $((2 * BATCH))," \
    "against a peer that keeps nothing of earlier positions | 1 | $ours $double --greedy | $theirs $double --decode"
  echo "ranks | d $D, 2 ranks against DDP (gloo) | 2 | $ours $double --sequence-parallel 1 | $theirs $batch"
}
alone_names="products recompute memory gradients"

names() {
  rows | cut -d ' ' -f 1
  tr ' ' '\n' <<<"$alone_names"
}
case ${1:-} in
  --list) names && exit ;;
  --help) sed -n '2,/^set -/{/^set -/!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit ;;
esac
refuse() {
  echo "compare.sh: $*" >&2
  exit 2
}
for name in "$@"; do
  [[ " $(echo $(names)) " == *" $name "* ]] || refuse "$name: no such row; there are" $(names)
done
# The peer would take the upper one of two in the middle, ut their mean.
((ITERATIONS % 2)) || refuse "ITERATIONS=$ITERATIONS: needs an odd number, so that both programs take the same median"
is_wanted() { [[ -z ${wanted// /} || $wanted == *" $1 "* ]]; }
wanted=" $* "
torch="no peer"
[[ -x $UT ]] || refuse "$UT: no such program; ./quickstart build makes it, UT=FILE names another"
while read -r name; do
  ! is_wanted "$name" && continue
  [[ -f $PEER ]] || refuse "$PEER: not there, needs the program to compare with; PEER=FILE names it"
  torch=$("$PYTHON" -c 'import torch; print("PyTorch", torch.__version__)' 2>/dev/null) ||
    refuse "$PYTHON: cannot import torch, needs a Python that has it; PYTHON=PROGRAM names it"
  break
done < <(rows | cut -d ' ' -f 1)

# ours RANKS OPTIONS, theirs RANKS OPTIONS: tokens per second of one round
ours() {
  "$UT" bench $2 --ranks "$1" --vocab 64 --dropout 0.1 --threads 1 --iterations "$ITERATIONS" --json | tokens
}
theirs() {
  local command=("$PYTHON" "$PEER")
  [[ $2 != *--act* || $2 == *--halt-bias* ]] || command=("$PYTHON" "$here/drawn_ponder_peer.py" "$PEER" "$ponder")
  (($1 == 1)) || command=("$PYTHON" -m torch.distributed.run --standalone --nproc-per-node "$1" -- "$PEER")
  "${command[@]}" $2 --iters "$ITERATIONS" --warmup 2 | tokens
}
tokens() {
  python3 -c '
import json, sys
result = json.loads(sys.stdin.readlines()[-1])
ponder = result.get("ponder")
if "peer" in result and ponder:
    print(f"the peer pondered for {ponder:.2f} steps in the last update", file=sys.stderr)
print(result["tokens_per_s"])'
}
echo "$(lscpu | sed -nE 's/^Model name: *//p'), $(getconf _NPROCESSORS_ONLN) cores;" \
  "commit $(git -C "$here" describe --always --dirty);" \
  "$torch; ROUNDS=$ROUNDS ITERATIONS=$ITERATIONS D=$D" \
  "HEADS=$HEADS FFN=$FFN STEPS=$STEPS BATCH=$BATCH LENGTH=$LENGTH tests/bench/compare.sh$wanted"
"$UT" --version
((ROUNDS >= 7)) || echo "$ROUNDS rounds: fewer than the seven that a claim needs"
echo
echo "| | ut, tokens/s | PyTorch, tokens/s | ratio of medians | ratios of the rounds |"
echo "|---|---|---|---|---|"
failed=0
while IFS='|' read -r name what ranks our_options their_options; do
  name=$(xargs <<<"$name")
  is_wanted "$name" || continue
  mine=() other=()
  for ((round = 0; round < ROUNDS; ++round)); do
    mine+=("$(ours "$(xargs <<<"$ranks")" "$our_options" </dev/null)") &&
      other+=("$(theirs "$(xargs <<<"$ranks")" "$their_options" </dev/null)") && continue
    echo "| $(xargs <<<"$what") | failed, as said above | | | |"
    failed=1
    continue 2
  done
  python3 - "$(xargs <<<"$what")" "${mine[*]}" "${other[*]}" <<'PYTHON'
import statistics, sys
mine, other = ([float(word) for word in words.split()] for words in sys.argv[2:4])
ratios = sorted(a / b for a, b in zip(mine, other))
print(f"| {sys.argv[1]} | {statistics.median(mine):.0f} | {statistics.median(other):.0f} "
      f"| {statistics.median(mine) / statistics.median(other):.2f} | {ratios[0]:.2f} to {ratios[-1]:.2f} |", flush=True)
PYTHON
done < <(rows)

# measured KEY OPTIONS: the value that `ut bench` prints under KEY (a/b: key b within a)
measured() {
  "$UT" bench --d-model "$D" --heads "$HEADS" --ffn "$FFN" --batch "$BATCH" --length "$LENGTH" --vocab 64 --threads 1 \
    --dropout 0.1 --iterations "$ITERATIONS" --json $2 </dev/null | python3 -c "
import functools, json, sys
print(functools.reduce(lambda value, key: value[key], '$1'.split('/'), json.load(sys.stdin)))"
}
# several KEY OPTIONS: median, least and most of ROUNDS rounds
several() {
  for ((round = 0; round < ROUNDS; ++round)); do measured "$1" "$2"; done | python3 -c '
import statistics, sys
seen = [float(line) for line in sys.stdin]
print(f"{statistics.median(seen):.3g} ({min(seen):.3g} to {max(seen):.3g})")'
}
ratio() { python3 -c 'import sys; print(f"{float(sys.argv[1]) / float(sys.argv[2]):.2f}")' "$@"; }

echo
wide="--d-model $((2 * D)) --heads $((2 * HEADS)) --ffn $((2 * FFN)) --steps $STEPS"
! is_wanted products || echo "products alone would take, of an update at d $((2 * D)): $(several gemm_fraction "$wide")"
! is_wanted recompute || for ((round = 0; round < ROUNDS; ++round)); do
  echo "time with --recompute step against none: $(ratio "$(measured median_step_s "--steps $STEPS --recompute step")" \
    "$(measured median_step_s "--steps $STEPS")")"
done
! is_wanted memory || echo "memory of an update with --recompute step, $((2 * STEPS)) steps against 2:" \
  "$(ratio "$(measured activation_bytes "--steps $((2 * STEPS)) --recompute step")" \
    "$(measured activation_bytes "--steps 2 --recompute step")")"
! is_wanted gradients || for steps in 2 "$STEPS" $((2 * STEPS)); do
  echo "bytes of gradients in an update of 2 ranks, $steps steps:" \
    "$(measured sent_bytes_per_update/gradients "--steps $steps --ranks 2 --sequence-parallel 1")"
done
exit $failed
