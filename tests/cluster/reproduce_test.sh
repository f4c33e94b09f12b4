#!/usr/bin/env bash
# cluster/reproduce/reproduce.py on a made-up table of two rows, two runs and two seeds: what it prints, that it does
# nothing twice, that it resumes runs, how it is stopped, and what it says if something is missing.
#   reproduce_test.sh UT
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scratch.sh"
reproduce=$cluster/reproduce/reproduce.py

extra_options="--threads 1"
run_reproduce() {
  python3 "$reproduce" --settings "$scratch/tables" --out "$scratch/out" --seeds 2 "$@" -- $extra_options
}
# expect CODE TEXT OPTION…: the exit code, and text that the output must contain.
expect() {
  local code=0 said
  said=$(run_reproduce "${@:3}" 2>&1) || code=$?
  [[ $code == "$1" && $said == *"$2"* ]] || fail "${*:3}: not $1 and '$2', but $code: $said"
}

mkdir -p "$scratch/tables/digits/small" "$scratch/tables/stories/small"
for row in one two; do
  cat >"$scratch/tables/digits/small/$row.conf" <<CONF
d-model = 16
heads = 2
ffn = 16
steps = $([[ $row == one ]] && echo 1 || echo 2)
train-length = 4
evaluation-length = 4
train-examples = 100
evaluation-examples = 20
max-updates = 20
evaluate-every = 10
epsilon = 1e-8 # is 1e-08 where a run is recorded
dropout = 0.1
CONF
done
cp "$scratch/tables/digits/small/one.conf" "$scratch/tables/stories/small"
cat >"$scratch/tables/digits/table.json" <<'JSON'
{"title": "Digits",
 "runs": {"copy": {"train": ["--task", "copy"]},
          "reverse": {"train": ["--task", "reverse"], "small": ["--max-updates", "10"]}},
 "columns": [{"name": "copied", "run": "copy"},
             {"name": "reversed", "run": "reverse", "show": "{sequence_accuracy:.1f}"}],
 "rows": [{"name": "One step", "settings": "one", "paper": [0.25, 0.5]}, {"name": "Two steps", "settings": "two"}]}
JSON
cat >"$scratch/tables/stories/table.json" <<'JSON'
{"title": "Stories", "runs": {"task-{}": {"each": 2, "data": "none", "files": "qa{}_*train.txt",
                                          "train": ["--task", "babi", "--babi-task", "{}"]}},
 "columns": [{"name": "error", "run": "task-.*", "combine": "errors"}], "rows": [{"name": "One", "settings": "one"}]}
JSON

[[ $(run_reproduce --list | wc -l) == 12 ]] ||
  fail "8 runs of digits and 4 of stories were to be listed: $(run_reproduce --list)"

# A run that was begun is resumed, not begun anew, even if a kill came between its first checkpoint and the pointer to
# it. It ends as its own options and those given now say. Its cell names the options that differ from the table's,
# including those given only when it was begun. A score on other examples does not count as the run's. A run whose first
# checkpoint is unfinished is begun anew.
begun=$scratch/out/digits/small/one/copy/seed-1
"$UT" train --config "$scratch/tables/digits/small/one.conf" --task copy --seed 1 --threads 1 --max-updates 7 \
  --dropout 0.3 --label-smoothing 0.2 --run-dir "$begun" --quiet >/dev/null
rm "$begun/checkpoints/latest"
echo '{"update": 7, "split": "validation", "accuracy": 2, "validation_loss": 0}' >>"$begun/metrics.jsonl"
mkdir -p "$scratch/out/digits/small/one/copy/seed-2/checkpoints/update-10.tmp"
# resumes RUN: whether train.sbatch would resume it.
resumes() {
  UT=echo UT_LAUNCHER=env SLURM_SUBMIT_DIR=$scratch bash "$cluster/train.sbatch" --run-dir "$1" |
    grep -q -- ' --resume$'
}
resumes "$begun" || fail "train.sbatch does not go on with a run that has a checkpoint"
for run in "$scratch/out/digits/small/one/copy/seed-2" "$scratch/none"; do
  ! resumes "$run" || fail "train.sbatch goes on with a run that has no checkpoint: $run"
