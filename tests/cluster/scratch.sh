# For tests of cluster/'s scripts, to be sourced: the program that the test was given is UT, `place` is a directory that
# goes when the test ends, `cluster` where the scripts are.
UT=$(realpath "${1:?the program ut}")
export UT
cluster=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../cluster" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}
