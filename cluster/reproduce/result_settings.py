"""Settings of results: what options and settings files set, and how that differs from what is set now."""

import functools
import pathlib
import re
import subprocess

from stop import Stop
from trouble import no_program

# Options that say where and how a run is made. They do not change its result, so they are not settings of a result.
NO_SETTINGS = set("""data run-dir seed config resume checkpoint quiet log-every ranks sequence-parallel exchange
exchange-sends shards threads hostfile timeout device communicator share-gpus balance recompute check-ranks
evaluation-batch stop-signals sentencepiece""".split())
# Of these, the options that an evaluation takes over from the training before it.
START = "ranks sequence-parallel threads hostfile timeout device communicator share-gpus".split()
# Options that also set others, unless their source gives these, too. In place of `dropout`, a run records these rates.
DROPOUT = "residual-dropout", "attention-dropout", "transition-dropout", "input-dropout"
FOLLOWED = {"decoder-steps": "steps", "decoder-halting": "halting", "precision": "dtype",
            **dict.fromkeys(DROPOUT, "dropout")}
CHOICES = {("variant", "tensor2tensor"): {"norm": "pre", "residual": "signal-in", "signal": "halves",
                                          "step-signal": "learned", "act-output": "interpolated"},
           ("schedule", "inverse-square-root"): {"learning-rate": "2", "warmup": "8000"}}


def config_lines(path):
    """The options in a file of lines `name = value`, by name."""
    lines = (line.split("#")[0].partition("=") for line in path.read_text().splitlines())
    return {name.strip(): value.strip() for name, equals, value in lines if equals}


def told_in(words):
    """What the words of a command line of `ut` set, by name; words take precedence over the files of --config."""
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
    """The settings of a result that the words set, by name."""
    return {name: value for name, value in told_in(words).items() if name not in NO_SETTINGS}


def start_of(words):
    """The options among the words that say how ranks are started, as words again."""
    told = {name: value for name, value in told_in(words).items() if name in START and value != "false"}
    return [f"--{name}" if value in ("", "true") else f"--{name}={value}" for name, value in told.items()]


def rates_told(settings):
    """The settings of one source, with `dropout` replaced by the rates that it sets."""
    rates = dict.fromkeys(DROPOUT, settings["dropout"]) if "dropout" in settings else {}
    return {**rates, **{name: value for name, value in settings.items() if name != "dropout"}}


@functools.cache
def defaults(ut):
    """The defaults of `ut train`, by option, as its help prints them."""
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
    """The values of options that nobody gives: the usual ones, or those that other options of a run's record set."""
    for choice, others in CHOICES.items():
        if choice in record.items():
            usual = {**usual, **others}
    return {**usual, **{name: record.get(first, usual.get(first)) for name, first in FOLLOWED.items()}}


def changes(made, now):
    """How the settings that something was made with differ from those shipped now, which are in parentheses."""
    made = rates_told(made)
    both = {name: (made.get(name, "default"), now.get(name, "default")) for name in {**made, **now}}
    changed = {name: values for name, values in both.items() if in_number(values[0]) != in_number(values[1])}
    if len({changed.get(rate) for rate in DROPOUT}) == 1:  # all rates alike
        changed = {name.replace(DROPOUT[0], "dropout"): changed[name] for name in changed if name not in DROPOUT[1:]}
    return [f"{name} {then} ({shipped})" for name, (then, shipped) in changed.items()]


def in_number(text):
    """1e-8 and 1e-08 are the same."""
    try:
        return float(text)
    except ValueError:
        return text
