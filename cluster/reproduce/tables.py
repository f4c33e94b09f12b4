"""The tables, as their table.json describe them."""

import json

from trouble import Trouble


def read_tables(directory, names):
    known = {path.parent.name: path for path in sorted(directory.glob("*/table.json"))}
    for name in names:
        if name not in known:
            raise Trouble(f"{name}: no such table, there are {', '.join(known)}")
    return [read_table(known, name) for name in names or known]


def read_table(known, name):
    try:
        table = json.loads(known[name].read_text())
        table["name"], table["home"] = name, known[name].parent
        table["rows"] = list(numbered_rows(table["rows"]))
        table["runs"] = dict(numbered_runs(table.get("runs", {})))
        table["of"] = read_table(known, table["of"]) if "of" in table else table
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Trouble(f"{known[name]}: {error!r}; the description of a table is needed") from None
    return table


def each(of):
    """The numbers of the entries that a description stands for, as many as its "each" says; {} is a number's place."""
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
    """The rows. Those with "each" have the paper's numbers as a list for each column that has any."""
    for row in rows:
        for number in each(row):
            paper = [of[number - 1] if isinstance(of, list) else of for of in row.get("paper", [])]
            yield {**{name: numbered(words, number) for name, words in row.items()}, "paper": paper}