done
extra_options="--threads 1 --max-updates 9" run_reproduce digits --one 0 >/dev/null
grep -q '"updates": 9,' "$begun/result.json" || fail "the run that was begun did not go on: $(cat "$begun/result.json")"
python3 - "$begun" <<'PYTHON' || fail "not the best score of the examples that are scored now"
import json, pathlib, sys
run = pathlib.Path(sys.argv[1])
result = json.loads((run / "result.json").read_text())
newest = json.loads((run / "checkpoints/update-00000009/state.json").read_text())
assert result["validation"] == newest["best_score"] <= 1 and result["validation_loss"] == newest["best_loss"]
PYTHON
before=$(stat -c %Y.%Z "$begun/result.json")

printed=$(run_reproduce digits)
echo "$printed"
[[ $(stat -c %Y.%Z "$begun/result.json") == "$before" ]] || fail "a run that was done was done again"
[[ $(find "$scratch/out" -name result.json | wc -l) == 8 ]] || fail "not all 8 runs have a result"
several='[0-9.]+; [0-9.]+ ± [0-9.]+ of 2'
grep -qE "^\| One step \| $several\* \| 0\.25 \| $several \| 0\.5 \|$" <<<"$printed" || fail "the first row is wrong"
changed="dropout 0.3 (0.1), label-smoothing 0.2 (default), max-updates 9 (20)"
grep -qFx "*: made with other settings than those now shipped: $changed." <<<"$printed" ||
  fail "it is not told with which settings the first row was made"
grep -qE "^\| Two steps \| $several \| – \| $several \| – \|$" <<<"$printed" || fail "the second row is wrong"
grep -qE '^One step: 4 runs, seeds 1 to 2, [0-9]+ parameters, .* [kM]FLOP an update, .* mesh 1 × 1\.$' <<<"$printed" ||
  fail "seeds, parameters, FLOPs and mesh are not told"
python3 - "$scratch/out/digits/small/two/copy" "$printed" <<'PYTHON' || fail "not the best seed, or not the mean"
import json, pathlib, statistics, sys
results = [json.loads(path.read_text()) for path in sorted(pathlib.Path(sys.argv[1]).glob("*/result.json"))]
best = max(results, key=lambda result: (result["validation"], -result["validation_loss"]))
accuracies = [result["evaluations"]["test"]["accuracy"] for result in results]
spread = f"{statistics.mean(accuracies):.3f} ± {abs(accuracies[0] - accuracies[1]) / 2**0.5:.3f} of 2"
assert f"| Two steps | {best['evaluations']['test']['accuracy']:.3f}; {spread} |" in sys.argv[2]
PYTHON

# Settings that have changed since, in a file and in the table. Options that say where a run is made do not count.
sed -i.whole '/ffn/d; s/heads = 2/heads = 4/; s/evaluate-every = 10/& # as before/; $a norm = pre' \
  "$scratch/tables/digits/small/two.conf"
sed -i.whole 's/"--max-updates", "10"/"--max-updates", "12"/' "$scratch/tables/digits/table.json"
printed=$(run_reproduce digits --report --row two)
changed="heads 2 (4), ffn 16 (default), norm default (pre), max-updates 10 (12)"
grep -qFx "*: made with other settings than those now shipped: $changed." <<<"$printed" ||
  fail "not what has changed of the settings: $printed"
grep -qE "^\| Two steps \| $several\* \| $several\* \|$" <<<"$printed" || fail "no * where settings changed"
for file in small/two.conf table.json; do mv "$scratch/tables/digits/$file.whole" "$scratch/tables/digits/$file"; done

mkdir "$scratch/tables/digits/paper"
cp "$scratch/tables/digits/small/one.conf" "$scratch/tables/digits/paper"
run_reproduce digits --size paper --row one --run reverse --seeds 1 >/dev/null
for size in small:10 paper:20; do
  grep -q "\"updates\": ${size#*:}," "$scratch/out/digits/${size%:*}/one/reverse/seed-1/result.json" ||
    fail "what one size asks for is not that size's alone: $size"
done

