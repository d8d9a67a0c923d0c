#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""convert.py --to TOOL RESULT.json

Writes what another dashboard reads to standard output:

  github     github-action-benchmark, tool: customBiggerIsBetter
  bencher    Bencher Metric Format (--adapter json)
  lnt        LNT, report of format 2 (lnt submit)
  benchstat  the text of Go benchmarks (benchstat OLD NEW)
  conbench   Conbench reads the raw file; this checks it and copies it unchanged"""
import argparse
import datetime
import json
import re
import sys

from results import Run, Unusable
from stats import median


def plain(name):
    """Names become keys and columns elsewhere: visible characters only."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)


def to_github(run, _):
    rows = []
    for row in run.rows.values():
        low, middle, high = row.quartiles()
        extra = [f"commit: {run.commit}", f"repetitions: {len(row.nanoseconds)}"]
        if row.roof_ratio:
            extra.append(f"time over limit: {median(row.roof_ratio):.4g}")
        rows.append({"name": plain(row.name), "unit": row.unit, "value": middle,
                     "range": f"± {(high - low) / 2:.4g}", "extra": "\n".join(extra)})
    return json.dumps(rows, indent=1)


def to_bencher(run, _):
    rows = {}
    for row in run.rows.values():
        low, middle, high = row.quartiles()
        measures = {
            "throughput": {"value": middle, "lower_value": low, "upper_value": high},
            "latency": {"value": median(row.nanoseconds), "lower_value": min(row.nanoseconds),
                        "upper_value": max(row.nanoseconds)},
        }
        if row.roof_ratio:
            measures["limit-ratio"] = {"value": median(row.roof_ratio),
                                       "lower_value": min(row.roof_ratio),
                                       "upper_value": max(row.roof_ratio)}
        rows[plain(row.name)] = measures
    return json.dumps(rows, indent=1)


def lnt_time(date):
    """LNT wants times without a zone."""
    try:
        parsed = datetime.datetime.fromisoformat(date)
    except ValueError:
        return "1970-01-01T00:00:00"
    if parsed.tzinfo is not None:
        parsed = parsed.astimezone(datetime.timezone.utc)
    return parsed.strftime("%Y-%m-%dT%H:%M:%S")


def to_lnt(run, options):
    time = lnt_time(run.date)
    return json.dumps({
        "format_version": "2",
        "machine": {"name": re.sub(r"[^A-Za-z0-9_.-]+", "-", run.machine).strip("-")},
        "run": {"start_time": time, "end_time": time,
                options.lnt_order_field: options.lnt_order or run.commit},
        "tests": [{"name": plain(row.name),
                   "execution_time": [value * 1e-9 for value in row.nanoseconds],
                   "score": row.throughput}
                  for row in run.rows.values()],
    }, indent=1)


def benchstat_name(row):
    """BenchmarkApply/isa=avx2/...: keys are k=v there, and white space ends a name."""
    parts = re.sub(r"\s", "_", plain(row.name)).split("/")
    first = "".join(word.capitalize() for word in re.split(r"[^A-Za-z0-9]+", parts[0]))
    return "/".join(["Benchmark" + (first or "Unnamed")] + [p.replace(":", "=", 1) for p in parts[1:]])


def to_benchstat(run, _):
    lines = ["pkg: rope", "cpu: " + plain(run.context.get("cpu_model", "unknown")),
             "commit: " + plain(run.commit), ""]
    for row in run.rows.values():
        name = benchstat_name(row)
        with_bytes = len(row.bytes_per_second) == len(row.nanoseconds)
        for i, time in enumerate(row.nanoseconds):
            line = f"{name} {row.iterations[i]} {time:.6g} ns/op"
            if with_bytes:
                line += f" {row.bytes_per_second[i]:.6g} B/s"
            lines.append(line)
    return "\n".join(lines)


def conbench_problems(document):
    """What Conbench's reader of Google Benchmark needs and a document lacks."""
    problems = []
    for entry in document["benchmarks"]:
        if entry.get("run_type") == "aggregate":
            continue
        for key in ("name", "run_name", "run_type", "repetition_index", "real_time", "cpu_time",
                    "time_unit"):
            if key not in entry:
                problems.append(f"{entry.get('name')}: no {key}")
        if not any(key in entry for key in ("bytes_per_second", "items_per_second")):
            problems.append(f"{entry.get('name')}: neither bytes_per_second nor items_per_second")
    return problems


def to_conbench(run, _):
    with open(run.path, encoding="utf-8", newline="") as file:
        raw = file.read()
    problems = conbench_problems(json.loads(raw))
    if problems:
        raise Unusable("; ".join(problems[:5]))
    return raw


WRITERS = {"github": to_github, "bencher": to_bencher, "lnt": to_lnt, "benchstat": to_benchstat,
           "conbench": to_conbench}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", required=True, choices=sorted(WRITERS))
    parser.add_argument("--lnt-order-field", default="llvm_project_revision",
                        help="the field that orders runs in the schema of the LNT server")
    parser.add_argument("--lnt-order", help="its value (default: the commit)")
    parser.add_argument("result")
    options = parser.parse_args(arguments)
    try:
        text = WRITERS[options.to](Run(options.result), options)
    except Unusable as error:
        print(error, file=sys.stderr)
        return 2
    sys.stdout.write(text if options.to == "conbench" else text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
