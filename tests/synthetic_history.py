#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""synthetic_history.py DIRECTORY: a made-up history of results, marked as such, for the dashboard.

Every file has the form of Google Benchmark 1.7.1 and says "synthetic" in its context.  The curves are
formulas, not measurements; known steps are put in at known runs."""
import hashlib
import json
import math
import os
import random
import sys

LENGTHS = (1, 16, 128, 512, 2048, 8192, 32768)
SETS = {"scalar": 9.0, "avx2": 62.0, "avx512": 90.0}  # GB/s in the middle of the curve
HOSTILE = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>\u202e|`&amp;\n\x1b[31m</script'


def commit_of(run):
    return hashlib.sha256(str(run).encode()).hexdigest()[:12]


def context(run, machine="Synthetic CPU", commit=None):
    return {
        "synthetic": "made by tests/synthetic_history.py, not measured",
        "date": f"2001-{1 + run // 28:02d}-{1 + run % 28:02d}T12:00:00+00:00",
        "host_name": "nowhere",
        "executable": "synthetic",
        "num_cpus": 2,
        "mhz_per_cpu": 3000,
        "cpu_scaling_enabled": False,
        "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 1}],
        "load_avg": [0.0, 0.0, 0.0],
        "library_build_type": "debug",
        "rope_version": "0.0.0",
        "rope_commit": commit or commit_of(run),
        "rope_isa": "scalar avx2 avx512",
        "rope_sleef": "none",
        "rope_compiler": "none",
        "cpu_model": machine,
    }


def entry(name, repetition, repetitions, gbps, roof, tokens, size):
    """One repetition; `size` is bytes read and written."""
    nanoseconds = size / gbps
    return {
        "name": name,
        "family_index": 0,
        "per_family_instance_index": 0,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": repetitions,
        "repetition_index": repetition,
        "threads": 1,
        "iterations": max(1, int(1e7 / nanoseconds)),
        "real_time": nanoseconds,
        "cpu_time": nanoseconds,
        "time_unit": "ns",
        "bytes_per_second": gbps * 1e9,
        "items_per_second": tokens / nanoseconds * 1e9,
        "ns_per_token": nanoseconds / tokens,
        "roof_gbps": roof,
        "roof_ratio": roof / gbps,
    }


def document(run, step=lambda name, run: (1.0, 1.0), noise=0.02, repetitions=5, seed=0,
             machine="Synthetic CPU"):
    """One result.  step(name, run) gives the factors on throughput and on the limit."""
    generator = random.Random(f"{seed} {run} {machine}")
    rows = []
    for isa, speed in SETS.items():
        for dtype, weight in (("f32", 1.0), ("bf16", 0.6)):
            for pair in ("half", "interleaved"):
                for tokens in LENGTHS:
                    name = (f"apply/isa:{isa}/dtype:{dtype}/pair:{pair}/d:128/hq:32/hkv:8"
                            f"/seq:{tokens}/real_time")
                    curve = 2.0 / (1.0 + 0.12 * math.log2(tokens) ** 1.2)
                    faster, roof_faster = step(name, run)
                    run_noise = math.exp(generator.gauss(0, noise))
                    size = tokens * 40 * 128 * (4 if dtype == "f32" else 2) * 2
                    for repetition in range(repetitions):
                        own = math.exp(generator.gauss(0, noise / 3))
                        gbps = speed * weight * curve * faster * run_noise * own
                        roof = 110.0 * curve * roof_faster * run_noise
                        rows.append(entry(name, repetition, repetitions, gbps, roof, tokens, size))
    return {"context": context(run, machine), "benchmarks": rows}


def series(seed, runs, noise, step_at=None, step=1.0):
    """One cell over `runs` runs: log-normal noise around 100 GB/s, times `step` from run step_at on."""
    generator = random.Random(f"series {seed}")
    return [100 * math.exp(generator.gauss(0, noise)) *
            (step if step_at is not None and run >= step_at else 1) for run in range(runs)]


SLOWER = "apply/isa:avx2/dtype:f32/pair:half/d:128/hq:32/hkv:8/seq:2048/real_time"
FASTER = "apply/isa:avx512/dtype:bf16/pair:half/d:128/hq:32/hkv:8/seq:512/real_time"
MACHINE = "apply/isa:avx2/dtype:bf16/pair:interleaved/d:128/hq:32/hkv:8/seq:8192/real_time"


def known_steps(name, run):
    """What write() puts in: from run 30 on one cell is 10 % slower, from run 20 on another 15 % faster,
    from run 25 on a third 12 % slower together with its limit."""
    if name == SLOWER and run >= 30:
        return 0.90, 1.0
    if name == FASTER and run >= 20:
        return 1.15, 1.0
    if name == MACHINE and run >= 25:
        return 0.88, 0.88
    return 1.0, 1.0


def write(directory, runs=40):
    """Files of the history; the last one has a row with a hostile name besides."""
    os.makedirs(directory, exist_ok=True)
    paths = []
    for run in range(runs):
        result = document(run, known_steps, noise=0.01)
        if run == runs - 1:
            hostile = f"{HOSTILE}/isa:{HOSTILE}/seq:16/real_time"
            result["benchmarks"] += [entry(hostile, i, 5, 10.0, 11.0, 16, 1e6) for i in range(5)]
        path = os.path.join(directory, f"synthetic-{run:03d}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(result, file)
        paths.append(path)
    return paths


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f"{len(write(sys.argv[1]))} files in {sys.argv[1]}")
