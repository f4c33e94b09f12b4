# shellcheck shell=bash
# Hosts n1, n2, … for tests inside a private machine (private_machine.sh). Each has its own network, name, processes,
# /dev/shm and ssh daemon; a switch joins them. They share all other files. This machine is `head`.

readonly net=/mnt/net network=10.99.0

# hosts_up COUNT
hosts_up() {
  local host
  mkdir -p $net
  write_host_files "$1"
  hostname head
  ip link set lo up
  ip link add switch type bridge
  ip addr add $network.254/24 dev switch
  ip link set switch up
  for host in $(seq "$1"); do start_host "$host"; done
  for host in $(seq "$1"); do
    wait_until 10 "ssh daemon of host n$host" ssh "n$host" true
  done
}

# wait_until SECONDS WHAT COMMAND…
wait_until() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || fail "$what: not there in time"
    sleep 0.1
  done
}

# Writes the hosts' names, and an ssh configuration with a new key and without questions.
write_host_files() {
  local host
  {
    echo "127.0.0.1 localhost"
    echo "$network.254 head"
    for host in $(seq "$1"); do echo "$network.$host n$host"; done
  } >$net/hosts
  ssh-keygen -q -t ed25519 -N '' -f $net/key
  cat >$net/ssh_config <<CONFIG
Host *
  IdentityFile $net/key
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
CONFIG
  cat >$net/sshd_config <<CONFIG
HostKey $net/key
AuthorizedKeysFile $net/key.pub
StrictModes no
PermitRootLogin yes
UsePAM no
UseDNS no
PidFile none
CONFIG
  mount --bind $net/hosts /etc/hosts
  mount --bind $net/ssh_config /etc/ssh/ssh_config
}

# start_host NUMBER
start_host() {
  unshare --net --uts --mount --pid --mount-proc --kill-child bash -euc "
    hostname n$1
    mount -t tmpfs -o mode=1777 tmpfs /dev/shm
    mount -t tmpfs tmpfs /run
    mkdir -p /run/sshd
    ip link set lo up
    until ip link show eth0 >/dev/null 2>&1; do sleep 0.02; done
    ip addr add $network.$1/24 dev eth0
    ip link set eth0 up
    exec /usr/sbin/sshd -D -e -f $net/sshd_config" </dev/null >"$net/n$1.log" 2>&1 &
  local unshare=$! first
  until first=$(cat /proc/$unshare/task/$unshare/children) && [[ -n $first ]]; do sleep 0.02; done
  echo "$first" >"$net/n$1.pid"
  ip link add "port$1" type veth peer name eth0 netns "${first% }"
  ip link set "port$1" master switch up
}

# run_on HOST COMMAND…: runs the command on the host, without ssh.
run_on() {
  local pid
  pid=$(<"$net/$1.pid")
  shift
  nsenter -t "${pid% }" --net --uts --mount --pid --wd="$PWD" -- "$@"
}

# cut_link HOST: silently drops all traffic between the host and the others. mend_link HOST undoes it.
cut_link() { bridge link set dev "port${1#n}" state disabled; }
mend_link() { bridge link set dev "port${1#n}" state forwarding; }

# limit_rate RATE: limits every host's link, each way, to RATE (as tc writes it: 100mbit); off: no limit.
limit_rate() {
  local link host
  for link in $net/n*.pid; do
    host=$(basename "$link" .pid)
    if [[ $1 == off ]]; then
      run_on "$host" tc qdisc del dev eth0 root
      tc qdisc del dev "port${host#n}" root
    else
      run_on "$host" tc qdisc replace dev eth0 root tbf rate "$1" burst 128kb limit 512kb
      tc qdisc replace dev "port${host#n}" root tbf rate "$1" burst 128kb limit 512kb
    fi
  done
}

readonly delayed_network=10.98.0

# delay_up DELAY_MS: makes a second network between n1 and n2, $delayed_network.0/24, with that delay each way.
delay_up() {
  local host pid
  rm -f $net/delay.log  # an old one would say that the switch is ready
  python3 "$here/delayed_switch.py" "$1" far1 far2 >$net/delay.log 2>&1 &
  echo $! >$net/delay.pid
  wait_until 10 "delayed switch" grep -q ready $net/delay.log
  for host in 1 2; do
    pid=$(<"$net/n$host.pid")
    ip link set "far$host" netns "${pid% }"
    run_on "n$host" ip addr add "$delayed_network.$host/24" dev "far$host"
    run_on "n$host" ip link set "far$host" up
  done
}
delay_down() { kill "$(<$net/delay.pid)"; }
