# shellcheck shell=bash
# Sourced first by the tests of this folder: brings what they share, and runs the rest of the test in namespaces of its
# own. There the test may make hosts, start daemons and write to /mnt. All of that vanishes when the test ends, however
# it ends. Two such tests do not see each other.
#   private_machine ARGUMENT… -- PACKAGE…    the test's own arguments, and the packages that it needs
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../quickstart" # need_packages
source "$here/hosts.sh"
source "$here/training.sh"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Installs packages without starting their services: a test must start none on a user's machine.
need_packages_without_services() {
  local policy=/usr/sbin/policy-rc.d
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy
    trap "rm -f $policy" EXIT
  fi
  need_packages "$@"
}

private_machine() {
  local command=("$here/${0##*/}") child
  while [[ $1 != -- ]]; do command+=("$1") && shift; done
  shift
  if [[ -n ${UT_PRIVATE_MACHINE:-} ]]; then
    mount -t tmpfs tmpfs /mnt
    return
  fi
  [[ $(id -u) == 0 ]] ||
    fail "tests of clusters make network namespaces, which needs root; leave them out with: ctest -LE cluster"
  unshare --net --mount --uts --pid --fork true ||
    fail "this machine allows no namespaces (unshare); leave the tests of clusters out with: ctest -LE cluster"
  (need_packages_without_services iproute2 python3 util-linux openssh-server openssh-client openmpi-bin "$@")
  # The first process of a namespace ignores signals that it has no handler for, so it is killed from here.
  UT_PRIVATE_MACHINE=1 setpriv --pdeathsig KILL unshare --net --mount --uts --pid --mount-proc --kill-child \
    bash "${command[@]}" &
  child=$!
  trap 'kill -KILL $child; exit 1' INT TERM
  wait $child && exit 0
  exit 1
}
