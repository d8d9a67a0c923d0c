#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""goals.py RESULT.json: the speed goals of the project beside what a run of the suite reached.

Ratios are times over the time of the limit measured in turn with them, unless a line says otherwise; two
jobs over the same bytes are compared by those ratios.  Medians; the worst of the rows that a line covers,
and which row that was.  What is set against plain
C stands in the table of peers/run.sh."""
import sys

from results import Run, Unusable
from stats import median

SHORT, LONG, DRAM = (16, 128), (512, 2048), (8192, 32768)


class Cells:
    """The rows of one set: cells(job, dtype, seq, ...) -> row or None."""

    def __init__(self, run, isa):
        self.rows = {}
        for row in run.rows.values():
            keys = row.keys
            if keys.pop("isa", None) == isa:
                self.rows[frozenset(keys.items())] = row

    def row(self, job, dtype, seq, pair="half", d=128, hq=32, hkv=8):
        keys = {"job": job, "dtype": dtype, "seq": str(seq), "d": str(d)}
        if job not in ("table", "row"):
            keys.update(pair=pair, hq=str(hq), hkv=str(hkv))
        return self.rows.get(frozenset(keys.items()))

    def limit(self, *arguments, **keys):
        row = self.row(*arguments, **keys)
        return median(row.roof_ratio) if row and row.roof_ratio else None

    def time(self, *arguments, **keys):
        """ns per call, from the same measurements as cost()."""
        row = self.row(*arguments, **keys)
        cost = self.cost(*arguments, **keys)
        if cost is None:
            return None
        return cost * median([rate * time * 1e-9
                              for rate, time in zip(row.bytes_per_second, row.nanoseconds)])

    def cost(self, *arguments, **keys):
        """Time per byte, from the measurements in turn with the limit: steadier than the time alone."""
        row = self.row(*arguments, **keys)
        if row is None or not row.roof_ratio or not row.roof_gbps:
            return None
        return median(row.roof_ratio) / median(row.roof_gbps)


def quotient(a, b):
    return a / b if a is not None and b is not None else None


def goals(c):
    """(what, goal with avx512, with avx2, unit, {label: value}); smaller is better unless marked."""
    both = ("half", "interleaved")

    def limits(job, dtype, lengths, pairs=both):
        return {f"{n} {p}": c.limit(job, dtype, n, p) for n in lengths for p in pairs}

    yield "f32, 16 to 2,048 tokens", 1.05, 1.05, "x", limits("apply", "f32", SHORT + LONG)
    yield "f32, 8,192 tokens and more", 1.00, 1.02, "x", limits("apply", "f32", DRAM)
    yield "f32, one token", 1.35, 1.10, "x", limits("apply", "f32", (1,))
    for dtype, fast, slow in (("bf16", (1.55, 1.03, 1.05), 1.6), ("f16", (1.6, 1.03, 1.05), 1.3)):
        yield f"{dtype}, f32 rows, 16 and 128 tokens", fast[0], None, "x", limits("apply_rows", dtype, SHORT)
        yield f"{dtype}, f32 rows, 512 and 2,048", fast[1], None, "x", limits("apply_rows", dtype, LONG)
        yield f"{dtype}, f32 rows, 8,192 and more", fast[2], slow, "x", limits("apply_rows", dtype, DRAM)
    yield ("f16 over bf16 (faster), f32 rows", None, 1.00, "x",
           {str(n): quotient(c.limit("apply_rows", "f16", n), c.limit("apply_rows", "bf16", n))
            for n in (1,) + SHORT + LONG})
    yield "table of 131,072 x 64 pairs, f32", 1.05, 1.10, "x", {"": c.limit("table", "f32", 131072)}
    yield "one row at a random position", 20, 30, "ns", {"": c.time("row", "f32", 1)}
    yield ("decode at random positions over sequential", 1.1, 1.1, "x",
           {f"{n} {t}": quotient(c.limit("decode", t, n), c.limit("apply", t, n))
            for n in SHORT + LONG for t in ("f32", "bf16")})
    yield "a call: one head, d = 2, rows made", 20, 20, "ns", {"": c.time("call", "f32", 1, d=2, hq=1, hkv=0)}
    yield ("rows made on the way over ready rows, 128 tokens and more", 1.03, 1.06, "x",
           {f"{n} {t} {p}": quotient(c.limit("apply", t, n, p), c.limit("apply_rows", t, n, p))
            for n in (128,) + LONG + DRAM for t in ("f32", "bf16") for p in both})
    yield ("out of place over the better copy", 1.05, 1.05, "x",
           {f"{n} {t}": c.limit("copy", t, n) for n in (1,) + SHORT + LONG + DRAM for t in ("f32", "bf16")})
    yield ("2 threads: time of one over time of two (larger is better)", -1.9, -1.9, "x",
           {f"{n} {t}": quotient(c.cost("apply", t, n), c.cost("part", t, n))
            for n in LONG + DRAM for t in ("f32", "bf16")})
    flat = {n: c.cost("apply", "f32", n) for n in (2048,) + DRAM}
    yield ("time per token over that at 2,048 tokens", 1.05, 1.05, "x",
           {str(n): quotient(value, flat[2048]) for n, value in flat.items()})
    for tokens in (1, 512):
        for dtype in ("f32", "bf16"):
            main = c.cost("apply", dtype, tokens)
            yield (f"heads: time per byte over 32 + 8, {dtype}, {tokens} tokens", 1.05, 1.05, "x",
                   {f"{h} + {h // 4}": quotient(c.cost("apply", dtype, tokens, hq=h, hkv=h // 4), main)
                    for h in (16, 64)})
            shapes = {f"d {d}": c.cost("apply", dtype, tokens, d=d) for d in (64, 80, 96, 256)}
            shapes["partial 0.25"] = c.cost("partial", dtype, tokens, d=32)
            shapes["MQA"] = c.cost("apply", dtype, tokens, hkv=1)
            shapes["MLA 64 of 192"] = c.cost("mla", dtype, tokens, d=64, hq=16, hkv=1)
            shapes["M-RoPE"] = c.cost("mrope", dtype, tokens, hq=28, hkv=4)
            yield (f"other shapes: time per byte over the main one, {dtype}, {tokens} tokens", 1.15, 1.15,
                   "x", {name: quotient(value, main) for name, value in shapes.items()})


def line(what, goal, unit, values):
    known = {label: value for label, value in values.items() if value is not None}
    if goal is None or not known:
        return None
    more = goal < 0  # a goal to exceed
    goal = abs(goal)
    label = (min if more else max)(known, key=known.get)
    worst = known[label]
    reached = worst >= goal if more else worst <= goal
    # The spread says whether it is one row or all of them.
    spread = "" if len(known) == 1 else f" ({min(known.values()):.2f} to {max(known.values()):.2f})"
    form = f"{worst:.2f} x" if unit == "x" else f"{worst:.1f} ns"
    return (f"| {what} | {'>=' if more else '<='} {goal:g} {unit} | {form}{spread} | {label} | "
            f"{'yes' if reached else '**no**'} |")


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    try:
        run = Run(arguments[0])
    except Unusable as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{run.context.get('cpu_model', 'unknown CPU')}, commit {run.commit}, "
          f"{run.context.get('rope_compiler', 'unknown compiler')}")
    for isa, index in (("avx512", 1), ("avx2", 2)):
        lines = [line(goal[0], goal[index], goal[3], goal[4]) for goal in goals(Cells(run, isa))]
        lines = [text for text in lines if text]
        if lines:
            print(f"\n**{isa}**\n\n| job | goal | worst (all) | where | reached |\n|---|---|---|---|---|")
            print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
