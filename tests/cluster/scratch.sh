# Sourced by tests of cluster/'s scripts. UT is the program that the test was given, `scratch` a directory that is
# removed when the test ends, `cluster` the directory of the scripts.
UT=$(realpath "${1:?the program ut}")
export UT
cluster=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../cluster" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}
