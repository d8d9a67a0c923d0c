#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py [--markdown] [--all] OLD.json NEW.json

Compares two runs on one machine, benchmark by benchmark: ratio of the median times, Mann-Whitney U.
A benchmark is slower if its time rose by more than 3 % with p < 0.01 and the limit measured beside it
does not share that: its ratio to the limit must have got worse by more than 3 % with p < 0.01 as well.
Where only the time rose, the machine changed, not the library.

Exit status: 0 no slowdown, 1 a slowdown, 2 the files cannot be compared."""
import argparse
import sys

from results import Run, Unusable
from stats import mann_whitney, median

SMALLEST = 0.03
SIGNIFICANT = 0.01


class Comparison:
    """One benchmark in both runs; ratios are new / old, above 1 is slower."""

    def __init__(self, old, new):
        self.name = new.name
        self.old, self.new = median(old.nanoseconds), median(new.nanoseconds)
        self.ratio = self.new / self.old
        self.u, self.p = mann_whitney(old.nanoseconds, new.nanoseconds)
        self.limit_ratio = None
        if old.roof_ratio and new.roof_ratio:
            self.limit_ratio = median(new.roof_ratio) / median(old.roof_ratio)
            _, self.limit_p = mann_whitney(old.roof_ratio, new.roof_ratio)
        self.verdict = self._verdict()

    def _verdict(self):
        if self.p >= SIGNIFICANT or abs(self.ratio - 1) <= SMALLEST:
            return "same"
        if self.limit_ratio is not None:
            # In the direction of the time, both must agree.
            slower = self.limit_ratio > 1 + SMALLEST and self.ratio > 1
            faster = self.limit_ratio < 1 - SMALLEST and self.ratio < 1
            if self.limit_p >= SIGNIFICANT or not (slower or faster):
                return "limit"
        return "slower" if self.ratio > 1 else "faster"


def compare(old, new):
    """(comparisons of the names that both have, names only in old, names only in new)"""
    both = [name for name in old.rows if name in new.rows]
    return (
        [Comparison(old.rows[name], new.rows[name]) for name in both],
        [name for name in old.rows if name not in new.rows],
        [name for name in new.rows if name not in old.rows],
    )


MEANING = {
    "slower": "slower",
    "faster": "faster",
    "limit": "the machine's limit moved too",
    "same": "no difference",
}


def printable(text):
    """Control characters would move a terminal's cursor or break a table."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def markdown(text):
    """As code in a table cell: nothing inside is markup, HTML or a mention."""
    return "`" + printable(text).replace("`", "'").replace("|", "\\|") + "`"


def fields(one):
    limit = "-" if one.limit_ratio is None else f"{one.limit_ratio:.3f}"
    return (f"{one.old:.4g}", f"{one.new:.4g}", f"{one.ratio:.3f}", f"{one.u:g}", f"{one.p:.2g}",
            limit)


def report(comparisons, gone, added, as_markdown, everything):
    shown = [one for one in comparisons if everything or one.verdict != "same"]
    order = ["slower", "faster", "limit", "same"]
    shown.sort(key=lambda one: (order.index(one.verdict), -abs(one.ratio - 1)))
    counts = [f"{sum(c.verdict == v for c in comparisons)} {MEANING[v]}" for v in order]
    lines = []
    if as_markdown:
        lines += ["**" + ", ".join(counts) + f"** of {len(comparisons)} benchmarks", ""]
        if shown:
            lines += ["| benchmark | old ns | new ns | new / old | U | p | to the limit, new / old | |",
                      "|---|--:|--:|--:|--:|--:|--:|---|"]
        lines += [f"| {markdown(c.name)} | " + " | ".join(fields(c)) + f" | {MEANING[c.verdict]} |"
                  for c in shown]
        lines += [f"\nOnly in the {age} run: {markdown(name)}"
                  for age, names in (("old", gone), ("new", added)) for name in names]
    else:
        lines += [f"{MEANING[c.verdict]}: {printable(c.name)}: {' -> '.join(fields(c)[:2])} ns, "
                  f"x {fields(c)[2]}, U {fields(c)[3]}, p {fields(c)[4]}, to the limit x {fields(c)[5]}"
                  for c in shown]
        lines += [f"only in the {age} run: {printable(name)}"
                  for age, names in (("old", gone), ("new", added)) for name in names]
        lines.append(", ".join(counts) + f" of {len(comparisons)} benchmarks")
    return "\n".join(lines)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--markdown", action="store_true", help="for a comment on a change")
    parser.add_argument("--all", action="store_true", help="also what did not change")
    options = parser.parse_args(arguments)
    try:
        old, new = Run(options.old), Run(options.new)
    except Unusable as error:
        print(error, file=sys.stderr)
        return 2
    comparisons, gone, added = compare(old, new)
    if not comparisons:
        print("the two files have no benchmark in common", file=sys.stderr)
        return 2
    if old.machine != new.machine:
        print(f"warning: {printable(old.machine)} is compared with {printable(new.machine)}",
              file=sys.stderr)
    print(report(comparisons, gone, added, options.markdown, options.all))
    return int(any(one.verdict == "slower" for one in comparisons))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
