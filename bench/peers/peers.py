#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py [--quick] LIBRARY

Times what programs use instead of librope, and librope, in turn in one process: one thread, the same
memory (where the peer works out of place: the same input), the same positions.  Prints a table in
Markdown; a peer that is not installed is left out and named.  LIBRARY is librope_peers.so; run.sh
builds it and calls this.  Needs NumPy; PyTorch, ONNX Runtime and ggml where they are found."""
import argparse
import ctypes
import glob
import importlib.metadata
import importlib.util
import os
import platform
import random
import statistics
import sys
import time

import numpy as np

D, PAIRS, Q_HEADS, K_HEADS = 128, 64, 32, 8
HEADS = Q_HEADS + K_HEADS
THETA = 500000.0
START = 100000  # first position: one well inside a context of 131,072
TABLE_ROWS = 131072
F32, F16, BF16 = 1, 3, 4  # rope_dtype
SIZE = {F32: 4, F16: 2, BF16: 2}
NAME = {F32: "f32", F16: "f16", BF16: "bf16"}

Missing = (ImportError, OSError, AttributeError, RuntimeError)


class Job(ctypes.Structure):
    _fields_ = [("q", ctypes.c_void_p), ("k", ctypes.c_void_p), ("tokens", ctypes.c_size_t),
                ("q_heads", ctypes.c_size_t), ("k_heads", ctypes.c_size_t), ("rows", ctypes.c_void_p),
                ("start", ctypes.c_int64), ("plan", ctypes.c_void_p), ("dtype", ctypes.c_int32)]


class TableJob(ctypes.Structure):
    _fields_ = [("out", ctypes.c_void_p), ("rows", ctypes.c_size_t), ("pairs", ctypes.c_size_t),
                ("freq", ctypes.c_void_p), ("freq_double", ctypes.c_void_p)]


class Harness:
    """librope_peers.so."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.peer_time.restype = ctypes.c_double
        self.library.peer_time.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t]
        self.library.peer_plan.restype = ctypes.c_void_p
        self.library.peer_plan.argtypes = [ctypes.c_double, ctypes.c_int]
        self.library.peer_rows.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t,
                                           ctypes.c_void_p]
        self.library.peer_facts.restype = ctypes.c_char_p

    def time(self, function, a, b, calls):
        return self.library.peer_time(function, a, b, calls)

    def address(self, name):
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p)

    def fact(self, which):
        return self.library.peer_facts(which).decode()


def aligned(size):
    """`size` bytes at a multiple of 64, as a NumPy array of bytes."""
    memory = np.zeros(size + 64, np.uint8)
    skip = -memory.ctypes.data % 64
    return memory[skip:skip + size]


# ---- Numbers -------------------------------------------------------------------------------------


