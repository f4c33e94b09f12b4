#!/usr/bin/env bash
# Feeds each parser, or only those named, with inputs from libFuzzer for SECONDS (600), and prints what was found:
#   tests/fuzz/run.sh [SECONDS] [PARSER...]
# Needs clang and its run-time library (Debian: clang libclang-rt-14-dev). Inputs that were tried are kept below
# build/fuzz/tried, those of findings below build/fuzz/found. Mend the parser and put the input into
# tests/fuzz/corpus/PARSER.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

refuse() {
  echo "tests/fuzz/run.sh: $*" >&2
  exit 2
}
seconds=${1:-600}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || refuse "$seconds: needs a whole number of seconds first, and parsers after it"
shift $(($# > 0 ? 1 : 0))
all=()
for source in tests/fuzz/*_fuzz.cpp; do all+=("$(basename "$source" _fuzz.cpp)"); done
parsers=("$@")
if ((${#parsers[@]} == 0)); then parsers=("${all[@]}"); fi
for parser in "${parsers[@]}"; do
  [[ -f tests/fuzz/${parser}_fuzz.cpp ]] || refuse "$parser: no such parser; there are ${all[*]}"
done

# quietly LOG command…
quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 && return
  tail -n 60 "$log"
  exit 1
}

mkdir -p build/fuzz
quietly build/fuzz/configure.log cmake --preset fuzz
quietly build/fuzz/build.log cmake --build build/fuzz ${UT_BUILD_JOBS:+-j "$UT_BUILD_JOBS"} \
  --target "${parsers[@]/%/_fuzz}"

# In memory, because the files that parsers read are written anew for each input.
memory=/dev/shm
[[ -w $memory ]] || memory=${TMPDIR:-/tmp}
scratch=$(mktemp -d -p "$memory" ut-fuzz-XXXXXX)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=quarantine_size_mb=64 OMP_NUM_THREADS=1

# Fuzzes a parser and prints its line of the table; the last column is the number of findings.
fuzz() {
  local parser=$1 tried=build/fuzz/tried/$1 found=build/fuzz/found/$1 log=build/fuzz/$1.log
  rm -rf "$found"
  mkdir -p "$tried" "$found"
  # Inputs have at most 64 KiB. One allocation above 8 MiB, a process above 1 GiB or ten seconds are a finding; leaks
  # are not, because LibTorch keeps what it allocates until the end.
  local ended=0
  build/fuzz/tests/fuzz/"${parser}_fuzz" -max_total_time="$seconds" -max_len=65536 -timeout=10 -malloc_limit_mb=8 \
    -rss_limit_mb=1024 -detect_leaks=0 -artifact_prefix="$found/" -print_final_stats=1 "$tried" \
    "tests/fuzz/corpus/$parser" >"$log" 2>&1 || ended=$?
  local findings executions took corpus
  findings=$(find "$found" -type f | wc -l)
  if ((ended != 0 && findings == 0)); then findings=1; fi # it ended without an input, e.g. could not start
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  took=$(sed -n 's/^Done .* in \([0-9]*\) second.*/\1/p' "$log")
  corpus=$(find "$tried" -type f | wc -l)
  printf '%-14s %12s %8s %8s %9s\n' "$parser" "${executions:-?}" "${took:-?}" "$corpus" "$findings"
}

failed=0
printf '%-14s %12s %8s %8s %9s\n' parser executions seconds corpus findings
for parser in "${parsers[@]}"; do
  line=$(fuzz "$parser")
  echo "$line"
  [[ $line == *' 0' ]] || failed=1
done
if ((failed)); then
  echo "inputs: build/fuzz/found; what happened: build/fuzz/PARSER.log"
  exit 1
fi
