#!/usr/bin/env bash
# The papers' tables in the README match the shipped results: every row, and every note on a row's runs except the
# remarks on their time.
#   reproduce_tables_test.sh UT
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scratch.sh"

"$cluster/reproduce/reproduce.py" --report --out "$cluster/reproduce/measured" >"$scratch/report.md"
python3 - "$cluster/../README.md" "$scratch/report.md" <<'PYTHON' || fail "the README has other tables"
import pathlib, re, sys

readme, report = (pathlib.Path(path).read_text() for path in sys.argv[1:])
rows = readme.split("\n")
text = " ".join(readme.split())
seen = 0
wrong = []
for line in report.split("\n"):
    note = re.match(r"(\*: made with .*|\S.*: \d+ runs?, seeds? .*? minutes?)\b", line)
    if line.startswith("| ") and (line.count("not run") < 5 or line in rows):  # skip tasks that were never run
        seen += 1
        wrong += [] if line in rows else [line]
    elif note:
        seen += 1
        wrong += [] if note[1] in text else [note[1]]
print("\n".join(wrong), file=sys.stderr)
sys.exit(1 if wrong or seen < 50 else 0)
PYTHON
