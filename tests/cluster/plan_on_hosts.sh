#!/usr/bin/env bash
# Runs cluster/plan_check.sh on this machine and on two simulated hosts with a link of RATE (200mbit), for the table in
# README.md.   plan_on_hosts.sh PROGRAM [RATE]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/private_machine.sh"
private_machine "$@" --

hosts_up 2
limit_rate "${2:-200mbit}"
cd /mnt
UT=$1 SLOW_NAME="2 hosts, ${2:-200mbit}" LAUNCH_SLOW="mpirun --allow-run-as-root --quiet --bind-to none \
  --mca mpi_yield_when_idle 1 --mca btl_tcp_if_include $network.0/24 --map-by node --host n1:2,n2:2 -n {}" \
  bash "$here/../../cluster/plan_check.sh"
