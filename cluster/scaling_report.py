#!/usr/bin/env python3
"""Writes scaling.csv and scaling.md from the results of cluster/scaling.sh. Standard library alone.

usage: scaling_report.py DIR
"""

import csv
import json
import pathlib
import statistics
import sys

COLUMNS = [
    ("kind", "scaling"), ("size", "model"), ("ranks", "ranks"), ("sequence_parallel", "sequence-parallel"),
    ("exchange", "exchange"), ("batch", "batch"), ("length", "length"), ("update_s", "time/update (s)"),
    ("lower_s", "quartile"), ("upper_s", "quartile"),
    ("rows_per_s", "rows/s"), ("efficiency", "efficiency"), ("exposed_exchange_s", "exposed exchange (s)"),
    ("exchange_bytes", "exchanged bytes"), ("gradient_bytes", "gradients' bytes"), ("peak_bytes", "peak memory"),
    ("runs", "runs"), ("curve", "curve"),
]


def read_results(directory):
    paths = sorted((directory / "results").glob("*.json"))
    if not paths:
        refuse(f"{directory}/results: no results; cluster/scaling.sh --out {directory} makes them")
    return [read_result(path) for path in paths]


def read_result(path):
    try:
        result = json.loads(path.read_text())
        setting_of(result)
        return result
    except (ValueError, KeyError, TypeError):
        refuse(f"{path}: not a result of cluster/scaling.sh; remove it, and cluster/scaling.sh makes it again")


def refuse(what):
    print(f"scaling_report.py: {what}", file=sys.stderr)
    sys.exit(2)


def quartiles(values):
    """Lower quartile, median, upper quartile."""
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return lower, median, upper


def median_of(runs, value):
    known = [found for found in map(value, runs) if found is not None]
    return statistics.median(known) if known else None


def row_of(setting, runs):
    """The medians over several runs of a setting. The quartiles of a single run are those of its updates."""
    benches = [run["bench"] for run in runs]
    times = [bench["median_step_s"] for bench in benches]
    if len(times) > 1:
        lower, median, upper = quartiles(times)
    else:
        median = times[0]
        lower, upper = benches[0].get("quartiles_step_s", [median, median])
    sent = [bench["sent_bytes_per_update"] for bench in benches]
    return dict(
        setting, update_s=median, lower_s=lower, upper_s=upper,
        rows_per_s=statistics.median(bench["rows_per_s"] for bench in benches),
        exposed_exchange_s=median_of(benches, lambda bench: bench.get("exposed_exchange_s")),
        exchange_bytes=sent[0]["exchange"], gradient_bytes=sent[0]["gradients"],
        peak_bytes=max(bench["peak_bytes"] for bench in benches), runs=len(runs))


def setting_of(result):
    """The values that runs of the same setting have in common."""
    options = result["bench"]["options"]
    return {**{name: result[name] for name in ("kind", "size", "ranks", "sequence_parallel", "exchange")},
            **{name: options[name] for name in ("batch", "length", "iterations")}, "more": result.get("more", "")}


def make_rows(results):
    groups = {}
    for result in results:
        groups.setdefault(tuple(setting_of(result).items()), []).append(result)
    rows = [row_of(dict(setting), runs) for setting, runs in groups.items()]
    for row in rows:
        row["curve"] = curve_of(row, rows)
    rows.sort(key=lambda row: (row["kind"], row["size"], row["exchange"], row["curve"], row["ranks"]))
    for row in rows:
        row["efficiency"] = efficiency(row, rows)
    return rows


def sequences(row):
    """The batch, as number and length of sequences; what grows with the ranks is given per rank."""
    batch = row["batch"] // (row["ranks"] if row["kind"] == "weak-data" else 1)
    return f"{batch} × {row['length'] // (row['ranks'] if row['kind'] == 'weak-sequence' else 1)}"


def curve_of(row, rows):
    """The name of the curve that the row belongs to: kind, model, exchange, and what differs between rows that share
    these."""
    alike = [other for other in rows if all(other[name] == row[name] for name in ("kind", "size", "exchange"))]
    parts = [f"{row['kind']} {row['size']}" + (f" {row['exchange']}" if row["exchange"] != "none" else "")]
    for detail in (sequences, lambda row: row["more"], lambda row: f"--iterations {row['iterations']}"):
        if len({detail(other) for other in alike}) > 1:
            parts.append(detail(row))
    return ", ".join(parts)


def efficiency(row, rows):
    """Work per second and rank, relative to the fewest ranks of the same curve. None where sequences grow: a row then
    attends to more, so rows do not measure work."""
    if row["kind"] == "weak-sequence":
        return None
    first = min((other for other in rows if other["curve"] == row["curve"]), key=lambda other: other["ranks"])
    return row["rows_per_s"] / row["ranks"] * first["ranks"] / first["rows_per_s"]


def shown(name, value):
    if value is None:
        return "—"
    if name.endswith("bytes"):
        return f"{value / 1e6:.4g} MB"
    if name == "efficiency":
        return f"{value:.3f}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write_csv(rows, path):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([name for name, _ in COLUMNS])
        for row in rows:
            writer.writerow(["" if row[name] is None else row[name] for name, _ in COLUMNS])


def write_markdown(rows, path):
    lines = ["| " + " | ".join(title for _, title in COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(shown(name, row[name]) for name, _ in COLUMNS) + " |" for row in rows]
    path.write_text("\n".join(lines) + "\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    directory = pathlib.Path(sys.argv[1])
    rows = make_rows(read_results(directory))
    write_csv(rows, directory / "scaling.csv")
    write_markdown(rows, directory / "scaling.md")
    print((directory / "scaling.md").read_text(), end="")


if __name__ == "__main__":
    main()
