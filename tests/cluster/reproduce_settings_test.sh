#!/usr/bin/env bash
# The tables of cluster/reproduce as shipped: everything that columns and rows name exists, and `ut` accepts the options
# of every settings file, run and evaluation. Nothing is trained: `ut` is given a host file that does not exist, and
# checks all options before it looks for that file.
#   reproduce_settings_test.sh UT
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scratch.sh"

python3 - "$cluster" "$scratch" <<'PYTHON' || fail "not as it should be"
import concurrent.futures, os, pathlib, re, string, subprocess, sys

sys.dont_write_bytecode = True
cluster, scratch = (pathlib.Path(path) for path in sys.argv[1:])
sys.path.insert(0, str(cluster / "reproduce"))
import reproduce, result_settings, training
from tables import read_tables

wrong = []
said = "".join(path.read_text() for path in cluster.parent.glob("launcher/**/*.cpp"))
no_hosts = scratch / "no-hosts"


def options_of(size):
    return reproduce.parse(["--size", size, "--seeds", "1", "--out", str(scratch / "out")])


def check(holds, what):
    if not holds:
        wrong.append(what)


def check_shown(table, column):
    """That `ut evaluate` says what is shown; names of groups are the data's."""
    for _, key, *_ in string.Formatter().parse(column.get("show", "{accuracy}")):
        names = (key or "accuracy").replace("error", "accuracy").split("/")
        for name in names[:1] + names[2:] if names[0] == "groups" else names:
            check(f'"{name}"' in said, f"{table['name']}: {column['name']}: ut evaluate says nothing of {name}")


def check_table(table):
    runs = [run for size in ("small", "paper") for run in training.runs_of([table], options_of(size))]
    for part in [*table["columns"], *table["rows"]]:
        of_it = [run for run in runs if run.concerns(part)]
        check(of_it, f"{table['name']}: {part['name']}: no run has its run and settings")
        check(all(part.get("evaluation", "test") in run.asked() for run in of_it),
              f"{table['name']}: {part['name']}: not every run has its evaluation")
    for column in table["columns"]:
        check_shown(table, column)
    for row in table["rows"]:
        check(len(row["paper"]) <= len(table["columns"]), f"{table['name']}: {row['name']}: more numbers than columns")


def check_files(table):
    """A row of all runs has both sizes, another at least the paper's; and every file is a row's."""
    rows = {row["settings"]: row for row in table["rows"]}
    for name, row in rows.items():
        for size in ("paper",) if "runs" in row else ("paper", "small"):
            check((table["home"] / size / f"{name}.conf").exists(), f"{table['name']}: no {size}/{name}.conf")
    for path in table["home"].glob("*/*.conf"):
        check(path.stem in rows, f"{path}: no row has it")
        check_transformer(path)


def check_averages(run):
    """The checkpoints whose mean is evaluated are kept, and there early: --max-hours may end the run then."""
    settings = result_settings.settings_of(run.shipped_options())
    for given in run.asked().values():
        averaged = int(result_settings.settings_of(given).get("average", 0))
        check(averaged == 0 or (averaged <= int(settings["keep-checkpoints"]) and
                                5 * averaged * int(settings["checkpoint-every"]) <= int(settings["max-updates"])),
              f"{run}: of {averaged} checkpoints there is no mean in a fifth of its updates")


def check_transformer(path):
    """A Transformer's positions are in the residual stream: it has no later step to add them again."""
    settings = result_settings.config_lines(path)
    if int(settings.get("block-layers", 1)) > 1 and settings.get("steps") == "1":
        check(settings.get("residual") == "signal-in", f"{path}: positions reach the first layer's attention alone")


def chosen(runs):
    """So many that every settings file is among them, and every run but for its number."""
    seen = set()
    for at_least in (2, 1):  # first runs of which both are new
        for run in runs:
            new = {run.settings, re.sub(r"-\d+$", "-", run.name)} - seen
            if len(new) >= at_least:
                seen |= new
                yield run


def commands_of(table):
    """`ut`'s arguments: of training and, each once, of evaluations."""
    evaluations = {}
    for size in ("small", "paper"):
        for run in chosen(training.runs_of([table], options_of(size))):
            check_averages(run)
            yield ["train", *run.train_options()]
            evaluations |= {tuple(given): run for given in run.asked().values()}
    yield from (["evaluate", "--run-dir", str(recorded(run)), *given] for given, run in evaluations.items())


def recorded(run):
    """A directory that says it were the run's."""
    run.directory.mkdir(parents=True, exist_ok=True)
    settings = {**result_settings.settings_of(run.train_options()), "data": "none"}
    (run.directory / "options.conf").write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
    return run.directory


def check_command(arguments):
    made = subprocess.run([os.environ["UT"], *arguments, "--hostfile", str(no_hosts)], capture_output=True, text=True)
    check(made.returncode == 2 and made.stderr == f"ut: --hostfile {no_hosts}: no such file, needs a file with a "
          "line HOST slots=N for each host, or none for this machine\n",
          f"ut {' '.join(arguments)}: {made.returncode}, {made.stderr.strip()}")


def check_settings():
    """That options which set others are told by those that a run records."""
    settings = scratch / "settings.conf"
    settings.write_text("dropout = 0.1\nresidual-dropout = 0.3\nsteps = 2\n")
    rates = {name: "0.1" for name in result_settings.DROPOUT} | {"residual-dropout": "0.3"}
    configured = ["--config", str(settings)]
    check(result_settings.settings_of(configured) == rates | {"steps": "2"}, "an explicit rate does not win")
    given = result_settings.settings_of([*configured, "--dropout=0.2", "--input-dropout", "0"])
    check(given == dict.fromkeys(rates, "0.2") | {"input-dropout": "0", "steps": "2"}, "words do not win over files")
    check(result_settings.changes({"dropout": "0.10"}, given) == [
        "residual-dropout 0.10 (0.2)", "attention-dropout 0.10 (0.2)", "transition-dropout 0.10 (0.2)",
        "input-dropout 0.10 (0)", "steps default (2)"], "not how an older result's dropout differs")
    usual = result_settings.defaults(os.environ["UT"])
    record = {"steps": "9", "schedule": "inverse-square-root", "variant": "tensor2tensor", "dtype": "float64"}
    then = {"decoder-steps": "9", "warmup": "8000", "norm": "pre", "precision": "float64", "input-dropout": "0.1"}
    check(then.items() <= result_settings.not_given(record, usual).items(), "not what is set by others")
    check((usual["check-ranks"], usual["vocabulary-size"]) == ("1000", "60000"), "not the help's defaults")


tables = read_tables(reproduce.HERE, [])
check_settings()
for table in tables:
    check_table(table)
trained = training.trained(tables)
for table in trained:
    check_files(table)
commands = [arguments for table in trained for arguments in commands_of(table)]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    list(pool.map(check_command, commands))
for what in wrong:
    print(what, file=sys.stderr)
sys.exit(bool(wrong))
PYTHON
echo "reproduce_settings: as it should be"
