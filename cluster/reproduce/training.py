"""One run of a table: it is trained and evaluated, and its result kept."""

import json
import os
import re
import shlex
import shutil

from result_settings import changes, config_lines, defaults, in_number, NO_SETTINGS, not_given, settings_of, start_of
from stop import Stop, lock
from trouble import BAD_INPUT, NoData, STOPPED, Trouble, Unusable, no_program


def last_words(log, begin):
    """The last line in a log, from a place on, that is ut's own; as " (…)"."""
    with open(log, errors="replace") as lines:
        lines.seek(begin)
        own = [line for line in lines if line.startswith("ut: ")]
    return f" ({own[-1][len('ut: '):].strip()})" if own else ""


def blames(said, given):
    """Whether ut's last words name one of the options given for all runs alike."""
    names = [word.partition("=")[0] for word in given if word.startswith("--")]
    return any(said.startswith((f" ({name}:", f" ({name} ")) for name in names)


def launcher():
    given = os.environ.get("LAUNCH", "")
    try:
        return shlex.split(given)
    except ValueError as error:
        raise no_program("LAUNCH", given, error)


def wrong_in(result):
    """What in a result is not as this program writes it; empty if nothing."""
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
        """The run's data. If its files need other names, it is a copy: the data set stays as it was fetched."""
        return self.directory / "data" if self.copies else self.options.data / self.data

    def copy_data(self):
        for name, file in self.copies.items():
            self.own_data().mkdir(exist_ok=True)
            copy = self.own_data() / name
            copy.unlink(missing_ok=True)
            shutil.copyfile(self.options.data / self.data / file, copy)  # without its mode: it may be read-only

    def shipped_options(self):
        settings = self.table["home"] / self.options.size / f"{self.settings}.conf"
        return ["--config", str(settings), *self.described["train"], *self.described.get(self.options.size, [])]

    def train_options(self):
        data = [] if self.data is None else ["--data", str(self.own_data())]
        return [*self.shipped_options(), "--seed", str(self.seed), *data, *self.options.more,
                "--run-dir", str(self.directory)]

    def asked(self):
        """The evaluations by name, each with its options of `ut evaluate`."""
        return self.described.get("evaluate", {"test": ["--split", "test"]})

    def trained_settings(self, usual):
        """The run's settings, by name, from its own record: it may have been begun with other settings than those now,
        and with some that nothing sets now."""
        record = config_lines(self.directory / "options.conf")
        now, usual = settings_of(self.train_options()), not_given(record, usual)
        return {name: value for name, value in record.items() if name not in NO_SETTINGS
                and (name in now or in_number(value) != in_number(usual.get(name, "")))}

    def other_settings(self, evaluation):
        """How the settings that its evaluation was made with differ from those shipped now, if they are known."""
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
        usual = defaults(self.options.ut)  # before anything else is done: fails if there is no `ut`
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
        """Does not ask the pointer `latest`, which is written after the first checkpoint: a kill may come between."""
        return any(path.is_dir() and path.suffix != ".tmp" for path in self.directory.glob("checkpoints/update-*"))

    def prepare(self):
        """Makes the file that the data lacks, by a command of `ut data`. One job of an array makes it for all."""
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
            raise Trouble(f"{self}: {beside}: {error.strerror}; first run this where it can be written: "
                          f"ut {shlex.join(by)}")
        with locked:
            if not makes.exists():
                self.ut(*by, launch=False)

    def evaluate(self, name, given):
        """Returns None if the data has no such split and need not have it."""
        try:
            said = self.ut("evaluate", "--run-dir", str(self.directory), "--json", *given,
                           *start_of(self.options.more))
        except Trouble as trouble:
            if name in self.described.get("optional", []) and "this data has none" in str(trouble):
                return None
            raise
        return json.loads(said.strip().splitlines()[-1])

    def ut(self, *arguments, launch=True):
        stopped = Trouble(f"{self}: stopped; give the same command again to go on", STOPPED)
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
        if Stop.asked or code == STOPPED or {-code, code - 128} & set(Stop.signals):  # srun adds 128
            raise stopped
        said = last_words(log.name, begin)
        kind = Unusable if code == BAD_INPUT and blames(said, self.options.more) else Trouble
        raise kind(f"{self}: ut {arguments[0]} ended with {code}{said}, see {log.name}",
                   code if code > 0 else 128 - code)

    def told(self):
        """What the run has recorded: validation, updates and hours to its end, FLOPs, parameters and mesh."""
        updates, hours, sizes = 0, 0, {}
        with open(self.directory / "metrics.jsonl") as lines:  # may be long
            for line in map(json.loads, lines):
                updates, hours = max(updates, line["update"]), max(hours, line.get("hours", 0))
                if "flops_per_update" in line:
                    sizes = sizes or line
        log = (self.directory / "reproduce.log").read_text(errors="replace")
        model = re.findall(r"([\d ]+) parameters.*?(\d+) ranks? \(data-parallel (\d+), sequence-parallel (\d+)\)", log)
        checkpoints = self.directory / "checkpoints"
        newest = checkpoints / (checkpoints / "latest").read_text().strip()
        state = json.loads((newest / "state.json").read_text())  # metrics.jsonl may have scores of other examples, too
        told = {"validation": state.get("best_score"),
                "validation_loss": state.get("best_loss"),  # None also if it is not finite
                "updates": updates,
                "hours": hours,
                "flops_per_update": sizes.get("flops_per_update", []),  # least and most: positions may halt
                "flops_per_step": sizes.get("flops_per_step", {})}
        if model:
            parameters, ranks, data, sequence = (int(number) for number in model[-1])
            told |= {"parameters": parameters, "ranks": ranks, "mesh": f"{data} × {sequence}"}
        return told


def trained(tables):
    """The tables that have the runs which these tables show, each once."""
    return {table["of"]["name"]: table["of"] for table in tables}.values()


def refuse_unknown(tables, options):
    """Refuses rows and runs that were asked for and are in none of the tables."""
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