sed -i.whole 's/{sequence_accuracy/{attractors/' "$scratch/tables/digits/table.json"
grep -qE "^\| One step \| $several\* \| 0\.25 \| no data \| 0\.5 \|$" <<<"$(run_reproduce digits --report)" ||
  fail "a number that a run has not is not told"
mv "$scratch/tables/digits/table.json.whole" "$scratch/tables/digits/table.json"

expect 2 "reproduce.py: no run has its data" stories
expect 2 "stories one task-1 seed 1: not run, no data/none" stories
grep -q '^| One | not run |$' <<<"$(run_reproduce stories --report)" || fail "a row that was not run does not say so"
expect 2 "not run, no " stories --one 0
mkdir -p "$scratch/some/none"
touch "$scratch/some/none/qa2_train.txt"
expect 1 "stories one task-1 seed 1: not run, no $scratch/some/none/qa1_*train.txt" stories --data "$scratch/some"
expect 2 "no such table, there are digits, stories" nothing
expect 2 "no table given; needs one or more of digits, stories (12 runs in all)"
expect 2 "--row three: no such row, there are one, two" digits --row three --report
expect 2 "--run add: no such run, there are copy, reverse, task-1, task-2" --run add --report
expect 2 "--seeds 0: needs a whole number from 1 on" digits --seeds 0
expect 2 "--out /dev/null/x: Not a directory" digits --one 0 --out /dev/null/x
expect 2 "nothing to run: none of these rows has such a run with settings of the paper size" stories --size paper
expect 0 "usage: reproduce.py" --help
run_reproduce --list 2>"$scratch/said" | true || true
[[ ! -s $scratch/said ]] || fail "a list that nobody reads: $(cat "$scratch/said")"

# A run's data may consist of files in other places and with other names, which may be read-only.
cp -r "$scratch/tables/stories" "$scratch/tables/apart"
sed -i 's|"none", "files": "[^"]*"|"apart", "copies": {"qa1_train.txt": "some.txt", "qa1_test.txt": "more/test.txt"}|' \
  "$scratch/tables/apart/table.json"
