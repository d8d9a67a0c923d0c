#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dashboard.py [--output DIRECTORY] [--note TEXT] RESULT.json...

Makes one static page from any number of results: DIRECTORY/index.html (default: bench-results/site)
with everything inside, and DIRECTORY/raw/ with the files themselves.  It works from file://, asks the
network for nothing and needs the Python standard library alone."""
import argparse
import base64
import hashlib
import html
import json
import os
import re
import shutil
import sys

from results import load_history
from stats import change_points, median

HERE = os.path.dirname(os.path.abspath(__file__))
FEWEST = 8  # runs that a change can be seen in: four on each side
SMALLEST = 0.01  # a step below 1 % is not worth a mark

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,">
<title>librope benchmarks</title>
<style>{style}</style>
</head>
<body>
<header><h1>librope benchmarks</h1><p id="summary"></p>{note}</header>
<noscript><p>The charts are drawn by a script inside this page; the numbers are in raw/.</p></noscript>
<main></main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def significant(value):
    """Six digits are more than any of these numbers has."""
    return float(f"{value:.6g}")


def cell(row):
    """[median, quartiles, limit in the row's unit or null, time over limit or null]"""
    low, middle, high = row.quartiles()
    numbers = [middle, low, high,
               median(row.roof_gbps) if row.roof_gbps and row.unit == "GB/s" else None,
               median(row.roof_ratio) if row.roof_ratio else None]
    return [None if value is None else significant(value) for value in numbers]


def find_changes(points):
    """Change points of one cell.  `points` is [(run, cell)], oldest first.

    Throughput decides where.  It is the machine that changed (kind "limit", neither faster nor slower)
    where the limit measured in the same runs made at least half of the step itself, or where the time
    over the limit, measured in turn with it, did not follow by half of it.
    """
    if len(points) < FEWEST:
        return []
    places = change_points([values[0] for _, values in points])
    found = []
    edges = [0] + places + [len(points)]
    for before, place, after in zip(edges, places, edges[2:]):
        old, new = points[before:place], points[place:after]

        def step(index):
            sides = [[c[index] for _, c in side if c[index] is not None] for side in (old, new)]
            return median(sides[1]) / median(sides[0]) if all(sides) else None

        change, limit, ratio = step(0), step(3), step(4)
        if abs(change - 1) < SMALLEST:
            continue
        kind = "faster" if change > 1 else "slower"
        half = abs(change - 1) / 2
        direction = 1 if change > 1 else -1
        if limit is not None and (limit - 1) * direction >= half:
            kind = "limit"
        if ratio is not None and (1 / ratio - 1) * direction < half:
            kind = "limit"
        found.append({"run": points[place][0], "kind": kind, "step": significant(change - 1),
                      "limit": None if limit is None else significant(limit - 1),
                      "ratio": None if ratio is None else significant(ratio - 1)})
    return found


def raw_name(number, file):
    """A name that is safe as a file and in a link, whatever the file was called."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", file.removesuffix(".json")).strip("-")[:80]
    return f"{number:04d}-{stem or 'result'}.json"


def in_order(name):
    """Results come in random order.  Here: apply first, f32 before the 16-bit types, numbers by value."""
    words = ["apply", "dtype:f32", "dtype:bf16", "dtype:f16"]
    return [(words.index(part) if part in words else len(words),
             [int(piece) if piece.isdecimal() and piece.isascii() else piece
              for piece in re.split(r"([0-9]+)", part)])
            for part in name.split("/")]


def collect(runs):
    """Everything that the page shows, as plain lists and dictionaries."""
    names, cells, described = {}, {}, []
    for number, run in enumerate(runs):
        described.append({"file": raw_name(number, run.file), "machine": run.machine,
                          "commit": run.commit, "date": run.date, "context": run.context,
                          "refused": len(run.refused)})
        for row in run.rows.values():
            name = names.setdefault(row.name, {"keys": row.keys, "unit": row.unit})
            if name["unit"] == row.unit:  # another unit would be another history
                cells.setdefault((run.machine, row.name), []).append((number, cell(row)))
    cells = dict(sorted(cells.items(), key=lambda item: in_order(item[0][1])))
    changes = [{"machine": machine, "name": name, **change}
               for (machine, name), points in cells.items() for change in find_changes(points)]
    changes.sort(key=lambda change: (-change["run"], -abs(change["step"]), change["name"]))
    return {
        "runs": described,
        "names": names,
        "cells": [{"machine": machine, "name": name, "points": [[run] + values for run, values in points]}
                  for (machine, name), points in cells.items()],
        "changes": changes,
    }


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def hashed(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "'sha256-" + base64.b64encode(digest).decode() + "'"


def page(data, note):
    """The page.  Only its own script and style may run in it: what comes from a file stays text."""
    style, script = read("dashboard.css"), read("dashboard.js")
    policy = (f"default-src 'none'; img-src data:; style-src {hashed(style)}; "
              f"script-src {hashed(script)}; base-uri 'none'; form-action 'none'")
    # Inside a script element only "<" can end it or change how it is read.
    embedded = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    embedded = embedded.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    note = f'<p class="note">{html.escape(note)}</p>' if note else ""
    return PAGE.format(policy=policy, style=style, script=script, data=embedded, note=note)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default="bench-results/site")
    parser.add_argument("--note", default="", help="a line at the top of the page")
    parser.add_argument("results", nargs="+")
    options = parser.parse_args(arguments)
    runs, messages = load_history(options.results)
    for message in messages:
        print("not used: " + message, file=sys.stderr)
    if not runs:
        return 2
    data = collect(runs)
    raw = os.path.join(options.output, "raw")
    os.makedirs(raw, exist_ok=True)
    for run, described in zip(runs, data["runs"]):
        shutil.copyfile(run.path, os.path.join(raw, described["file"]))
    index = os.path.join(options.output, "index.html")
    with open(index, "w", encoding="utf-8") as file:
        file.write(page(data, options.note))
    print(f"{index}: {len(runs)} runs, {len(data['names'])} benchmarks, "
          f"{len(data['changes'])} changes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
