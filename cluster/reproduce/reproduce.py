#!/usr/bin/env python3
"""The papers' tables, trained again: every row by its settings file, several seeds, the paper's numbers beside ours.

usage: reproduce.py TABLE… [options] [-- options of `ut train`]      --list, --report and --one also without a table

  --size NAME     small (two cores, up to two and a half hours a run; the default) or paper (a cluster)
  --row NAME      only the row whose settings file is NAME.conf; may be given again
  --run NAME      only this of the rows' runs; may be given again
  --seeds N       seeds of each run (3)
  --out DIR       where runs are kept (build/reproduce): DIR/TABLE/SIZE/ROW/RUN/seed-N
  --data DIR      where the data sets lie that `ut data fetch` has brought (data)
  --settings DIR  where the tables are (beside this program)
  --list          the runs, numbered from 0; nothing is trained
  --one N         run N of the list alone (cluster/reproduce/reproduce.sbatch: one job of an array)
  --report        the tables alone, from what is there

What is done is not done again, and a run that was stopped goes on, with the options that are given then. Variables:
UT, the program (build/release/ut); LAUNCH, what starts it on ranks, as "srun --mpi=pmix" (without it the options
--ranks N after -- say). Exit code 1: a run failed; 2: bad input, or no run has its data; 75: stopped by Ctrl-C, TERM or
USR1, with a checkpoint where it was training; with --one that of `ut` where it fails. Standard library alone.

A table is a directory beside this file: SIZE/ROW.conf (options of `ut train`) and table.json: "runs" (options of
training, more of them for the small size, those of each evaluation, which of these are "optional" as the data may lack
their split, data, which of its files are needed, what `ut data` makes of it first, or "copies": of which of its files,
by which names, the run's own data is made), "columns" (run, evaluation, and which of its numbers to "show"), "rows"
(settings, and the paper's numbers). A table "of" another shows that one's runs in another way: its rows say which run,
its columns which settings. What there is of "each" number from 1 has {} in the number's place. Of a cell's seeds the
best by validation is shown, of equal ones that with the lower loss; beside it, where there are several, the mean ±
standard deviation of all and, of errors, how many are learned: not above 5 %. A * marks what was made with other
settings than those shipped now, as far as its result.json says with which; a line below the table names them.
"""

import argparse
import fcntl
import functools
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
FAILED = 5  # error in % above which a task of bAbI counts as failed
# Options that say where and how a run is made; what comes of it is the same, and so they are no settings of a result.
NO_SETTINGS = set("""data run-dir seed config resume checkpoint quiet log-every ranks sequence-parallel exchange
exchange-sends shards threads hostfile timeout device communicator share-gpus balance recompute check-ranks
evaluation-batch stop-signals sentencepiece""".split())
# Of these, what an evaluation is started with like the training before it.
START = "ranks sequence-parallel threads hostfile timeout device communicator share-gpus".split()
# Options that set others of their source where these are not given, too; of `dropout` a run records only these.
DROPOUT = "residual-dropout", "attention-dropout", "transition-dropout", "input-dropout"
FOLLOWED = {"decoder-steps": "steps", "decoder-halting": "halting", "precision": "dtype",
            **dict.fromkeys(DROPOUT, "dropout")}
CHOICES = {("variant", "tensor2tensor"): {"norm": "pre", "residual": "signal-in", "signal": "halves",
                                          "step-signal": "learned", "act-output": "interpolated"},
           ("schedule", "inverse-square-root"): {"learning-rate": "2", "warmup": "8000"}}
BAD_INPUT, STOPPED = 2, 75  # what ut exits with: bad input; somebody asked it to stop


class Trouble(Exception):
    """A line for the person, and what to exit with."""

    def __init__(self, message, code=BAD_INPUT):
        super().__init__(message)
        self.code = code


class NoData(Trouble):
    """The run's data set is not there."""


class Unusable(Trouble):
    """What keeps every other run from being made or shown, too."""


def no_program(variable, program, error):
    needs = {"UT": "the program ut, as `./quickstart build` makes it",
             "LAUNCH": 'what starts ranks, as "srun --mpi=pmix"'}
    return Unusable(f"{variable}: {program}: {getattr(error, 'strerror', error)}, needs {needs[variable]}")


