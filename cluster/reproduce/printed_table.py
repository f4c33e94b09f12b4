"""A table as text: the paper's numbers beside ours, and notes on how ours were made."""

import math
import statistics

from training import runs_of

FAILED = 5  # error in % above which a task of bAbI counts as failed


def merit(result):
    """A key, greater for the better result by validation, as in `ut train`: of equal scores, the one of lower loss;
    of LAMBADA's language models, the one of lower loss whatever the score."""
    by_loss = result.get("settings", {}).get("train", {}).get("lambada-form") == "language-model"
    loss = result.get("validation_loss")
    return 0 if by_loss else result["validation"] or 0, -math.inf if loss is None else -loss


def best_first(runs):
    """The results of a run's seeds, the best by validation first."""
    results = [result for result in (run.result() for run in runs) if result is not None]
    return sorted(results, key=merit, reverse=True)


class Spread(list):
    """A number for several seeds, which is formatted as their mean ± standard deviation."""

    def __format__(self, how):
        return f"{statistics.mean(self):{how}} ± {statistics.stdev(self):{how}}"


def flat(values, before=""):
    """The items of {"a": {"b": 1}} as those of {"a/b": 1}, with the error beside each accuracy."""
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
    """A cell's text. `seeds`: their evaluations, the best first."""
    numbers = [dict(flat(evaluation)) for evaluation in seeds]
    best = how.format_map(numbers[0])
    if len(seeds) == 1:
        return best
    spread = {name: Spread(seed[name] for seed in numbers) for name in set(numbers[0]).intersection(*numbers)}
    of = f", {learned(spread['error'])}" if "{error" in how else f" of {len(seeds)}"
    return f"{best}; {how.format_map(spread)}{of}"


def shown_errors(tasks):
    """A cell's text for several tasks. `tasks`: for each, its seeds' evaluations, the best first."""
    errors = [[error(evaluation) for evaluation in seeds] for seeds in tasks]
    best = [seeds[0] for seeds in errors]
    text = f"{statistics.mean(best):.2f} ({sum(one > FAILED for one in best)}/{len(best)})"
    if any(len(seeds) == 1 for seeds in errors):  # a spread over part of the tasks would say nothing of all
        return text
    deviations = [statistics.stdev(seeds) for seeds in errors]
    every = [one for seeds in errors for one in seeds]
    means = statistics.mean(statistics.mean(seeds) for seeds in errors)
    return f"{text}; {means:.2f} ± {statistics.mean(deviations):.2f}, {learned(every)}"


def learned(errors):
    return f"{sum(one <= FAILED for one in errors)} of {len(errors)} learned"


def tasks_of(evaluation, given):
    """The evaluations of the tasks that a cell shows. A joint run's evaluation has a group for each task."""
    groups = evaluation.get("groups", {}) if evaluation else {}
    if "group" in given:
        return [groups[given["group"]]] if given["group"] in groups else []
    if groups and "combine" in given:
        return list(groups.values())
    return [evaluation] if evaluation else []  # the data may have no such split


def other_settings(runs, given):
    """The settings of a cell's results that differ from those shipped now, each once, with the shipped ones."""
    evaluation = given.get("evaluation", "test")
    every = (change for run in runs if run.concerns(given) for change in run.other_settings(evaluation))
    return list(dict.fromkeys(every))


def made_by_name(runs, given):
    """A cell's results by the names of its runs: for each run those of its seeds, the best first."""
    by_name = {}
    for run in runs:
        if run.concerns(given):
            by_name.setdefault(run.name, []).append(run)
    return {name: results for name, seeds in by_name.items() if (results := best_first(seeds))}


def cell(runs, given):
    """A cell's text, with a * if its results were made with other settings than those shipped now."""
    if not any(run.concerns(given) for run in runs):  # the row has no such run, or none of this size
        return "not run" if given.get("run") in given.get("runs", []) else "–"
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
    """The columns that concern the runs, with their heads; beside ours the paper's, if it has any number."""
    yield ["", *(row["name"] for row in rows)]
    for place, column in enumerate(table["columns"]):
        if any(run.concerns(column) for run in runs):
            yield [column["name"], *(cell(runs, {**column, **row}) for row in rows)]
            paper = [(row["paper"][place:] or [None])[0] for row in rows]
            if any(number is not None for number in paper):
                yield ["paper", *("–" if number is None else str(number) for number in paper)]


def errors_in_common(table, rows, runs):
    """A line for each row that has made other runs of a column than the row with most runs. It compares the two in the
    runs that both have."""
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


def is_of_other_size(row, options):
    """Whether the papers have numbers for a row whose runs, named in it, are made in another size alone."""
    is_asked_for = not options.row and set(row.get("runs", [])) & set(options.run or row.get("runs", []))
    return any(number is not None for number in row["paper"]) and is_asked_for


def print_table(table, options):
    runs = runs_of([table], options)
    rows = [row for row in table["rows"] if is_of_other_size(row, options) or any(run.concerns(row) for run in runs)]
    if not runs or not rows:
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
    if table["of"] is not table:
        print(f"\nThe runs are those of {table['of']['name']}, whose notes tell how they came about.")
        return
    for row in rows:
        made = [run for run in runs if run.concerns(row) and run.result() is not None]
        if made:
            print(f"\n{note(row, made)}")


def note(row, made):
    """A line on how the results of a row were made."""
    results = [run.result() for run in made]
    seeds = sorted({run.seed for run in made})
    parameters = sorted({result["parameters"] for result in results if "parameters" in result})
    flops = sorted(number for result in results for number in flops_of(result))
    minutes = sorted(60 * result["hours"] for result in results)
    meshes = sorted({result["mesh"] for result in results if "mesh" in result})
    parts = [f"{len(made)} run{'s' if len(made) > 1 else ''}", f"seed{'s' if len(seeds) > 1 else ''} {span(seeds)}"]
    transitions = {trained_with(result).get("transition", "feed-forward") for result in results}
    if parameters:
        parts.append(f"{span(parameters)} parameters")
    if transitions != {"feed-forward"}:
        parts.append(f"transition {' and '.join(sorted(transitions))}")
    if flops:
        parts.append(f"{in_flop(flops)} an update")
    took = "under a minute" if minutes[-1] < 1 else f"{span([f'{max(one, 1):.0f}' for one in minutes])} minutes"
    parts.append(f"{took}{' each' if len(made) > 1 else ''}")
    if meshes:
        parts.append(f"mesh {', '.join(meshes)}")
    return f"{row['name']}: {', '.join(parts)}."


def trained_with(result):
    """The settings that differ from the program's defaults; the oldest results have none recorded."""
    return result.get("settings", {}).get("train", {})


def flops_of(result):
    """The FLOPs of an update: if halted positions leave (act-copy), with as many steps as positions took on average;
    else the bounds."""
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
