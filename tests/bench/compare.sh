#!/usr/bin/env bash
# Tokens a second of `ut bench` and of a good PyTorch program, one after the other, ROUNDS times over; medians and their
# ratio as a Markdown table.
#
#   tests/bench/compare.sh                 all rows
#   tests/bench/compare.sh NAME…           some of them, by the names that --list prints
#
# Variables: UT (build/release/ut), PEER (../shared/peers/ut_pytorch.py), PYTHON (python3; one that has torch),
# ROUNDS (7), ITERATIONS (5; updates of a round), PEER_HALT_BIAS (-1.3; with which its mean ponder time is 3).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
UT=$(realpath "${UT:-$here/../../build/release/ut}")
PEER=$(realpath "${PEER:-$here/../../../shared/peers/ut_pytorch.py}")
PYTHON=${PYTHON:-python3}
ROUNDS=${ROUNDS:-7}
ITERATIONS=${ITERATIONS:-5}
PEER_HALT_BIAS=${PEER_HALT_BIAS:--1.3}
export OMP_NUM_THREADS=1

# A row: "name | what | ranks | options of ut bench | options of the peer"
rows() {
  local size="--steps 6 --batch 32 --length 40"
  local ours="--d-model 256 --heads 4 --ffn 1024 $size" theirs="--d 256 --heads 4 --ffn 1024 $size"
  echo "d256 | d 256 | 1 | $ours | $theirs"
  echo "compiled | d 256, against torch.compile | 1 | $ours | $theirs --compile"
  echo "d512 | d 512 | 1 | --d-model 512 --heads 8 --ffn 2048 $size | --d 512 --heads 8 --ffn 2048 $size"
  echo "ragged | d 256, lengths uniform in 4…40 | 1 | $ours --min-length 4 | $theirs --ragged-min 4"
  echo "halting | d 256, positions that halt at ponder time 3 of 12, against masked ACT | 1 |" \
    "${ours/steps 6/steps 12} --halting act-copy --bench-ponder 3 |" \
    "${theirs/steps 6/steps 12} --act --halt-bias=$PEER_HALT_BIAS"
  echo "greedy | d 256, greedy decoding of 40 symbols, batch 64, against none kept of earlier positions | 1 |" \
    "${ours/batch 32/batch 64} --greedy | ${theirs/batch 32/batch 64} --decode"
  echo "ranks | d 256, 2 ranks against DDP (gloo) | 2 | ${ours/batch 32/batch 64} --sequence-parallel 1 | $theirs"
}

if [[ ${1:-} == --list ]]; then
  rows | cut -d ' ' -f 1
  exit 0
fi

# ours RANKS OPTIONS, theirs RANKS OPTIONS: tokens a second of one round
ours() { "$UT" bench $2 --ranks "$1" --vocab 64 --dropout 0.1 --threads 1 --iterations "$ITERATIONS" --json | tokens; }
theirs() {
  local command=("$PYTHON" "$PEER")
  (($1 == 1)) || command=("$PYTHON" -m torch.distributed.run --standalone --nproc-per-node "$1" -- "$PEER")
  "${command[@]}" $2 --iters "$ITERATIONS" --warmup 2 | tokens
}
tokens() { python3 -c 'import json, sys; print(json.loads(sys.stdin.readlines()[-1])["tokens_per_s"])'; }

echo "| | ut, tokens/s | PyTorch, tokens/s | ratio of medians | ratios of the rounds |"
echo "|---|---|---|---|---|"
rows | while IFS='|' read -r name what ranks our_options their_options; do
  name=$(xargs <<<"$name")
  (($# == 0)) || [[ " $* " == *" $name "* ]] || continue
  mine=() other=()
  for ((round = 0; round < ROUNDS; ++round)); do
    mine+=("$(ours "$(xargs <<<"$ranks")" "$our_options" </dev/null)")
    other+=("$(theirs "$(xargs <<<"$ranks")" "$their_options" </dev/null)")
  done
  python3 - "$(xargs <<<"$what")" "${mine[*]}" "${other[*]}" <<'PYTHON'
import statistics, sys
mine, other = ([float(word) for word in words.split()] for words in sys.argv[2:4])
ratios = sorted(a / b for a, b in zip(mine, other))
print(f"| {sys.argv[1]} | {statistics.median(mine):.0f} | {statistics.median(other):.0f} "
      f"| {statistics.median(mine) / statistics.median(other):.2f} | {ratios[0]:.2f} to {ratios[-1]:.2f} |", flush=True)
PYTHON
done