def read_tables(directory, names):
    known = {path.parent.name: path for path in sorted(directory.glob("*/table.json"))}
    for name in names:
        if name not in known:
            raise Trouble(f"{name}: no such table, there are {', '.join(known)}")
    return [read_table(known, name) for name in names or known]


def read_table(known, name):
    try:
        table = json.loads(known[name].read_text())
    except ValueError as error:
        raise Trouble(f"{known[name]}: {error}; the description of a table is needed") from None
    table["name"], table["home"] = name, known[name].parent
    table["rows"] = list(numbered_rows(table["rows"]))
    table["runs"] = dict(numbered_runs(table.get("runs", {})))
    table["of"] = read_table(known, table["of"]) if "of" in table else table
    return table


def each(of):
    """What is described once stands for as many as its "each" says, with a number for {} in its words."""
    return range(1, of.get("each", 1) + 1)


def numbered(words, number):
    if isinstance(words, list):
        return [numbered(word, number) for word in words]
    return words.replace("{}", str(number)) if isinstance(words, str) else words


def numbered_runs(runs):
    for name, run in runs.items():
        for number in each(run):
            yield numbered(name, number), {key: numbered(value, number) for key, value in run.items()}


def numbered_rows(rows):
    """The paper's numbers of "each" row are a list for each column that has any."""
    for row in rows:
        for number in each(row):
            paper = [of[number - 1] if isinstance(of, list) else of for of in row.get("paper", [])]
            yield {**{name: numbered(words, number) for name, words in row.items()}, "paper": paper}


def config_lines(path):
    """The options of a file `name = value`, by name."""
    lines = (line.split("#")[0].partition("=") for line in path.read_text().splitlines())
    return {name.strip(): value.strip() for name, equals, value in lines if equals}