def to_bits(values, dtype):
    """float64 values, exact in the type, as its bit patterns."""
    if dtype == F32:
        return values.astype(np.float32)
    if dtype == F16:
        return values.astype(np.float16)
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def from_bits(bits, dtype):
    if dtype == BF16:
        return (bits.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return bits.view(np.float32 if dtype == F32 else np.float16).astype(np.float64)


def exact_rows(positions):
    """cos and sin of the true angles in long double, [positions, PAIRS]."""
    exponent = np.arange(PAIRS, dtype=np.longdouble) * -2 / D
    freq = np.exp(exponent * np.log(np.longdouble(THETA)))
    angle = np.asarray(positions, np.longdouble)[:, None] * freq
    return np.cos(angle), np.sin(angle)


def rotate_exactly(values, positions, interleaved):
    """values [tokens, heads, D] in float64; the result in long double."""
    c, s = (part[:, None, :] for part in exact_rows(positions))
    v = values.astype(np.longdouble)
    x, y = (v[..., 0::2], v[..., 1::2]) if interleaved else (v[..., :PAIRS], v[..., PAIRS:])
    out = np.empty_like(v)
    if interleaved:
        out[..., 0::2], out[..., 1::2] = x * c - y * s, y * c + x * s
    else:
        out[..., :PAIRS], out[..., PAIRS:] = x * c - y * s, y * c + x * s
    return out


def f32_rows(start, tokens):
    """cos and sin as Hugging Face makes them: frequency, angle and result in f32."""
    freq = (1.0 / THETA ** (np.arange(0, D, 2, dtype=np.float32) / np.float32(D))).astype(np.float32)
    angle = np.arange(start, start + tokens, dtype=np.float32)[:, None] * freq
    return np.cos(angle), np.sin(angle)


# ---- The shape that all peers get ----------------------------------------------------------------


class Shape:
    def __init__(self, harness, dtype, interleaved, tokens):
        self.harness, self.dtype, self.interleaved, self.tokens = harness, dtype, interleaved, tokens
        self.plan = harness.library.peer_plan(THETA, int(interleaved))
        size = SIZE[dtype]
        self.q = aligned(tokens * Q_HEADS * D * size)
        self.k = aligned(tokens * K_HEADS * D * size)
        self.rows = aligned(tokens * D * 4)
        if harness.library.peer_rows(self.plan, START, tokens, self.rows.ctypes.data) != 0:
            raise SystemExit("rope_cos_sin failed")
        # Magnitudes in 0.5..1 with few bits: exact in every type.
        generator = np.random.default_rng(1)
        self.first = [self._random(generator, heads) for heads in (Q_HEADS, K_HEADS)]
        self.job = Job(self.q.ctypes.data, self.k.ctypes.data, tokens, Q_HEADS, K_HEADS,
                       self.rows.ctypes.data, START, self.plan, dtype)
        self.checked = np.unique(np.linspace(0, tokens - 1, 16).astype(int))
        self.exact = [rotate_exactly(values[self.checked], START + self.checked, interleaved)
                      for values in self.first]
        self.reset()

    def _random(self, generator, heads):
        shape = (self.tokens, heads, D)
        return generator.integers(64, 128, shape) / 128 * generator.choice([-1.0, 1.0], shape)

    def reset(self):
        for memory, values in zip((self.q, self.k), self.first):
            memory[:] = to_bits(values, self.dtype).reshape(-1).view(np.uint8)

    def error(self, outputs):
        """Largest difference to exact; outputs are memories like q and k."""
        worst = 0.0
        for memory, exact, heads in zip(outputs, self.exact, (Q_HEADS, K_HEADS)):
            values = from_bits(memory, self.dtype).reshape(self.tokens, heads, D)[self.checked]
            worst = max(worst, float(np.max(np.abs(values - exact))))
        return worst


# ---- Peers: each has call(n) -> ns per call and outputs() ------------------------------------------


class Native:
    """A function of the harness, in place."""

    def __init__(self, shape, function, argument=0):
        self.shape = shape
        self.function = shape.harness.address(function)
        self.argument = ctypes.c_int(argument)

    def call(self, calls):
        return self.shape.harness.time(self.function, ctypes.addressof(self.shape.job),
                                       ctypes.addressof(self.argument), calls)

    def outputs(self):
        return self.shape.q, self.shape.k


class Timed:
    """A Python callable; the call from Python is what its users pay too."""

    def call(self, calls):
        start = time.thread_time_ns()
        for _ in range(calls):
            self.once()
        return (time.thread_time_ns() - start) / calls


class Ggml:
    """ggml's own graph of two nodes, in place, on its CPU backend with one thread."""

    libraries = None

    @classmethod
    def load(cls):
        if cls.libraries:
            return cls.libraries
        for package, pattern in (("llama_cpp", "lib/lib{}.so"),
                                 ("pywhispercpp", "../pywhispercpp.libs/lib{}-*.so*")):
            found = importlib.util.find_spec(package)
            if found is None:
                continue
            home = os.path.dirname(found.origin)
            parts = []
            for name in ("ggml-base", "ggml-cpu"):
                paths = sorted(glob.glob(os.path.join(home, pattern.format(name))))
                if not paths:
                    raise OSError(f"{package} has no lib{name}")
                parts.append(ctypes.CDLL(paths[0], mode=ctypes.RTLD_GLOBAL))
            base, cpu = parts
            pointer, size = ctypes.c_void_p, ctypes.c_size_t
            for library, name, result, arguments in (
                    (base, "ggml_new_tensor_1d", pointer, [pointer, ctypes.c_int, ctypes.c_int64]),
                    (base, "ggml_new_tensor_3d", pointer,
                     [pointer, ctypes.c_int] + [ctypes.c_int64] * 3),
                    (base, "ggml_new_graph", pointer, [pointer]),
                    (base, "ggml_build_forward_expand", None, [pointer, pointer]),
                    (base, "ggml_backend_cpu_buffer_from_ptr", pointer, [pointer, size]),
                    (base, "ggml_backend_tensor_alloc", ctypes.c_int, [pointer] * 3),
                    (base, "ggml_rope_ext_inplace", pointer,
                     [pointer] * 4 + [ctypes.c_int] * 3 + [ctypes.c_float] * 6),
                    (base, "ggml_version", ctypes.c_char_p, []),
                    (cpu, "ggml_backend_cpu_init", pointer, []),
                    (cpu, "ggml_backend_cpu_set_n_threads", None, [pointer, ctypes.c_int]),
                    (cpu, "ggml_backend_cpu_set_threadpool", None, [pointer, pointer]),
                    (base, "ggml_threadpool_params_init", None, [pointer, ctypes.c_int]),
                    (cpu, "ggml_threadpool_new", pointer, [pointer])):
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
            cls.libraries = base, cpu, package
            return cls.libraries
        raise ImportError("neither llama_cpp nor pywhispercpp is installed")

    @classmethod
    def fact(cls):
        base, cpu, package = cls.load()
        flags = [name for name in ("avx2", "avx512") if getattr(cpu, "ggml_cpu_has_" + name)()]
        version = importlib.metadata.version(package.replace("_", "-"))
        return (f"ggml {base.ggml_version().decode()} (from the wheel {package} {version}, built with "
                f"{', '.join(flags) or 'neither avx2 nor avx512'})")

    def __init__(self, shape):
        base, cpu, _ = self.load()
        self.shape = shape

        class Parameters(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p),
                        ("no_alloc", ctypes.c_bool)]

        base.ggml_init.restype, base.ggml_init.argtypes = ctypes.c_void_p, [Parameters]
        context = base.ggml_init(Parameters(1 << 20, None, True))
        self.positions = aligned(4 * shape.tokens)
        self.positions.view(np.int32)[:] = np.arange(START, START + shape.tokens)
        type_of = {F32: 0, F16: 1}[shape.dtype]

        def place(tensor, memory):
            buffer = base.ggml_backend_cpu_buffer_from_ptr(memory.ctypes.data, memory.nbytes)
            if base.ggml_backend_tensor_alloc(buffer, tensor, memory.ctypes.data) != 0:
                raise RuntimeError("ggml_backend_tensor_alloc")
            return tensor

        positions = place(base.ggml_new_tensor_1d(context, 26, shape.tokens), self.positions)
        self.graph = base.ggml_new_graph(context)
        for memory, heads in ((shape.q, Q_HEADS), (shape.k, K_HEADS)):
            tensor = base.ggml_new_tensor_3d(context, type_of, D, heads, shape.tokens)
            place(tensor, memory)
            rotated = base.ggml_rope_ext_inplace(
                context, tensor, positions, None, D, 0 if shape.interleaved else 2, 0,
                THETA, 1.0, 0.0, 1.0, 32.0, 1.0)
            base.ggml_build_forward_expand(self.graph, rotated)
        self.backend = cpu.ggml_backend_cpu_init()
        cpu.ggml_backend_cpu_set_n_threads(self.backend, 1)
        parameters = ctypes.create_string_buffer(4096)
        base.ggml_threadpool_params_init(parameters, 1)
        self.pool = cpu.ggml_threadpool_new(parameters)
        cpu.ggml_backend_cpu_set_threadpool(self.backend, self.pool)
        self.function = ctypes.cast(base.ggml_backend_graph_compute, ctypes.c_void_p)

    def call(self, calls):
        return self.shape.harness.time(self.function, self.backend, self.graph, calls)

    def outputs(self):
        return self.shape.q, self.shape.k


