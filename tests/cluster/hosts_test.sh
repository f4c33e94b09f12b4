#!/usr/bin/env bash
# Several hosts: ranks started over ssh from a host file, and a link that is cut.   hosts_test.sh PROGRAM [TEST…]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/private_machine.sh"
readonly ut=$1
private_machine "$@" --

four_ranks_on_two_hosts_train_as_one_rank() {
  expect_code 0 "$ut" "${training[@]}" --max-updates 30 --run-dir reference
  expect_code 0 run_on n1 timeout 60 "$ut" "${training[@]}" --max-updates 30 --hostfile hosts --sequence-parallel 2 \
    --run-dir four
  grep -q '4 ranks (data-parallel 2, sequence-parallel 2)' output || fail "not four ranks: $(<output)"
  expect_same_curve four reference
}

a_rank_has_its_share_of_its_own_hosts_cores() {
  local small=(--d-model 16 --heads 2 --ffn 32 --steps 1 --length 12 --iterations 1 --json) threads
  threads=$(env -u OMP_NUM_THREADS "$ut" bench "${small[@]}" | grep -o '"threads":[0-9]*')
  printf 'n1\nn2 slots=2\n' >unequal
  expect_code 0 run_on n1 env -u OMP_NUM_THREADS timeout 60 "$ut" bench --hostfile unequal --sequence-parallel 3 \
    "${small[@]}"
  grep -q "$threads," output || fail "the only rank on n1 does not have the $threads of a process: $(<output)"
}

wrong_host_files_are_refused_before_anything_starts() {
  echo "n1 slots=2 n2" >wrong
  expect_code 2 run_on n1 timeout 60 "$ut" "${training[@]}" --max-updates 30 --hostfile wrong --run-dir never
  expect_said 1 '^ut: --hostfile /mnt/wrong line 1: "n2" after the host, needs slots=N'
  echo "n7" >wrong
  expect_code 2 run_on n1 timeout 60 "$ut" "${training[@]}" --max-updates 30 --hostfile wrong --run-dir never
  expect_said 1 '^ut: --hostfile /mnt/wrong line 1: .*"n7".*needs a name'
  expect_code 2 run_on n1 timeout 60 "$ut" "${training[@]}" --max-updates 30 --hostfile hosts --ranks 5 --run-dir never
  expect_said 1 '^ut: --ranks: 5 given, needs at most the 4 slots'
  [[ ! -e never ]] || fail "a run was begun"
}

# disturb COMMAND… -- DISTURBANCE…: disturbs a training on n1 and n2, which must then end on both hosts, with code 1,
# within --timeout (here 10 s) and 6 s more.
disturb() {
  local command=() end code=0
  while [[ $1 != -- ]]; do command+=("$1") && shift; done
  shift
  rm -rf disturbed
  run_on n1 timeout 90 "${command[@]}" --run-dir disturbed --timeout 10 >output 2>errors </dev/null &
  wait_until 30 "updates of a run on two hosts" has_done disturbed 5
  "$@"
  end=$((SECONDS + 10))
  wait $! || code=$?
  ((SECONDS <= end + 6)) || fail "ended $((SECONDS - end)) s later than after 10 s: $(<errors)"
  [[ $code == 1 ]] || fail "exit code $code instead of 1: $(<errors)"
  wait_until 10 "the end of the ranks on n1" no_rank_on n1
  wait_until 10 "the end of the ranks on n2" no_rank_on n2
}

no_rank_on() { ! run_on "$1" pgrep -f "run-dir disturbed"; }

a_cut_link_ends_the_job_with_one_line() {
  disturb "$ut" "${training[@]}" --max-updates 1000000 --hostfile hosts -- cut_link n2
  mend_link n2
  expect_said 1 '^ut: lost a host'
}

stop_rank() { run_on n2 pkill -STOP -f 'run-dir disturbed'; }

a_rank_that_hangs_is_named_under_a_persons_own_mpirun_too() {
  disturb mpirun --allow-run-as-root --quiet --host n1:2,n2 -n 3 --mca mpi_yield_when_idle 1 \
    "$ut" "${training[@]}" --max-updates 1000000 -- stop_rank
  # If the rank was stopped in the middle of a transfer, the others can only tell that one hangs.
  expect_said 1 '^ut: rank 0 on host n1, after update [0-9]+: waited 10 s [^:]*: (late: rank 2 on host n2|a rank hangs)'
}

hosts_up 2
cd /mnt
printf 'n1 slots=2\nn2 slots=2\n' >hosts
tests=(
  four_ranks_on_two_hosts_train_as_one_rank a_rank_has_its_share_of_its_own_hosts_cores
  wrong_host_files_are_refused_before_anything_starts
  a_cut_link_ends_the_job_with_one_line a_rank_that_hangs_is_named_under_a_persons_own_mpirun_too
)
if (($# > 1)); then tests=("${@:2}"); fi
run_tests "${tests[@]}"