def told_in(words):
    """What options of `ut` set, by name: those given in words before those of the files that --config names."""
    configured, given = {}, {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, _, word = word[2:].partition("=")
        given[name] = word
        if name == "config" and word:
            configured |= rates_told(config_lines(pathlib.Path(word)))
    return {**configured, **rates_told(given)}


def settings_of(words):
    """Those of them that are settings of a result."""
    return {name: value for name, value in told_in(words).items() if name not in NO_SETTINGS}


def start_of(words):
    """Those of them that say how ranks are started, as options."""
    told = {name: value for name, value in told_in(words).items() if name in START and value != "false"}
    return [f"--{name}" if value in ("", "true") else f"--{name}={value}" for name, value in told.items()]


def rates_told(settings):
    """Settings of one source, with the rates that its `dropout` sets in its place."""
    rates = dict.fromkeys(DROPOUT, settings["dropout"]) if "dropout" in settings else {}
    return {**rates, **{name: value for name, value in settings.items() if name != "dropout"}}


@functools.cache
def defaults(ut):
    """Of the options of `ut train`, by name, as its help says them."""
    try:
        said = subprocess.run([ut, "train", "--help"], stdout=subprocess.PIPE, text=True).stdout
    except OSError as error:
        raise no_program("UT", ut, error)
    options = [" ".join(option.split("\n\n")[0].split()) for option in said.split("\n  --")[1:]]
    found = [re.match(r"([\w-]+).*\(default ([^()]*)\)$", option) for option in options]
    if not any(found) and not Stop.asked:
        raise no_program("UT", ut, "no defaults in what `train --help` says")
    return {option[1]: option[2] for option in found if option}


def not_given(record, usual):
    """What options are where nobody gives them beside those of a run's record that set others."""
    for choice, others in CHOICES.items():
        if choice in record.items():
            usual = {**usual, **others}
    return {**usual, **{name: record.get(first, usual.get(first)) for name, first in FOLLOWED.items()}}


def changes(made, now):
    """How settings that something was made with differ from those that are shipped, which are in parentheses."""
    made = rates_told(made)
    both = {name: (made.get(name, "default"), now.get(name, "default")) for name in {**made, **now}}
    changed = {name: values for name, values in both.items() if in_number(values[0]) != in_number(values[1])}
    if len({changed.get(rate) for rate in DROPOUT}) == 1:  # in one word
        changed = {name.replace(DROPOUT[0], "dropout"): changed[name] for name in changed if name not in DROPOUT[1:]}
    return [f"{name} {then} ({shipped})" for name, (then, shipped) in changed.items()]


def in_number(text):
    """1e-8 and 1e-08 are the same."""
    try:
        return float(text)
    except ValueError:
        return text


class Stop:
    """Whether somebody has asked for a stop, and the program that is to know. It is told by USR1, whatever came here:
    that is what mpirun and srun hand to the ranks, and what `ut train` takes from its start on."""

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    asked, program = False, None

    @classmethod
    def ask(cls, *_):
        cls.asked = True
        if cls.program is not None:
            cls.program.send_signal(signal.SIGUSR1)

    @classmethod
    def run(cls, command, errors):
        """The program's exit code, negative for a signal, and what it printed."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as cls.program:
            if cls.asked:  # while it was started
                cls.ask()
            printed, _ = cls.program.communicate()
        return cls.program.returncode, printed


def lock(path):
    """The file, open, which no other job has until it is closed; or somebody has asked for a stop."""
    file = open(path, "w")
    while not Stop.asked:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(0.5)
    return file


def last_words(log, begin):
    """The last line of ut's own in a log, from a place on; as " (…)"."""
    with open(log, errors="replace") as lines:
        lines.seek(begin)
        own = [line for line in lines if line.startswith("ut: ")]
    return f" ({own[-1][len('ut: '):].strip()})" if own else ""


def launcher():
    given = os.environ.get("LAUNCH", "")
    try:
        return shlex.split(given)
    except ValueError as error:
        raise no_program("LAUNCH", given, error)


def wrong_in(result):
    """What of a result is not as this program writes it; or nothing."""
    if not isinstance(result, dict):
        return "no JSON object"
    kinds = {"evaluations": dict, "settings": dict, "hours": (int, float), "validation": (int, float, type(None))}
    parts = {"settings": {}, **result}
    return ", ".join(f"no {name}" for name, kind in kinds.items() if not isinstance(parts.get(name, ...), kind))


class Run:
    """One training: a row's settings, one of the table's runs, one seed."""

    def __init__(self, table, settings, name, seed, options):
        self.table, self.settings, self.name, self.seed, self.options = table, settings, name, seed, options
        self.described = table["runs"][name]
        self.data, self.files = self.described.get("data"), self.described.get("files")
        self.copies = self.described.get("copies", {})
        self.directory = options.out / table["name"] / options.size / settings / name / f"seed-{seed}"

    def __str__(self):
        return f"{self.table['name']} {self.settings} {self.name} seed {self.seed}"

    def concerns(self, part):
        """Whether a row or a column of a table, or both in one, shows this run."""
        return (part.get("settings", self.settings) == self.settings
                and re.fullmatch(part.get("run", ".*"), self.name) is not None)

    def result(self):
        path = self.directory / "result.json"
        if not path.exists():
            return None
        try:
            result = json.loads(path.read_text())
            wrong = wrong_in(result)
        except ValueError as error:
            wrong = error
        if wrong:
            raise Unusable(f"{path}: damaged ({wrong}); remove it, and what the run lacks is made again")
        return result

    def missing_data(self):
        """What the run lacks of its data, or None."""
        if self.data is None:
            return None
        directory = self.options.data / self.data
        if not directory.is_dir():
            return directory
        needed = [self.files] if self.files else self.copies.values()
        return next((directory / file for file in needed if not any(directory.glob(file))), None)

    def own_data(self):
        """Where files are called otherwise, a place of its own: the data set stays as it was fetched."""
        return self.directory / "data" if self.copies else self.options.data / self.data

    def copy_data(self):
        for name, file in self.copies.items():
            self.own_data().mkdir(exist_ok=True)
            shutil.copy(self.options.data / self.data / file, self.own_data() / name)

    def shipped_options(self):
        settings = self.table["home"] / self.options.size / f"{self.settings}.conf"
        return ["--config", str(settings), *self.described["train"], *self.described.get(self.options.size, [])]

    def train_options(self):
        data = [] if self.data is None else ["--data", str(self.own_data())]
        return [*self.shipped_options(), "--seed", str(self.seed), *data, *self.options.more,
                "--run-dir", str(self.directory)]

    def asked(self):
        """The evaluations by name, with options of `ut evaluate`."""
        return self.described.get("evaluate", {"test": ["--split", "test"]})

    def trained_settings(self, usual):
        """What is set for the run, by name, as its own record has it: it may have been begun with other settings, and
        with some that nothing sets now."""
        record = config_lines(self.directory / "options.conf")
        now, usual = settings_of(self.train_options()), not_given(record, usual)
        return {name: value for name, value in record.items() if name not in NO_SETTINGS
                and (name in now or in_number(value) != in_number(usual.get(name, "")))}

    def other_settings(self, evaluation):
        """How those that its evaluation was made with differ from those that are shipped now, where that is known."""
        result = self.result()
        if result is None or "settings" not in result or result["evaluations"].get(evaluation) is None:
            return []
        made = result["settings"]
        evaluated = made["evaluate"].get(evaluation, {})
        return [*changes(made["train"], settings_of(self.shipped_options())),
                *changes(evaluated, settings_of(self.asked().get(evaluation, [])))]

    def make(self):
        if self.result() is not None:
            return
        missing = self.missing_data()
        if missing is not None:
            raise NoData(f"{self}: not run, no {missing} (see `ut data fetch`)")
        usual = defaults(self.options.ut)  # `ut` is there, then, before anything else is done
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self.copy_data()
        except OSError as error:
            raise Unusable(f"--out {self.options.out}: {error.strerror}: {error.filename}; needs a directory that "
                           "can be written to") from None
        self.prepare()
        print(f"{self}", flush=True)
        again = ["--run-dir", str(self.directory), "--resume", *self.options.more]
        self.ut("train", *(again if self.has_checkpoint() else self.train_options()))
        evaluations = {name: self.evaluate(name, given) for name, given in self.asked().items()}
        settings = {"train": self.trained_settings(usual),
                    "evaluate": {name: settings_of(given) for name, given in self.asked().items()}}
        result = {"evaluations": evaluations, "settings": settings, **self.told()}
        written = self.directory / "result.json.new"
        written.write_text(json.dumps(result, indent=1) + "\n")
        written.rename(self.directory / "result.json")

    def has_checkpoint(self):
        """Not by the pointer `latest`, which comes after the first one: a kill may come between them."""
        return any(path.is_dir() and path.suffix != ".tmp" for path in self.directory.glob("checkpoints/update-*"))

    def prepare(self):
        """Makes the file that the data lacks, by a command of `ut data`; one of an array's jobs for all."""
        prepare = self.described.get("prepare")
        if not prepare:
            return
        makes = self.options.data / self.data / prepare["makes"]
        if makes.exists():
            return
        by = ["data", *prepare["by"], "--data", str(makes.parent)]
        beside = makes.with_name(f"{makes.name}.lock")
        try:
            locked = lock(beside)
        except OSError as error:
            raise Trouble(f"{self}: {beside}: {error.strerror}; first run, where it can be: ut {shlex.join(by)}")
        with locked:
            if not makes.exists():
                self.ut(*by, launch=False)

    def evaluate(self, name, given):
        """None where the data has no such split, and need not have it."""
        try:
            said = self.ut("evaluate", "--run-dir", str(self.directory), "--json", *given,
                           *start_of(self.options.more))
        except Trouble as trouble:
            if name in self.described.get("optional", []) and "this data has none" in str(trouble):
                return None
            raise
        return json.loads(said.strip().splitlines()[-1])

    def ut(self, *arguments, launch=True):
        stopped = Trouble(f"{self}: stopped; the same command goes on", STOPPED)
        if Stop.asked:
            raise stopped
        command = [*(launcher() if launch else []), self.options.ut, *arguments]
        with open(self.directory / "reproduce.log", "a") as log:
            begin = log.tell()
            try:
                code, printed = Stop.run(command, log)
            except OSError as error:
                raise no_program("UT" if command[0] == self.options.ut else "LAUNCH", command[0], error)
            log.write(printed)
        if code == 0:
            return printed
        if Stop.asked or code == STOPPED or -code in Stop.signals:
            raise stopped
        raise Trouble(f"{self}: ut {arguments[0]} ended with {code}{last_words(log.name, begin)}, see {log.name}",
                      code if code > 0 else 128 - code)

    def told(self):
        """What the run says of itself: validation, updates and hours to its end, FLOPs, parameters and mesh."""
        lines = [json.loads(line) for line in open(self.directory / "metrics.jsonl")]
        log = (self.directory / "reproduce.log").read_text()
        model = re.findall(r"([\d ]+) parameters.*?(\d+) ranks? \(data-parallel (\d+), sequence-parallel (\d+)\)", log)
        sizes = next((line for line in lines if "flops_per_update" in line), {})
        checkpoints = self.directory / "checkpoints"
        newest = checkpoints / (checkpoints / "latest").read_text().strip()
        state = json.loads((newest / "state.json").read_text())  # metrics.jsonl may have scores of other examples, too
        told = {"validation": state.get("best_score"),
                "validation_loss": state.get("best_loss"),  # None as well where it is not finite
                "updates": max(line["update"] for line in lines),
                "hours": max(line.get("hours", 0) for line in lines),
                "flops_per_update": sizes.get("flops_per_update", []),  # least and most: positions may halt
                "flops_per_step": sizes.get("flops_per_step", {})}
        if model:
            parameters, ranks, data, sequence = (int(number) for number in model[-1])
            told |= {"parameters": parameters, "ranks": ranks, "mesh": f"{data} × {sequence}"}
        return told


def trained(tables):
    """The tables whose runs these are, each once."""
    return {table["of"]["name"]: table["of"] for table in tables}.values()


def refuse_unknown(tables, options):
    """Rows and runs that were asked for and are in none of the tables."""
    rows = {row["settings"]: None for table in trained(tables) for row in table["rows"]}
    runs = {name: None for table in trained(tables) for name in table["runs"]}
    for kind, asked, known in (("row", options.row, rows), ("run", options.run, runs)):
        for name in asked or []:
            if name not in known:
                raise Trouble(f"--{kind} {name}: no such {kind}, there are {', '.join(known)}")


def runs_of(tables, options):
    return [Run(table, row["settings"], name, seed, options)
            for table in trained(tables)
            for row in table["rows"] if not options.row or row["settings"] in options.row
            if (table["home"] / options.size / f"{row['settings']}.conf").exists()
            for name in row.get("runs", table["runs"]) if not options.run or name in options.run
            for seed in range(1, options.seeds + 1)]


def merit(score, loss):
    """Greater for the better by validation: of equal scores, as in `ut train`, that with the lower loss."""
    return score or 0, -math.inf if loss is None else -loss


def best_first(runs):
    """The results of a run's seeds, the best by validation first."""
    results = [result for result in (run.result() for run in runs) if result is not None]
    return sorted(results, key=lambda result: merit(result["validation"], result.get("validation_loss")), reverse=True)


class Spread(list):
    """A number of several seeds: formatted, it is their mean ± their standard deviation."""

    def __format__(self, how):
        return f"{statistics.mean(self):{how}} ± {statistics.stdev(self):{how}}"


def flat(values, before=""):
    """{"a": {"b": 1}} -> {"a/b": 1}, and the error beside each accuracy."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{name}/")
        else:
            yield before + name, value
    if "accuracy" in values:
        yield f"{before}error", error(values)


def error(evaluation):
    """In %."""
    return round(100 * (1 - evaluation["accuracy"]), 9)


def shown(seeds, how):
    """Of evaluations, the best first."""
    numbers = [dict(flat(evaluation)) for evaluation in seeds]
    best = how.format_map(numbers[0])
    if len(seeds) == 1:
        return best
    spread = {name: Spread(seed[name] for seed in numbers) for name in set(numbers[0]).intersection(*numbers)}
    of = f", {learned(spread['error'])}" if "{error" in how else f" of {len(seeds)}"
    return f"{best}; {how.format_map(spread)}{of}"


def shown_errors(tasks):
    """Of each task's evaluations, the best first."""
    errors = [[error(evaluation) for evaluation in seeds] for seeds in tasks]
    best = [seeds[0] for seeds in errors]
    text = f"{statistics.mean(best):.2f} ({sum(one > FAILED for one in best)}/{len(best)})"
    deviations = [statistics.stdev(seeds) for seeds in errors if len(seeds) > 1]
    if not deviations:
        return text
    every = [one for seeds in errors for one in seeds]
    means = statistics.mean(statistics.mean(seeds) for seeds in errors)
    return f"{text}; {means:.2f} ± {statistics.mean(deviations):.2f}, {learned(every)}"


def learned(errors):
    return f"{sum(one <= FAILED for one in errors)} of {len(errors)} learned"


def tasks_of(evaluation, given):
    """A joint run's evaluation has a group for each task."""
    groups = evaluation.get("groups", {}) if evaluation else {}
    if "group" in given:
        return [groups[given["group"]]] if given["group"] in groups else []
    if groups and "combine" in given:
        return list(groups.values())
    return [evaluation] if evaluation else []  # the data may have no such split


def other_settings(runs, given):
    """Those that what a row has in a column was made with, each once, with those that are shipped now."""
    evaluation = given.get("evaluation", "test")
    every = (change for run in runs if run.concerns(given) for change in run.other_settings(evaluation))
    return list(dict.fromkeys(every))


def made_by_name(runs, given):
    """The results of the runs that a row has in a column, of each its seeds', the best first."""
    by_name = {}
    for run in runs:
        if run.concerns(given):
            by_name.setdefault(run.name, []).append(run)
    return {name: results for name, seeds in by_name.items() if (results := best_first(seeds))}


def cell(runs, given):
    """What a row has in a column, as text; with a * where it was made with other settings than those shipped now."""
    made = made_by_name(runs, given)
    if not made:
        return "not run"
    evaluation = given.get("evaluation", "test")
    tasks = [task for results in made.values()
             for task in zip(*(tasks_of(result["evaluations"].get(evaluation), given) for result in results))]
    try:
        text = shown_errors(tasks) if "combine" in given else shown(tasks[0], given.get("show", "{accuracy:.3f}"))
    except (IndexError, KeyError):
        return "no data"
    return text + ("*" if other_settings(runs, given) else "")


def columns_of(table, rows, runs):
    """Those that concern the runs, with their heads; the paper's beside ours where it has any number."""
    yield ["", *(row["name"] for row in rows)]
    for place, column in enumerate(table["columns"]):
        if any(run.concerns(column) for run in runs):
            yield [column["name"], *(cell(runs, {**column, **row}) for row in rows)]
            paper = [(row["paper"][place:] or [None])[0] for row in rows]
            if any(number is not None for number in paper):
                yield ["paper", *("–" if number is None else str(number) for number in paper)]


def errors_in_common(table, rows, runs):
    """A line for each row that has made other runs of a column than the row with most: both, in what they share."""
    for column in table["columns"]:
        if "combine" not in column:
            continue
        errors = {}
        for row in rows:
            given = {**column, **row}
            scored = {name: results[0]["evaluations"].get(given.get("evaluation", "test"))
                      for name, results in made_by_name(runs, given).items()}
            errors[row["name"]] = {name: error(test) for name, test in scored.items() if test}
        most = max(errors, key=lambda row: len(errors[row]))
        for row, of in errors.items():
            shared = [name for name in table["runs"] if name in of and name in errors[most]]
            if len(shared) > 1 and set(of) != set(errors[most]):
                told = (f"{name} {statistics.mean(errors[name][run] for run in shared):.2f} "
                        f"({sum(errors[name][run] > FAILED for run in shared)}/{len(shared)})" for name in (row, most))
                yield f"{column['name']}, of {', '.join(shared)} alone: {', '.join(told)}."


def print_table(table, options):
    runs = runs_of([table], options)
    rows = [row for row in table["rows"] if any(run.concerns(row) for run in runs)]
    if not rows:
        return
    print(f"\n### {table['title']}, {options.size} size\n")
    for number, line in enumerate(zip(*columns_of(table, rows, runs))):
        print("|" + "|".join(f" {text} " if text else " " for text in line) + "|")
        if number == 0:
            print("|" + "---|" * len(line))
    cells = [{**column, **row} for row in rows for column in table["columns"]]
    others = dict.fromkeys(change for given in cells for change in other_settings(runs, given))
    for line in errors_in_common(table, rows, runs):
        print(f"\n{line}")
    if others:
        print(f"\n*: made with other settings than those now shipped: {', '.join(others)}.")
    for part in [*rows, *table["columns"]]:
        made = [run for run in runs if "settings" in part and run.concerns(part) and run.result() is not None]
        if made:
            print(f"\n{note(part, made)}")


def note(part, made):
    """How the results of a row, or of a column, came about."""
    results = [run.result() for run in made]
    seeds = sorted({run.seed for run in made})
    parameters = sorted({result["parameters"] for result in results if "parameters" in result})
    flops = sorted(number for result in results for number in flops_of(result))
    minutes = sorted(60 * result["hours"] for result in results)
    meshes = sorted({result["mesh"] for result in results if "mesh" in result})
    parts = [f"{len(made)} run{'s' if len(made) > 1 else ''}", f"seed{'s' if len(seeds) > 1 else ''} {span(seeds)}"]
    transitions = {trained_with(result).get("transition", "feed-forward") for result in results} - {"feed-forward"}
    if parameters:
        parts.append(f"{span(parameters)} parameters")
    if transitions:
        parts.append(f"transition {', '.join(sorted(transitions))}")
    if flops:
        parts.append(f"{in_flop(flops)} an update")
    took = "under a minute" if minutes[-1] < 1 else f"{span([f'{max(one, 1):.0f}' for one in minutes])} minutes"
    parts.append(f"{took}{' each' if len(made) > 1 else ''}")
    if meshes:
        parts.append(f"mesh {', '.join(meshes)}")
    return f"{part['name']}: {', '.join(parts)}."


def trained_with(result):
    """The settings that differ from the program's own; none are known of the oldest results."""
    return result.get("settings", {}).get("train", {})


def flops_of(result):
    """An update's: where positions that halt take no more part, with as many steps as they took on average; else the
    bounds."""
    bounds = result.get("flops_per_update", [])
    of_step = result.get("flops_per_step")
    ponder = next((made["ponder"] for made in result["evaluations"].values() if made and "ponder" in made), None)
    halting = trained_with(result).get("halting", "act-copy")
    kinds = {"encoder": halting, "decoder": trained_with(result).get("decoder-halting", halting)}
    if not of_step or not ponder or any(kinds[stack] != "act-copy" for stack in ponder):
        return bounds
    return [bounds[0] + sum((times["mean"] - 1) * of_step[stack] for stack, times in ponder.items())]


def span(ascending):
    return f"{ascending[0]}" if ascending[0] == ascending[-1] else f"{ascending[0]} to {ascending[-1]}"


def in_flop(ascending):
    """As `ut train` says it: 1.26 to 3.65 GFLOP."""
    thousands = min(int(math.log10(ascending[-1])) // 3, 5)
    return f"{span([f'{number / 1000**thousands:.3g}' for number in ascending])} {' kMGTP'[thousands]}FLOP"


def parse(arguments):
    more = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, more = arguments[:cut], arguments[cut + 1:]
    parser = argparse.ArgumentParser(usage="reproduce.py TABLE… [options], see --help", add_help=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-h", "--help", action="version", version=__doc__.rstrip())
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--size", choices=["small", "paper"], default="small")
    parser.add_argument("--row", action="append")
    parser.add_argument("--run", action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/reproduce"))
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("data"))
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
    tables = read_tables(options.settings, options.tables)
    refuse_unknown(tables, options)
    runs = runs_of(tables, options)
    if not runs:
        raise Trouble(f"nothing to run: no such row has such a run and settings of the {options.size} size")
    if options.list:
        for number, run in enumerate(runs):
            print(f"{number} {run}{'' if run.result() is None else ', done'}")
        return
    if not options.tables and options.one is None and not options.report:
        names = ", ".join(table["name"] for table in tables)
        raise Trouble(f"which tables? All of them are {len(runs)} runs; there are {names}")
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
    """What there is to say at the end. A run that fails does not keep the others from being made, unless somebody
    stopped it."""
    failed, without_data = 0, 0
    for run in runs:
        run.result()  # a damaged one is told before anything is trained
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