class Torch(Timed):
    """The formula of Hugging Face's models, eager, out of place."""

    @staticmethod
    def fact():
        import torch
        return f"PyTorch {torch.__version__}"

    def __init__(self, shape):
        import torch
        torch.set_num_threads(1)
        self.torch, self.shape = torch, shape
        kind = {F32: torch.float32, F16: torch.float16, BF16: torch.bfloat16}[shape.dtype]
        c, s = (torch.tensor(np.concatenate([part, part], 1).tolist(), dtype=torch.float32).to(kind)
                [None, None] for part in f32_rows(START, shape.tokens))
        self.c, self.s = c, s
        # [1, heads, tokens, D], a view of [tokens, heads, D], as in those models.
        self.inputs = [
            torch.frombuffer(memory, dtype=kind).view(1, shape.tokens, heads, D).transpose(1, 2)
            for memory, heads in ((shape.q, Q_HEADS), (shape.k, K_HEADS))]
        self.once()

    def rotate_half(self, x):
        return self.torch.cat((-x[..., PAIRS:], x[..., :PAIRS]), dim=-1)

    def once(self):
        with self.torch.no_grad():
            self.results = [x * self.c + self.rotate_half(x) * self.s for x in self.inputs]

    def outputs(self):
        made = []
        for result in self.results:
            values = result.transpose(1, 2).contiguous()
            if self.shape.dtype == F16:
                made.append(np.asarray(values.float().flatten().tolist(), np.float16))
            else:
                flat = np.asarray(values.float().flatten().tolist(), np.float64)
                made.append(to_bits(flat, self.shape.dtype))
        return made


