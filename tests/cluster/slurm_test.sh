#!/usr/bin/env bash
# The batch scripts of cluster/ under a Slurm with two nodes: training, warnings, queueing again, chains; and srun without
# PMIx.   slurm_test.sh PROGRAM
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/private_machine.sh"
source "$here/hosts.sh"
source "$here/slurm.sh"
source "$here/training.sh"
readonly ut=$1
private_machine "$here/slurm_test.sh" "$@" -- \
  slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libpmi0 libpmi2-0

export UT=$ut UT_HOME=${here%/tests/cluster} OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1
readonly train=$UT_HOME/cluster/train.sbatch chain=$UT_HOME/cluster/resume-chain.sbatch

job_field() { scontrol show job -o "$1" | sed -nE "s/.* $2=([^ ]+).*/\1/p"; }
job_is() { [[ $(job_field "$1" JobState) == "$2" ]]; }

# expect_state JOB STATE SECONDS
expect_state() {
  local end=$((SECONDS + $3))
  until job_is "$1" "$2"; do
    ((SECONDS < end)) || { scontrol show job "$1" && tail -n 30 ./*-"$1".log $slurm/log/* && fail "job $1: not $2 after $3 s"; }
    sleep 0.1
  done
}

# expect_job JOB STATE EXIT_CODE, within a minute.
expect_job() {
  expect_state "$1" "$2" ${WAIT:-60}
  [[ $(job_field "$1" ExitCode) == "$3:0" ]] || tail -n 30 ./*-"$1".log
  [[ $(job_field "$1" ExitCode) == "$3:0" ]] || fail "job $1: exit code $(job_field "$1" ExitCode) instead of $3"
}

# submit SCRIPT UPDATES RUN [sbatch option…]: prints the job's number.
submit() {
  local script=$1 updates=$2 run=$3
  shift 3
  sbatch --parsable "$@" "$script" $(training "$updates" | cut -d ' ' -f 2-) --sequence-parallel 2 --run-dir "$run" \
    --max-hours ${HOURS:-0.02}
}

four_ranks_on_two_nodes_go_as_one_with_srun() {
  local job
  expect_code 0 $ut $(training 40) --run-dir reference
  job=$(submit "$train" 40 by-srun)
  expect_job "$job" COMPLETED 0
  grep -q '4 ranks (data-parallel 2, sequence-parallel 2)' "ut-$job.log" || fail "not four ranks: $(<"ut-$job.log")"
  expect_same_curve by-srun reference
}

and_with_mpirun() {
  local job
  job=$(UT_LAUNCHER="mpirun --quiet --bind-to none" submit "$train" 40 by-mpirun)
  expect_job "$job" COMPLETED 0
  grep -q '4 ranks (data-parallel 2, sequence-parallel 2)' "ut-$job.log" || fail "not four ranks: $(<"ut-$job.log")"
  expect_same_curve by-mpirun reference
}

no_step_daemons() { ! on n1 pgrep slurmstepd && ! on n2 pgrep slurmstepd; }

# stops_and_goes_on RUN SIGNAL JOB: warns the job in the middle; it is queued again, goes on, and is done.
stops_and_goes_on() {
  local before
  wait_until 30 "updates of job $3" has_done "$1" 5
  scancel --batch --signal="$2" "$3"
  expect_state "$3" PENDING 30
  before=$(updates_done "$1")
  [[ $before -lt 300 && -e $1/checkpoints/latest ]] || fail "no checkpoint in the middle: update $before"
  # Slurm lets two minutes pass; what it needs is that the first run's daemons are gone, and another second.
  wait_until 30 "end of the daemons of job $3" no_step_daemons
  sleep 1.1
  scontrol update jobid="$3" starttime=now
  expect_job "$3" COMPLETED 0
  [[ $(job_field "$3" Restarts) == 1 ]] || fail "$(job_field "$3" Restarts) restarts"
  expect_same_curve "$1" long-reference
}

a_warned_job_is_queued_again_and_goes_the_same_way() {
  expect_code 0 $ut $(training 300) --run-dir long-reference
  stops_and_goes_on warned USR1 "$(submit "$train" 300 warned)"
}

with_mpirun_and_another_signal_too() {
  stops_and_goes_on warned-mpirun USR2 \
    "$(UT_LAUNCHER="mpirun --quiet --bind-to none" submit "$train" 300 warned-mpirun)"
}

# The first link has a minute and is warned 58 seconds before its end; the second is done by --max-hours.
a_chain_goes_on_after_slurms_own_warning_until_done() {
  local first second third done_by_first
  first=$(submit "$chain" 1000000 chain --time=1 --signal=B:USR1@58)
  second=$(submit "$chain" 1000000 chain)
  third=$(submit "$chain" 1000000 chain)
  expect_job "$first" FAILED 75
  done_by_first=$(updates_done chain)
  expect_job "$second" COMPLETED 0
  expect_state "$third" CANCELLED 10
  [[ $(updates_done chain) -gt $done_by_first ]] || fail "the second link did nothing"
  diff <(losses chain | cut -d ' ' -f 1) <(seq "$(updates_done chain)") || fail "updates are missing, or there twice"
}

srun_without_pmix_is_named_once() {
  local mpi
  for mpi in none pmi2; do
    expect_code 2 timeout 60 srun --quiet --mpi=$mpi -N 2 -n 4 $ut $(training 5) --run-dir never
    expect_said 1 '^ut: srun has started 4 ranks without PMIx.*use srun --mpi=pmix'
    [[ ! -e never ]] || fail "a run was begun"
  done
}

hosts_up 2
cd /mnt
slurm_up 2 2
[[ -n ${2:-} ]] && run_tests $2 && exit
run_tests srun_without_pmix_is_named_once \
  four_ranks_on_two_nodes_go_as_one_with_srun and_with_mpirun a_warned_job_is_queued_again_and_goes_the_same_way \
  with_mpirun_and_another_signal_too a_chain_goes_on_after_slurms_own_warning_until_done
