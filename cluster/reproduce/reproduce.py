#!/usr/bin/env python3
"""Trains every row of the papers' tables by its settings file, with several seeds; prints the papers' numbers and ours.

usage: reproduce.py TABLE… [options] [-- options of `ut train`]      --list, --report and --one need no table

  --size NAME     small (two cores, up to two and a half hours a run; the default) or paper (a cluster)
  --row NAME      only the row whose settings file is NAME.conf; may be given again
  --run NAME      only this run of the rows; may be given again
  --seeds N       number of seeds of each run (3)
  --out DIR       where runs are kept (build/reproduce), as DIR/TABLE/SIZE/ROW/RUN/seed-N
  --data DIR      where the data sets are that `ut data fetch` has fetched (data)
  --settings DIR  where the tables are (beside this program)
  --list          list the runs, numbered from 0; train nothing
  --one N         make only run N of the list (cluster/reproduce/reproduce.sbatch: one job of an array)
  --report        only print the tables, from the results that are there

Finished runs are not repeated. A run that was stopped continues, with the options given this time.

Variables: UT, the program (build/release/ut); LAUNCH, the command that starts it on ranks, such as "srun --mpi=pmix"
(without it, --ranks N after -- starts them).

Exit codes: 1, a run failed; 2, bad input, or no run has its data; 75, stopped by Ctrl-C, TERM or USR1, with a
checkpoint if it was training. With --one, the exit code of `ut` if that fails.

A table is a directory beside this file, with SIZE/ROW.conf (options of `ut train`) and table.json:

  "runs"     options of "train", further ones for a size ("small", "paper"), those of each evaluation ("evaluate"),
             which evaluations are "optional" because the data may lack their split; the "data", which of its "files"
             are needed, what `ut data` makes of it first ("prepare"); or "copies": from which of its files, under
             which names, the run's own data is made
  "columns"  run, evaluation, and which of its numbers to "show"
  "rows"     settings, and the paper's numbers

A table "of" another shows that one's runs in another way: its rows say which run, its columns which settings. An entry
with "each": N stands for N entries, numbered from 1, with the number in place of {}.

A cell shows the seed that is best by validation (of equal ones, the one with the lower loss). If there are several
seeds, the mean ± standard deviation of all follow and, for errors, how many have learned: an error of at most 5 %. A *
marks numbers made with other settings than those shipped now, as far as their result.json has the settings; a line
below the table names them.

Needs only Python's standard library.
"""

import argparse
import os
import pathlib
import signal
import sys

sys.dont_write_bytecode = True  # the clone may belong to others, or be the same for all nodes
from printed_table import print_table
from stop import Stop
from tables import read_tables
from training import refuse_unknown, runs_of
from trouble import NoData, STOPPED, Trouble, Unusable

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path("data")


class OneLineParser(argparse.ArgumentParser):
    def error(self, message):
        raise Trouble(f"{message}; see --help")


def parse(arguments):
    more = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, more = arguments[:cut], arguments[cut + 1:]
    parser = OneLineParser(add_help=False, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-h", "--help", action="version", version=__doc__.rstrip())
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--size", choices=["small", "paper"], default="small")
    parser.add_argument("--row", action="append")
    parser.add_argument("--run", action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/reproduce"))
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--settings", type=pathlib.Path, default=HERE)
    parser.add_argument("--one", type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args(arguments)
    options.more = more
    options.ut = os.environ.get("UT", str(HERE.parent.parent / "build/release/ut"))
    return options


def main():
    options = parse(sys.argv[1:])
    if options.seeds < 1:
        raise Trouble(f"--seeds {options.seeds}: needs a whole number from 1 on")
    given = {"--data": options.data if options.data != DATA else None, "--out": options.out if options.report else None,
             "--settings": options.settings}
    for name, directory in given.items():
        if directory is not None and not directory.is_dir():
            raise Trouble(f"{name} {directory}: no such directory")
    tables = read_tables(options.settings, options.tables)
    refuse_unknown(tables, options)
    runs = runs_of(tables, options)
    if not runs:
        raise Trouble(f"nothing to run: none of these rows has such a run with settings of the {options.size} size")
    if options.list:
        for number, run in enumerate(runs):
            print(f"{number} {run}{'' if run.result() is None else ', done'}")
        return
    if not options.tables and options.one is None and not options.report:
        names = ", ".join(table["name"] for table in tables)
        raise Trouble(f"no table given; needs one or more of {names} ({len(runs)} runs in all)")
    if options.one is not None and not 0 <= options.one < len(runs):
        raise Trouble(f"--one {options.one}: there are runs 0 to {len(runs) - 1}, see --list")
    if options.one is not None:
        runs[options.one].make()
        return
    trouble = None if options.report else make_all(runs)
    for table in tables:
        print_table(table, options)
    if trouble is not None:
        raise trouble


def make_all(runs):
    """Makes the runs; returns the trouble to report at the end, if any. If a run fails, the others are still made,
    unless somebody stopped it or its trouble is that of all runs."""
    failed, without_data = 0, 0
    for run in runs:
        run.result()  # a damaged one is reported before anything is trained
    for run in runs:
        try:
            run.make()
        except NoData as missing:
            print(missing, flush=True)
            without_data += 1
        except Trouble as trouble:
            if trouble.code == STOPPED or isinstance(trouble, Unusable):
                raise
            print(f"reproduce.py: {trouble}", file=sys.stderr, flush=True)
            failed += 1
    if failed:
        return Trouble(f"{failed} of {len(runs)} runs failed", 1)
    return Trouble("no run has its data") if without_data == len(runs) else None


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # --list | head
    for number in Stop.signals:
        signal.signal(number, Stop.ask)
    try:
        main()
    except Trouble as trouble:
        print(f"reproduce.py: {trouble}", file=sys.stderr)
        sys.exit(trouble.code)