class OnnxRuntime(Timed):
    """The operator com.microsoft.RotaryEmbedding, a node for q and one for k, out of place."""

    @staticmethod
    def fact():
        import onnxruntime
        return f"ONNX Runtime {onnxruntime.__version__}"

    def __init__(self, shape):
        import onnx
        import onnxruntime
        from onnx import TensorProto, helper
        self.shape = shape
        kind = {F32: TensorProto.FLOAT, F16: TensorProto.FLOAT16}[shape.dtype]
        numpy_kind = {F32: np.float32, F16: np.float16}[shape.dtype]
        inputs, nodes, outputs = [], [], []
        for name, heads in (("q", Q_HEADS), ("k", K_HEADS)):
            inputs.append(helper.make_tensor_value_info(name, kind, [1, shape.tokens, heads * D]))
            outputs.append(
                helper.make_tensor_value_info(name + "_out", kind, [1, shape.tokens, heads * D]))
            nodes.append(helper.make_node(
                "RotaryEmbedding", [name, "positions", "cos", "sin"], [name + "_out"],
                domain="com.microsoft", interleaved=int(shape.interleaved), num_heads=heads))
        inputs += [helper.make_tensor_value_info("positions", TensorProto.INT64, [1, shape.tokens]),
                   helper.make_tensor_value_info("cos", kind, [shape.tokens, PAIRS]),
                   helper.make_tensor_value_info("sin", kind, [shape.tokens, PAIRS])]
        model = helper.make_model(
            helper.make_graph(nodes, "rope", inputs, outputs),
            opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 8
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                    providers=["CPUExecutionProvider"])
        c, s = f32_rows(START, shape.tokens)
        self.kept = {"positions": np.arange(shape.tokens, dtype=np.int64)[None],
                     "cos": c.astype(numpy_kind), "sin": s.astype(numpy_kind)}
        self.made = [aligned(shape.q.nbytes), aligned(shape.k.nbytes)]
        self.binding = self.session.io_binding()
        for name, memory, out, heads in (("q", shape.q, self.made[0], Q_HEADS),
                                         ("k", shape.k, self.made[1], K_HEADS)):
            form = [1, shape.tokens, heads * D]
            self.binding.bind_input(name, "cpu", 0, numpy_kind, form, memory.ctypes.data)
            self.binding.bind_output(name + "_out", "cpu", 0, numpy_kind, form, out.ctypes.data)
        for name, value in self.kept.items():
            self.binding.bind_input(name, "cpu", 0, value.dtype.type, list(value.shape),
                                    value.ctypes.data)
        self.once()

    def once(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        return self.made


# ---- Measuring -----------------------------------------------------------------------------------


def measure(peers, rounds, sample_ns):
    """Median ns per call of each peer over the quieter half of the rounds, those in which all peers
    together were fast; every round takes them in another order."""
    calls = {}
    for name, peer in peers.items():
        # The fastest of some calls: one alone may have met anything.
        once = min(peer.call(1) for _ in range(5))
        once = min(once, peer.call(max(1, int(1e4 / max(once, 1)))))
        calls[name] = max(1, int(sample_ns / max(once, 1)))
    times = {name: [] for name in peers}
    order = list(peers)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            peers[name].call(1)  # after another peer's memory the caches hold none of this one's
            times[name].append(peers[name].call(calls[name]))
    usual = {name: statistics.median(values) for name, values in times.items()}
    quiet = sorted(range(rounds), key=lambda i: sum(times[name][i] / usual[name] for name in peers))
    return {name: statistics.median(values[i] for i in quiet[:(rounds + 1) // 2])
            for name, values in times.items()}


def peers_of(shape, absent):
    """name -> peer; what cannot be had is noted in `absent`."""
    dtype, pairing = shape.dtype, "interleaved" if shape.interleaved else "half"
    made = {"librope": Native(shape, "peer_rope"),
            "librope, ready rows": Native(shape, "peer_rope_rows")}
    for flags, which in (("-O3 -march=native", 1), ("-O2", 0)):
        if shape.harness.library.peer_has_plain(dtype, which):
            made[f"plain C, {flags}, ready rows"] = Native(shape, f"peer_plain_{pairing}", which)
    others = []
    if dtype != BF16:
        others.append((f"ggml, {'NORMAL' if shape.interleaved else 'NEOX'}", Ggml))
        others.append(("ONNX Runtime, out of place", OnnxRuntime))
    if not shape.interleaved:
        others.append(("PyTorch eager, out of place", Torch))
    for name, kind in others:
        try:
            made[name] = kind(shape)
        except Missing as error:
            reason = str(error).splitlines()[0] if str(error) else repr(error)
            absent.setdefault(f"{name} ({NAME[dtype]})", reason)
    return made


def rotation_table(harness, dtype, interleaved, lengths, rounds, sample_ns, absent):
    times, errors, limits = {}, {}, {}
    for tokens in lengths:
        shape = Shape(harness, dtype, interleaved, tokens)
        peers = peers_of(shape, absent)
        for name, peer in peers.items():
            shape.reset()
            peer.call(1)
            errors[name] = max(errors.get(name, 0.0), shape.error(peer.outputs()))
        shape.reset()
        peers["limit"] = Native(shape, "peer_limit")
        found = measure(peers, rounds, sample_ns)
        limits[tokens] = found.pop("limit")
        for name, value in found.items():
            times.setdefault(name, {})[tokens] = value
    print(f"\n**{NAME[dtype]}, {'interleaved' if interleaved else 'half-split'}**\n")
    heads = [f"{n:,} token{'s' * (n > 1)}" for n in lengths]
    print("| ns per token (x limit) | " + " | ".join(heads) + " | error |")
    print("|---|" + "--:|" * len(lengths) + "--:|")
    print("| limit: read, add 0, write | " +
          " | ".join(f"{limits[n] / n:,.0f}" for n in lengths) + " | |")
    for name, row in times.items():
        cells = [f"{row[n] / n:,.0f} ({row[n] / limits[n]:.2f})" for n in lengths]
        print(f"| {name} | " + " | ".join(cells) + f" | {errors[name]:.1e} |")
    sys.stdout.flush()


def table_of_tables(harness, rounds, rows):
    freq = (1.0 / THETA ** (np.arange(0, D, 2) / D)).astype(np.float64)
    freq_f32 = freq.astype(np.float32)
    out = aligned(rows * D * 4)
    job = TableJob(out.ctypes.data, rows, PAIRS, freq_f32.ctypes.data, freq.ctypes.data)
    plan = harness.library.peer_plan(THETA, 0)
    checked = np.unique(np.concatenate([np.arange(8), np.linspace(0, rows - 1, 64).astype(int)]))
    exact = np.concatenate(exact_rows(checked), 1)

    class Table(Native):
        def __init__(self, function):
            self.function = harness.address(function)

        def call(self, calls):
            return harness.time(self.function, ctypes.addressof(job), plan, calls)

    peers = {"librope (`rope_cos_sin`)": Table("peer_table_rope"),
             f"SLEEF f32 angle, `{harness.fact(2)}`": Table("peer_table_sleef_f32"),
             "libm f32 angle, cosf and sinf": Table("peer_table_libm_f32"),
             "libm f64 angle, cos and sin": Table("peer_table_libm_f64")}
    errors = {}
    for name, peer in peers.items():
        peer.call(1)
        made = out.view(np.float32).reshape(rows, D)[checked].astype(np.longdouble)
        errors[name] = float(np.max(np.abs(made - exact)))
    peers["limit"] = Table("peer_table_limit")
    found = measure(peers, rounds, 1e6)
    limit = found.pop("limit")
    print(f"\n**Table of {rows:,} x {PAIRS} pairs, f32**\n")
    print("| | ms | x limit | error |\n|---|--:|--:|--:|")
    print(f"| limit: stores past the caches | {limit * 1e-6:.2f} | 1.00 | |")
    for name, value in found.items():
        print(f"| {name} | {value * 1e-6:.2f} | {value / limit:.2f} | {errors[name]:.1e} |")


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file
                        if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer lengths and rounds")
    parser.add_argument("--compiler", default="", help="for the record")
    parser.add_argument("library")
    options = parser.parse_args(arguments)
    harness = Harness(options.library)
    lengths = (1, 128) if options.quick else (1, 16, 128, 512, 2048, 8192)
    rounds, sample_ns, rows = (5, 5e5, 8192) if options.quick else (15, 2e6, TABLE_ROWS)

    facts = []
    for kind in (Ggml, OnnxRuntime, Torch):
        try:
            facts.append(kind.fact())
        except Missing:
            pass
    print(f"{cpu_model()}; librope {harness.fact(0)}, set {harness.fact(1)}; " +
          "; ".join([options.compiler] * bool(options.compiler) + facts) + ".")
    print(f"\n{Q_HEADS} query and {K_HEADS} key heads x {D}, theta {THETA:,.0f}, positions from "
          f"{START:,}, one thread, in place unless said, medians of the quieter half of {rounds} rounds in turn. Error: "
          "largest, against the exact rotation of |x| < 1.")
    absent = {}
    for dtype, interleaved in ((F32, False), (F32, True), (BF16, False), (F16, False)):
        rotation_table(harness, dtype, interleaved, lengths, rounds, sample_ns, absent)
    table_of_tables(harness, rounds, rows)
    for name, reason in absent.items():
        print(f"\nLeft out: {name}: {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
