#!/usr/bin/env bash
# `ut bench` shows a narrow or a long link between two hosts. Times are compared, so nothing else may run.
#   slow_link_test.sh PROGRAM
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/private_machine.sh"
readonly ut=$1
private_machine "$@" --

# exposed_exchange [NETWORK]: milliseconds that two ranks on two hosts wait for each other's rows in an update
exposed_exchange() {
  expect_code 0 run_on n1 env ${1:+OMPI_MCA_btl_tcp_if_include=$1} timeout 60 "$ut" bench --encoder-only --d-model 64 \
    --heads 2 --ffn 64 --steps 2 --batch 2 --length 128 --iterations 5 --sequence-parallel 2 --threads 1 --json \
    --hostfile one-each
  sed -E 's/.*"exposed_exchange_s":([^,]+),.*/\1/' output | awk '{ printf "%.3f", 1000 * $1 }'
}

a_slowed_link_shows_in_the_time_of_exchanges() {
  local free rates=() delays=() rate delay
  printf 'n1\nn2\n' >one-each
  free=$(for _ in 1 2 3; do exposed_exchange && echo; done | sort -g | head -n 1)
  for rate in 100mbit 20mbit; do
    limit_rate $rate
    rates+=("$(exposed_exchange)")
  done
  limit_rate off
  for delay in 2 10; do
    delay_up $delay
    delays+=("$(exposed_exchange $delayed_network.0/24)")
    delay_down
  done
  echo "exposed exchange: $free ms; at 100 and 20 Mbit/s ${rates[*]} ms; 2 and 10 ms away ${delays[*]} ms"
  # Each of an update's four exchanges sends 64 KiB each way, so it takes at least these times on any machine.
  awk -v times="$free ${rates[*]} ${delays[*]}" 'BEGIN {
    split(times, time, " ")
    narrow = time[2] > 8 && time[3] > 60 && time[3] > 2 * time[1]
    far = time[4] > 4 * 2 && time[5] > 4 * 10 && time[5] > 2 * time[1]
    exit !(narrow && far) }' ||
    fail "a slower link did not make exchanges slower"
}

hosts_up 2
cd /mnt
run_tests a_slowed_link_shows_in_the_time_of_exchanges
