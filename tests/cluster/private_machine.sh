# shellcheck shell=bash
# Sourced first by the tests of this folder: brings what they share, and runs the rest of the test in namespaces of its
# own, where it may make hosts, start daemons and write to /mnt as it likes. All of it ends and vanishes with the test,
# however that ends; two such tests do not see one another.
#   private_machine ARGUMENT… -- PACKAGE…    the test's own arguments, and what it needs
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../quickstart" # need_packages
source "$here/hosts.sh"
source "$here/training.sh"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Packages with services start them where systemd runs: not on a person's machine because of a test.
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
  # The first process of a namespace takes no signal that it does not expect, so that it is killed from here.
  UT_PRIVATE_MACHINE=1 setpriv --pdeathsig KILL unshare --net --mount --uts --pid --mount-proc --kill-child \
    bash "${command[@]}" &
  child=$!
  trap 'kill -KILL $child; exit 1' INT TERM
  wait $child && exit 0
  exit 1
}
