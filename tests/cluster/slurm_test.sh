#!/usr/bin/env bash
# The batch scripts of cluster/ under a Slurm with two nodes: training, warnings, requeueing, a chain, a table of the
# papers; srun without PMIx.   slurm_test.sh PROGRAM [TEST…]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/private_machine.sh"
source "$here/slurm.sh"
readonly ut=$1
private_machine "$@" -- \
  slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libpmi0 libpmi2-0

export UT=$ut UT_HOME=${here%/tests/cluster}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
readonly train=$UT_HOME/cluster/train.sbatch chain=$UT_HOME/cluster/resume-chain.sbatch
readonly with_mpirun="mpirun --quiet --bind-to none"

# submit SCRIPT UPDATES RUN [sbatch option…]: prints the job's number. An endless training is ended after 40 s.
submit() {
  local script=$1 updates=$2 run=$3 hours=0.05
  ((updates < 1000000)) || hours=0.011
  shift 3
  sbatch --parsable "$@" "$script" "${training[@]:1}" --max-updates "$updates" --max-hours "$hours" \
    --sequence-parallel 2 --run-dir "$run"
}

job_field() { scontrol show job -o "$1" | sed -nE "s/.* $2=([^ ]+).*/\1/p"; }

# fail_of_job JOB WHAT
fail_of_job() {
  scontrol show job "$1"
  tail -n 60 ./*-"$1".log /mnt/slurm/log/*
  fail "job $1: $2"
}

# expect_state JOB STATE SECONDS
expect_state() {
  local end=$((SECONDS + $3))
  until [[ $(job_field "$1" JobState) == "$2" ]]; do
    ((SECONDS < end)) || fail_of_job "$1" "not $2 after $3 s"
    sleep 0.1
  done
}

# expect_end JOB STATE EXIT_CODE
expect_end() {
  expect_state "$1" "$2" 90
  [[ $(job_field "$1" ExitCode) == "$3:0" ]] || fail_of_job "$1" "does not end with $3"
}

# expect_same_as_one_rank RUN JOB
expect_same_as_one_rank() {
  expect_end "$2" COMPLETED 0
  grep -q '4 ranks (data-parallel 2, sequence-parallel 2)' "ut-$2.log" || fail_of_job "$2" "not four ranks"
  [[ -d reference ]] || expect_code 0 "$ut" "${training[@]}" --max-updates 40 --run-dir reference
  expect_same_curve "$1" reference
}

four_ranks_on_two_nodes_train_as_one_rank_with_srun() {
  expect_same_as_one_rank by-srun "$(submit "$train" 40 by-srun)"
}

four_ranks_on_two_nodes_train_as_one_rank_with_mpirun() {
  expect_same_as_one_rank by-mpirun "$(UT_LAUNCHER=$with_mpirun submit "$train" 40 by-mpirun)"
}

# stops_and_goes_on RUN WARNING JOB: scancel warns the job in the middle; it is requeued, resumes and completes.
stops_and_goes_on() {
  local before
  wait_until 30 "updates of job $3" has_done "$1" 5
  # shellcheck disable=SC2086
  scancel $2 "$3"
  expect_state "$3" PENDING 30
  before=$(updates_done "$1")
  [[ $before -lt 300 && -e $1/checkpoints/latest ]] || fail_of_job "$3" "no checkpoint in the middle: update $before"
  # Slurm would wait two minutes. It needs only that the first run's daemons are gone, and one second more.
  wait_until 30 "end of the daemons of job $3" no_step_daemons
  sleep 1.1
  scontrol update jobid="$3" starttime=now
  expect_end "$3" COMPLETED 0
  [[ $(job_field "$3" Restarts) == 1 ]] || fail_of_job "$3" "not started again once"
  [[ -d long-reference ]] || expect_code 0 "$ut" "${training[@]}" --max-updates 300 --run-dir long-reference
  expect_same_curve "$1" long-reference
}

no_step_daemons() { ! run_on n1 pgrep slurmstepd && ! run_on n2 pgrep slurmstepd; }

a_warned_job_is_queued_again_and_goes_the_same_way() {
  stops_and_goes_on warned "--batch --signal=USR1" "$(submit "$train" 300 warned)"
}

# As preemption does within its grace time.
a_job_whose_ranks_alone_are_warned_is_queued_again() {
  stops_and_goes_on ranks-warned "--signal=TERM" "$(submit "$train" 300 ranks-warned)"
}

a_job_with_mpirun_and_another_signal_is_queued_again() {
  local job
  job=$(UT_LAUNCHER=$with_mpirun submit "$train" 300 warned-mpirun)
  stops_and_goes_on warned-mpirun "--batch --signal=USR2" "$job"
}

# The first link has a minute, and Slurm warns it before that is over. --max-hours ends the second.
a_chain_goes_on_until_the_training_is_done() {
  local first second third done_by_first
  first=$(submit "$chain" 1000000 chain --job-name=one --time=1 --signal=B:USR1@58)
  second=$(submit "$chain" 1000000 chain --job-name=one)
  third=$(submit "$chain" 1000000 chain --job-name=one)
  expect_end "$first" FAILED 75
  done_by_first=$(updates_done chain)
  expect_end "$second" COMPLETED 0
  expect_state "$third" CANCELLED 10
  [[ $(updates_done chain) -gt $done_by_first ]] || fail "the second link did nothing"
  diff <(losses chain | cut -d ' ' -f 1) <(seq "$(updates_done chain)") || fail "updates are missing, or there twice"
}

a_chain_needs_a_name() {
  local job
  job=$(submit "$chain" 1000000 nameless)
  expect_end "$job" FAILED 2
  [[ ! -e nameless ]] || fail_of_job "$job" "a run was begun"
}

a_job_that_a_person_ends_is_not_queued_again() {
  local job
  job=$(submit "$train" 1000000 ended)
  wait_until 30 "updates of job $job" has_done ended 5
  scancel --batch --signal=TERM "$job"
  expect_end "$job" FAILED 75
  [[ -e ended/checkpoints/latest ]] || fail_of_job "$job" "no checkpoint"
  job=$(submit "$train" 1000000 cancelled)
  wait_until 30 "updates of job $job" has_done cancelled 5
  scancel "$job"
  wait_until 60 "end of job $job" no_jobs
  expect_state "$job" CANCELLED 10
}

# One table of one row, two seeds, on two ranks each.
a_table_of_the_papers_is_an_array_of_jobs() {
  local job long options="digits --settings $PWD/tables --out $PWD/tables-made --seeds 2"
  mkdir -p tables/digits/small
  printf '%s\n' "d-model = 16" "heads = 2" "ffn = 16" "train-examples = 100" "evaluation-examples = 20" \
    "max-updates = 20" "evaluate-every = 10" "train-length = 4" "evaluation-length = 4" >tables/digits/small/one.conf
  cat >tables/digits/table.json <<'JSON'
{"title": "Digits", "runs": {"copy": {"train": ["--task", "copy"]}},
 "columns": [{"name": "copied", "run": "copy"}], "rows": [{"name": "One", "settings": "one"}]}
JSON
  job=$(sbatch --parsable --nodes 1 --ntasks-per-node 2 --array 0-1 "$UT_HOME/cluster/reproduce/reproduce.sbatch" \
    $options -- --sequence-parallel 2)
  # As preemption does within its grace time.
  long=$(sbatch --parsable --nodes 1 --ntasks-per-node 2 --array 0 "$UT_HOME/cluster/reproduce/reproduce.sbatch" \
    ${options/-made/-long} -- --sequence-parallel 2 --max-updates 1000000 --max-hours 0.05)_0
  wait_until 60 "updates of job $long" has_done tables-long/digits/small/one/copy/seed-1 20
  scancel --signal=TERM "$long"
  expect_state "$long" PENDING 30
  scancel "$long"
  wait_until 90 "end of jobs $job" no_jobs
  "$UT_HOME/cluster/reproduce/reproduce.py" $options --report | tee table
  grep -q '^One: 2 runs, .* mesh 1 × 2\.$' table ||
    { cat reproduce-"$job"-*.log; fail "not two runs on two ranks each"; }
}

no_jobs() { [[ -z $(squeue --noheader) ]]; }

ut_starts_ranks_in_a_persons_shell() {
  expect_code 0 timeout 60 srun --quiet --mpi=pmix -N 1 -n 1 -c 2 bash -c '"$@"; exit $?' - \
    "$ut" "${training[@]}" --max-updates 40 --ranks 2 --sequence-parallel 2 --run-dir in-a-shell
  grep -q '2 ranks (data-parallel 1, sequence-parallel 2)' output || fail "not two ranks: $(<output)"
  [[ -d reference ]] || expect_code 0 "$ut" "${training[@]}" --max-updates 40 --run-dir reference
  expect_same_curve in-a-shell reference
}

srun_without_pmix_is_named_once() {
  local mpi
  for mpi in none pmi2; do
    expect_code 2 timeout 60 srun --quiet --mpi=$mpi -N 2 -n 4 "$ut" "${training[@]}" --run-dir never
    expect_said 1 '^ut: srun has started 4 ranks without PMIx.*use srun --mpi=pmix'
    [[ ! -e never ]] || fail "a run was begun"
  done
}

hosts_up 2
cd /mnt
slurm_up 2 2
tests=(
  srun_without_pmix_is_named_once ut_starts_ranks_in_a_persons_shell
  four_ranks_on_two_nodes_train_as_one_rank_with_srun
  four_ranks_on_two_nodes_train_as_one_rank_with_mpirun a_warned_job_is_queued_again_and_goes_the_same_way
  a_job_whose_ranks_alone_are_warned_is_queued_again a_job_with_mpirun_and_another_signal_is_queued_again
  a_job_that_a_person_ends_is_not_queued_again a_table_of_the_papers_is_an_array_of_jobs a_chain_needs_a_name
  a_chain_goes_on_until_the_training_is_done
)
if (($# > 1)); then tests=("${@:2}"); fi
run_tests "${tests[@]}"
