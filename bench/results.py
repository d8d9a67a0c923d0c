# SPDX-License-Identifier: Apache-2.0
"""Reads the raw JSON of Google Benchmark.  What it gives is clean: finite numbers and text; what it
cannot use it names in `Run.refused`.  Nothing in a file is trusted to be of our making."""
import datetime
import json
import math
import os

from stats import median, quantile

NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
CONTEXT = ("rope_version", "rope_commit", "rope_isa", "rope_sleef", "rope_compiler", "cpu_model",
           "governor", "l1d", "l2", "l3", "date", "host_name", "num_cpus")


class Unusable(Exception):
    """The file is no result of Google Benchmark."""


def number(value):
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    value = float(value)
    return value if math.isfinite(value) else None


class Row:
    """All repetitions of one benchmark."""

    def __init__(self, name):
        self.name = name
        self.nanoseconds = []
        self.bytes_per_second = []
        self.items_per_second = []
        self.roof_gbps = []
        self.roof_ratio = []
        self.iterations = []

    @property
    def keys(self):
        """The name taken apart: {"job": "apply", "isa": "avx2", ...}; other parts are left out."""
        parts = self.name.split("/")
        found = {"job": parts[0]}
        for part in parts[1:]:
            key, colon, value = part.partition(":")
            if colon and key not in found:
                found[key] = value
        return found

    @property
    def unit(self):
        return "GB/s" if self.bytes_per_second else "items/s" if self.items_per_second else "1/s"

    @property
    def throughput(self):
        """Per repetition, higher is better, in `unit`."""
        if self.bytes_per_second:
            return [value * 1e-9 for value in self.bytes_per_second]
        return self.items_per_second or [1e9 / value for value in self.nanoseconds]

    def quartiles(self):
        values = self.throughput
        return quantile(values, 0.25), median(values), quantile(values, 0.75)


class Run:
    """One file: context and rows by name."""

    def __init__(self, path):
        self.path = path
        self.refused = []
        self.rows = {}
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                document = json.load(file)
        except (OSError, ValueError, RecursionError) as error:
            raise Unusable(f"{path}: {error}") from error
        if not isinstance(document, dict) or not isinstance(document.get("benchmarks"), list):
            raise Unusable(f"{path}: no list 'benchmarks'")
        context = document.get("context")
        context = context if isinstance(context, dict) else {}
        self.context = {key: str(context[key]) for key in CONTEXT if key in context}
        for entry in document["benchmarks"]:
            self._read(entry)
        if not self.rows:
            raise Unusable(f"{path}: no usable benchmark")

    def _read(self, entry):
        if not isinstance(entry, dict) or entry.get("run_type") == "aggregate":
            return
        # Repetitions share run_name; name is the same unless Google Benchmark added to it.
        name = entry.get("run_name") or entry.get("name")
        if not isinstance(name, str) or not name:
            return
        time = number(entry.get("real_time"))
        scale = NANOSECONDS.get(entry.get("time_unit", "ns"))
        if entry.get("error_occurred") or time is None or time <= 0 or scale is None:
            self.refused.append(name)
            return
        row = self.rows.setdefault(name, Row(name))
        row.nanoseconds.append(time * scale)
        row.iterations.append(int(number(entry.get("iterations")) or 1))
        for key in ("bytes_per_second", "items_per_second", "roof_gbps", "roof_ratio"):
            value = number(entry.get(key))
            if value is not None and value > 0:
                getattr(row, key).append(value)

    @property
    def machine(self):
        """What may be compared: the CPU by name, its number of cores and its caches."""
        model = self.context.get("cpu_model") or self.context.get("host_name") or "unknown"
        details = [text.format(self.context[key])
                   for key, text in (("num_cpus", "{} CPUs"), ("l3", "L3 {}")) if key in self.context]
        return f"{model} ({', '.join(details)})" if details else model

    @property
    def commit(self):
        return self.context.get("rope_commit", "unknown")

    @property
    def date(self):
        return self.context.get("date", "")

    @property
    def instant(self):
        """For sorting: dates of several time zones, unreadable ones first."""
        try:
            date = datetime.datetime.fromisoformat(self.date)
        except ValueError:
            return float("-inf")
        if date.tzinfo is None:
            date = date.replace(tzinfo=datetime.timezone.utc)
        return date.timestamp()

    @property
    def file(self):
        return os.path.basename(self.path)


def load_history(paths):
    """(runs, oldest first; messages about files that are not used)"""
    runs, messages = [], []
    for path in paths:
        try:
            runs.append(Run(path))
        except Unusable as error:
            messages.append(str(error))
    runs.sort(key=lambda run: (run.instant, run.file))
    return runs, messages
