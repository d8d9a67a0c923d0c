#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage.py [--lines] ROOT LIST < what `llvm-cov show -show-branches=count` prints

Counts the branches of src/ and kernels/ that were taken both ways; code that is compiled several times (for
each instruction set, into several programs) counts once, as taken if any copy was.  LIST names what no test
reaches, with the reason.  Fails below 95 %, and where a branch was missed whose file or code LIST does not name.
--lines prints every missed branch."""
import argparse
import collections
import fnmatch
import os
import re
import sys

LEAST = 95.0
BRANCH = re.compile(r"\|  Branch \((\d+):(\d+)\): \[(?:True: ([^,]+), False: ([^\]]+)|Folded.*)\]")


def read_branches(stream, root):
    """(path, line, column) -> [taken, not taken]; conditions that the compiler knows are left out."""
    path, found = None, {}
    for line in stream:
        if line.startswith("/") and line.rstrip().endswith(":"):
            path = os.path.relpath(line.rstrip()[:-1], root)
            continue
        match = BRANCH.search(line)
        if match is None or path is None or not path.startswith(("src/", "kernels/")):
            continue
        row, column, true, false = match.groups()
        if true is None:
            continue
        sides = found.setdefault((path, int(row), int(column)), [False, False])
        sides[0] |= true != "0"
        sides[1] |= false != "0"
    return found


def read_list(path):
    """[(file pattern, text, reason)]; text "" is any code."""
    entries = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            fields = [field.strip() for field in line.split("|")]
            if len(fields) < 3 or not fields[-1]:
                raise SystemExit(f"{path}:{number}: not FILE | CODE | REASON")
            entries.append((fields[0], "|".join(fields[1:-1]).strip(), fields[-1]))
    return entries


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", action="store_true", help="print every missed branch")
    parser.add_argument("root")
    parser.add_argument("list")
    options = parser.parse_args(arguments)
    branches = read_branches(sys.stdin, options.root)
    if len(branches) < 1000:
        raise SystemExit(f"only {len(branches)} conditions: this is no report of the library")
    entries = read_list(options.list)
    used, sources, unlisted = set(), {}, []
    missed, total = collections.Counter(), collections.Counter()
    for (path, row, column), sides in sorted(branches.items()):
        total[path] += 2
        missed[path] += 2 - sum(sides)
        if all(sides):
            continue
        if path not in sources:
            with open(os.path.join(options.root, path), encoding="utf-8") as file:
                sources[path] = file.read().splitlines()
        code = sources[path][row - 1].strip()
        never = " and ".join(name for name, side in zip(("true", "false"), sides) if not side)
        text = f"{path}:{row}:{column}: never {never}: {code}"
        if options.lines:
            print(text)
        match = [index for index, (pattern, part, _) in enumerate(entries)
                 if fnmatch.fnmatch(path, pattern) and part in code]
        used.update(match)
        if not match:
            unlisted.append(text)
    for path in sorted(total):
        if missed[path]:
            print(f"{missed[path]:4d} of {total[path]:4d}  {path}")
    everything, lost = sum(total.values()), sum(missed.values())
    percent = 100 * (everything - lost) / everything
    print(f"{everything - lost} of {everything} branches: {percent:.2f} %")
    for index, (pattern, part, reason) in enumerate(entries):
        if index not in used:
            print(f"no longer needed: {pattern} | {part} | {reason}")
    for text in unlisted:
        print(f"not in {os.path.basename(options.list)}: {text}")
    if percent < LEAST:
        print(f"less than {LEAST} %")
    return bool(unlisted) or percent < LEAST


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