"$UT" data stories --facts 1 --train 40 --test 20 --out "$scratch/whole" >/dev/null
mkdir -p "$scratch/apart/more"
mv "$scratch"/whole/*_train.txt "$scratch/apart/some.txt"
expect 2 "apart one task-1 seed 1: not run, no $scratch/apart/more/test.txt" apart --run task-1 --data "$scratch"
mv "$scratch"/whole/*_test.txt "$scratch/apart/more/test.txt"
chmod a-w "$scratch/apart/some.txt"
expect 0 "apart one task-1 seed 2" apart --run task-1 --data "$scratch"
[[ $(find "$scratch/out/apart" -name qa1_train.txt -perm -u+w | wc -l) == 2 ]] || fail "a copy cannot be made again"

# An error in a program or in a result gives one line.
mkdir "$scratch/wrong"
# expect_line TEXT OPTION…: ends with 2, and prints only this line besides the names of runs.
expect_line() {
  local code=0
  run_reproduce --out "$scratch/wrong" "${@:2}" >/dev/null 2>"$scratch/said" || code=$?
  # $1 may be a pattern
  [[ $code == 2 && $(wc -l <"$scratch/said") == 1 && $(cat "$scratch/said") == "reproduce.py: "$1 ]] ||
    fail "not '$1', but $code: $(cat "$scratch/said")"
}
none="No such file or directory"
needs_ut="needs the program ut, as \`./quickstart build\` makes it"
UT=$scratch/no-ut expect_line "UT: $scratch/no-ut: $none, $needs_ut" digits
UT=$scratch expect_line "UT: $scratch: Permission denied, $needs_ut" digits --one 0
UT=/bin/true expect_line "UT: /bin/true: no defaults in what \`train --help\` says, $needs_ut" digits
extra_options="--rank 2" \
  expect_line "digits one copy seed 1: ut train ended with 2 (--rank: unknown option; *), see *" digits

# Evaluations are started on as many ranks and threads as their training. The log need not be UTF-8.
cat >"$scratch/ut" <<SH
#!/bin/sh
printf '\334bung\n' >&2
echo "\$@" >>"$scratch/calls"
exec "$UT" "\$@"
SH
chmod +x "$scratch/ut"
UT=$scratch/ut extra_options="--ranks 2 --threads 1 --sequence-parallel 1 --max-updates 11" \
  run_reproduce digits --one 0 --out "$scratch/on-two" >/dev/null
grep -q '^evaluate .*--ranks=2 --threads=1 --sequence-parallel=1$' "$scratch/calls" || fail "$(cat "$scratch/calls")"

# Slurm ends an evaluation when it preempts the job: srun then ends with 128 and the signal's number.
printf '#!/bin/sh\n[ "$2" != evaluate ] || exit 143\nexec "$@"\n' >"$scratch/preempts"
chmod +x "$scratch/preempts"
LAUNCH=$scratch/preempts expect 75 "stopped; give the same command again to go on" digits --one 0 \
  --out "$scratch/preempted"

needs_ranks='needs what starts ranks, as "srun --mpi=pmix"'
LAUNCH="no-launcher -n 2" expect_line "LAUNCH: no-launcher: $none, $needs_ranks" digits
LAUNCH="srun '" expect_line "LAUNCH: srun ': No closing quotation, $needs_ranks" digits --one 0
damaged=$scratch/wrong/digits/small/two/reverse/seed-2/result.json
mkdir -p "${damaged%/*}"
# expect_damaged WHAT CONTENT: the message when a run's result has this content.
expect_damaged() {
  echo "$2" >"$damaged"
  for option in "" --report --list; do
    expect_line "$damaged: damaged ($1); remove it, and what the run lacks is made again" digits $option
  done
}
expect_damaged "*: line 1 column *" '{"evaluations": {"test": {"accur'
expect_damaged "no JSON object" '[]'
expect_damaged "no validation" '{"evaluations": {}, "hours": 1}'
expect_damaged "no evaluations, no settings" '{"settings": 0, "hours": 1, "validation": null}'

# The same runs task by task: each task trained alone, and each task of a joint run.
mkdir "$scratch/tables/stories-by-task"
sed -i 's/"runs": {/&"joint": {"data": "none", "train": []}, /' "$scratch/tables/stories/table.json"
cat >"$scratch/tables/stories-by-task/table.json" <<'JSON'
{"title": "Stories by task", "of": "stories",
 "columns": [{"name": "One", "settings": "one", "show": "{error:.1f}"}],
 "rows": [{"name": "task {}", "each": 2, "run": "task-{}", "paper": [["0.0", "2.5"]]},
          {"name": "mean", "run": "task-.*", "combine": "errors"},
          {"name": "joint, task {}", "each": 2, "run": "joint", "group": "task {}"},
          {"name": "joint, mean", "run": "joint", "combine": "errors"}]}
JSON
# made RUN SEED VALIDATION ACCURACY [GROUPS]: writes a result as if the run had been trained.
made() {
  mkdir -p "$scratch/out/stories/small/one/$1/seed-$2"
  printf '{"evaluations": {"test": {"accuracy": %s, "groups": {%s}}}, "validation": %s, "hours": 0.5}' \
    "$4" "${5:-}" "$3" >"$scratch/out/stories/small/one/$1/seed-$2/result.json"
}
made task-1 1 0.5 0.9
made task-1 2 '0.5, "validation_loss": 0.1' 0.95
grep -q '^| task 1 | 5.0; ' <<<"$(run_reproduce stories-by-task --report)" || fail "of equal seeds not that with a loss"
made task-1 1 '0.5, "validation_loss": 0.05' 0.9
grep -q '^| task 1 | 10.0; ' <<<"$(run_reproduce stories-by-task --report)" ||
  fail "of equal seeds not that with less loss"
made task-1 1 0.5 0.9
made task-1 2 0.9 0.95
made task-2 1 0.5 1
made joint 1 0.5 0.85 '"task 1": {"accuracy": 0.7}, "task 2": {"accuracy": 1}'
printed=$(run_reproduce stories-by-task --report)
echo "$printed"
for line in '| | One | paper |' '| task 1 | 5.0; 7.5 ± 3.5, 1 of 2 learned | 0.0 |' '| task 2 | 0.0 | 2.5 |' \
  '| mean | 2.50 (0/2) | – |' '| joint, task 1 | 30.0 | – |' \
  '| joint, task 2 | 0.0 | – |' '| joint, mean | 15.00 (1/2) | – |' \
  'The runs are those of stories, whose notes tell how they came about.'; do
  grep -qFx "$line" <<<"$printed" || fail "task by task there is no line $line"
done
printed=$(run_reproduce stories-by-task --report --run task-2)
[[ $printed == *"| task 2 |"* && $printed != *"task 1"* ]] || fail "more than the run that was asked for: $printed"
diff <(run_reproduce stories --list) <(run_reproduce stories-by-task stories --list) ||
  fail "runs that two tables show are two"

# Rows with different runs are compared by the runs that all rows have. If positions halt, an update's FLOPs are those
# of the steps that they took.
mkdir -p "$scratch/tables/common/small"
cat >"$scratch/tables/common/table.json" <<'JSON'
{"title": "Common", "runs": {"t-{}": {"each": 3, "data": "none", "train": []}},
 "columns": [{"name": "all", "run": "t-[0-9]", "combine": "errors"}],
 "rows": [{"name": "One", "settings": "one"}, {"name": "Two", "settings": "two"}]}
JSON
# made_in_common ROW RUN ACCURACY [HALTING]
made_in_common() {
  touch "$scratch/tables/common/small/$1.conf"
  mkdir -p "$scratch/out/common/small/$1/$2/seed-1"
  printf '{"evaluations": {"test": {"accuracy": %s%s}}, "validation": 1, "hours": 0.001, %s
    "settings": {"train": {"transition": "separable-convolution"}, "evaluate": {}},
    "flops_per_update": [1e9, 4e9]}' "$3" "${4:+, \"ponder\": {\"encoder\": {\"mean\": 2.5\}\}}" \
    "${4:+\"flops_per_step\": {\"encoder\": 1e9\},}" >"$scratch/out/common/small/$1/$2/seed-1/result.json"
}
made_in_common one t-1 0.9
made_in_common one t-2 1
made_in_common one t-3 0.5
made_in_common two t-1 0.9 halting
made_in_common two t-2 0.9 halting
printed=$(run_reproduce common --report)
for line in 'all, of t-1, t-2 alone: Two 10.00 (2/2), One 5.00 (1/2).' \
  'One: 3 runs, seed 1, transition separable-convolution, 1 to 4 GFLOP an update, under a minute each.' \
  'Two: 2 runs, seed 1, transition separable-convolution, 2.5 GFLOP an update, under a minute each.'; do
  grep -qFx "$line" <<<"$printed" || fail "no line $line: $printed"
done
sed -i '/"transition"/s/"transition": "separable-convolution"//' "$scratch/out/common/small/one/t-2/seed-1/result.json"
printed=$(run_reproduce common --report)
grep -q '^One: .* transition feed-forward and separable-convolution,' <<<"$printed" || fail "not both: $printed"

cp -r "$scratch/tables/digits" "$scratch/tables/wrong"
sed -i 's/^heads = 2/heads = 3/' "$scratch/tables/wrong/small/one.conf"
expect 1 "ut train ended with 2 (--heads" wrong --seeds 1
expect 1 "2 of 4 runs failed" wrong --seeds 1
expect 0 "| Two steps | 0." wrong --seeds 1 --report

# A split that the data lacks is "no data" only if the table allows that; otherwise the run is not done.
cp -r "$scratch/tables/digits" "$scratch/tables/splits"
sed -i 's/"copy": {/&"evaluate": {"control": ["--split", "control"]}, /; s/"run": "copy"/&, "evaluation": "control"/' \
  "$scratch/tables/splits/table.json"
expect 2 "ut evaluate ended with 2 (--split control: this data has none" splits --one 0
[[ ! -e $scratch/out/splits/small/one/copy/seed-1/result.json ]] || fail "a run without its evaluation is done"
sed -i 's/"copy": {/&"optional": ["control"], /' "$scratch/tables/splits/table.json"
expect 0 "splits one copy seed 1" splits --one 0
expect 0 "| One step | no data | 0.25 |" splits --report

# expect_stop TABLE SIGNAL CONDITION…: stops a table's runs in the first one once the condition holds. They must end
# with 75 and one line, and no other run may begin. As from a terminal, INT goes to the program and to what it has
# started.
expect_stop() {
  local code=0 run tries first=$scratch/out/$1/small/one/copy
  setsid env --default-signal=INT python3 "$reproduce" --settings "$scratch/tables" --out "$scratch/out" "$1" \
    -- $extra_options >"$scratch/said" 2>&1 &
  run=$!
  for ((tries = 0; tries < 300; ++tries)); do ! "${@:3}" "$first/seed-1" || break; sleep 0.1; done
  if [[ $2 == INT ]]; then kill -INT -- "-$run"; else kill "-$2" "$run"; fi
  wait "$run" || code=$?
  diff "$scratch/said" - <<SAID || fail "$1 and $2: this is not what it says"
$1 one copy seed 1
reproduce.py: $1 one copy seed 1: stopped; give the same command again to go on
SAID
  [[ $code == 75 && ! -e $first/seed-2 ]] || fail "$1 and $2: not stopped: $code"
  ! pgrep --session "$run" || fail "$1 and $2: something goes on"
}
trains() { [[ $(grep -c '"loss"' "$1/metrics.jsonl" 2>/dev/null) -gt 5 ]]; }
for signal in INT TERM; do
  cp -r "$scratch/tables/digits" "$scratch/tables/$signal"
  extra_options="--threads 1 --max-updates 1000000 --log-every 1 --checkpoint-every 1000000" \
    expect_stop $signal $signal trains
  metrics=$scratch/out/$signal/small/one/copy/seed-1/metrics.jsonl
  before=$(grep '"loss"' "$metrics")
  extra_options="--threads 1 --max-updates $(($(wc -l <<<"$before") + 2))" \
    expect 0 "$signal one copy seed 1" $signal --one 0
  diff <(grep '"loss"' "$metrics" | head -n -2) - <<<"$before" || fail "$signal: updates were lost"
done

# A stop is noticed even while a program prints without end.
real=$UT
UT=$scratch/talks
cat >"$UT" <<TALKS
#!/usr/bin/env bash
[[ \$* != *--run-dir* ]] || while true; do echo; done
exec "$real" "\$@"
TALKS
chmod +x "$UT"
talks() { [[ -e $1/reproduce.log ]] && sleep 0.3; }
for try in 1 2 3 4 5; do
  cp -r "$scratch/tables/digits" "$scratch/tables/talks-$try"
  expect_stop talks-$try TERM talks
done

# A program that takes long to evaluate and to make missing data.
UT=$scratch/slow
cat >"$UT" <<SLOW
#!/usr/bin/env bash
case \$1 in
  train) exec "$real" "\$@" ;;
  evaluate) touch "$scratch/evaluates" && exec sleep 60 ;;
  data) echo made >>"$scratch/made" && sleep 1 && touch "$scratch/pieces/pieces.model" ;;
esac
SLOW
chmod +x "$UT"
evaluates() { [[ -e $scratch/evaluates ]]; }
cp -r "$scratch/tables/digits" "$scratch/tables/evaluated"
expect_stop evaluated TERM evaluates

# Runs that lack the same file make it once. If it cannot be made, the message says why.
mkdir -p "$scratch/pieces"
cp -r "$scratch/tables/digits" "$scratch/tables/pieces"
sed -i 's/"copy": {/&"data": "pieces", "prepare": {"makes": "pieces.model", "by": ["sentencepiece"]}, /' \
  "$scratch/tables/pieces/table.json"
for number in 0 1; do run_reproduce pieces --data "$scratch" --one $number >/dev/null 2>&1 & done
wait
[[ $(cat "$scratch/made") == made ]] || fail "two runs have made the same file"
rm "$scratch"/pieces/*
mkdir "$scratch/pieces/pieces.model.lock" # not even root can open a directory for writing
prepare="ut data sentencepiece --data $scratch/pieces"
expect 2 "pieces.model.lock: Is a directory; first run this where it can be written: $prepare" \
  pieces --data "$scratch" --one 0
echo "reproduce: as it should be"
