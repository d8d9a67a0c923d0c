#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py LIBRARY

Compares the custom operator with ONNX Runtime's own RotaryEmbedding, com.microsoft's and ONNX's, as nodes
of one model over the same inputs and caches; then with the exact rotation, from positions alone.  Prints
tables; fails where the two differ by more than roundings explain, where the operator is not exact, or where
a wrong input is no clean error."""
import itertools
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

BATCH, TOKENS, HEADS, HEAD, ROWS = 2, 24, 4, 64, 512
THETA = 10000.0
KINDS = {"f32": (TensorProto.FLOAT, np.float32, 24), "f16": (TensorProto.FLOAT16, np.float16, 11),
         "f64": (TensorProto.DOUBLE, np.float64, 53)}
failures = []


def fail(text):
    print("FAILED:", text)
    failures.append(text)


def rows(positions, dim):
    """cos and sin of the true angles in long double, [..., dim / 2]."""
    frequencies = np.longdouble(THETA) ** (np.arange(0, dim, 2, dtype=np.longdouble) / -dim)
    angles = np.asarray(positions, np.longdouble)[..., None] * frequencies
    return np.cos(angles), np.sin(angles)


def caches_of_runtimes(count, dim):
    """Caches as exporters make them: frequency, angle, cos and sin in f32."""
    frequencies = 1 / np.float32(THETA) ** (np.arange(0, dim, 2, dtype=np.float32) / np.float32(dim))
    angles = np.arange(count, dtype=np.float32)[:, None] * frequencies.astype(np.float32)
    return np.cos(angles), np.sin(angles)


def rotate(x, cos, sin, interleaved):
    """x [batch, heads, tokens, head] by rows [batch, tokens, d / 2], in long double; and |x| + |y|."""
    x = x.astype(np.longdouble)
    dim = 2 * cos.shape[-1]
    first, second = (slice(0, dim, 2), slice(1, dim, 2)) if interleaved else \
        (slice(0, dim // 2), slice(dim // 2, dim))
    cos, sin = (part.astype(np.longdouble)[:, None] for part in (cos, sin))
    out, size = x.copy(), np.zeros_like(x)
    out[..., first] = x[..., first] * cos - x[..., second] * sin
    out[..., second] = x[..., second] * cos + x[..., first] * sin
    size[..., first] = size[..., second] = np.abs(x[..., first]) + np.abs(x[..., second])
    return out, size


def model(kind, nodes, shape, cache_shape, ids_shape, opset):
    """nodes: (domain, inputs, attributes) -> outputs y0, y1, ..."""
    element = KINDS[kind][0]
    inputs = {"x": (element, shape), "ids": (TensorProto.INT64, ids_shape),
              "cos": (element, cache_shape), "sin": (element, cache_shape)}
    used = {name for _, names, _ in nodes for name in names}
    graph = helper.make_graph(
        [helper.make_node("RotaryEmbedding", names, [f"y{index}"], domain=domain, **attributes)
         for index, (domain, names, attributes) in enumerate(nodes)], "rope",
        [helper.make_tensor_value_info(name, *inputs[name]) for name in inputs if name in used],
        [helper.make_tensor_value_info(f"y{index}", element, shape) for index in range(len(nodes))])
    made = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1),
        helper.make_opsetid("librope", 1)])
    made.ir_version = 10
    return made.SerializeToString()


class Session:
    def __init__(self, library, bytes_):
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(library)
        options.intra_op_num_threads = 2
        options.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(bytes_, options, providers=["CPUExecutionProvider"])
        self.names = [value.name for value in self.session.get_inputs()]

    def run(self, **values):
        return self.session.run(None, {name: values[name] for name in self.names})


def random_input(kind, form):
    generator = np.random.default_rng(1)
    x = generator.integers(-127, 128, (BATCH, HEADS, TOKENS, HEAD)) / 64
    return (x if form == "BNSH" else flat(x)).astype(KINDS[kind][1])


def flat(x):
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(BATCH, TOKENS, HEADS * HEAD)


def split(x, form):
    return x if form == "BNSH" else x.reshape(BATCH, TOKENS, HEADS, HEAD).transpose(0, 2, 1, 3)


def unit(exact, precision):
    """Half a unit in the last place."""
    return np.ldexp(0.5, np.frexp(np.abs(exact).astype(np.float64))[1] - precision)


def allowed(exact, size, precision):
    """A rounding of a product and one of the sum in f32 (f64 for f64), then half a unit of the type."""
    arithmetic = 2 * 2.0 ** -(53 if precision == 53 else 24) * size.astype(np.float64)
    return arithmetic + (1.0001 * unit(exact, precision) if precision == 11 else 0)


def compare(library, kind, interleaved, form, dim, by):
    """One row of the first table.  by: ids (a row number for each token), offset (one for all), token
    (a cache row for each token)."""
    _, numpy_kind, precision = KINDS[kind]
    generator = np.random.default_rng(2)
    positions = {"ids": generator.integers(0, ROWS, (BATCH, TOKENS)),
                 "offset": np.array([ROWS - TOKENS]),
                 "token": generator.integers(0, ROWS, (BATCH, TOKENS))}[by]
    every = positions if by != "offset" else np.broadcast_to(
        positions[0] + np.arange(TOKENS), (BATCH, TOKENS))
    cos, sin = (part.astype(numpy_kind) for part in
                rows(every if by == "token" else np.arange(ROWS), dim))
    x = random_input(kind, form)
    attributes = {"interleaved": interleaved, "num_heads": HEADS,
                  "rotary_embedding_dim": 0 if dim == HEAD else dim}
    ids = "" if by == "token" else "ids"
    nodes = [("librope", ["x", ids, "cos", "sin"], attributes)]
    owners = []
    if by != "token" and kind != "f64":
        owners.append("com.microsoft")
        nodes.append(("com.microsoft", ["x", "ids", "cos", "sin"], attributes))
    if by != "offset" and kind != "f64":
        owners.append("ONNX 23")
        names = ["x", "cos", "sin"] + (["ids"] if by == "ids" else [])
        # the standard operator reads num_heads for three dimensions alone
        nodes.append(("", names, {name: value for name, value in attributes.items()
                                  if form == "BSD" or name != "num_heads"}))
    session = Session(library, model(kind, nodes, x.shape, cos.shape, positions.shape, 23))
    ours, *theirs = session.run(x=x, ids=positions.astype(np.int64), cos=cos, sin=sin)

    used = (cos, sin) if by == "token" else (cos[every], sin[every])
    exact, size = rotate(split(x, form), *used, interleaved)
    name = f"{kind} {'interleaved' if interleaved else 'half'} {form} {dim} of {HEAD}, by {by}"
    error = np.abs(split(ours, form).astype(np.longdouble) - exact)
    if not np.all(error <= allowed(exact, size, precision)):
        fail(f"{name}: off by {np.max(error):.2e} from the same rows")
    if not np.array_equal(split(ours, form)[..., dim:], split(x, form)[..., dim:]):
        fail(f"{name}: what is not rotated has changed")
    cells = []
    for owner, other in zip(owners, theirs):
        difference = np.abs(ours.astype(np.float64) - other.astype(np.float64))
        same = np.mean(ours.view(f"u{ours.itemsize}") == other.view(f"u{ours.itemsize}"))
        cells.append(f"{owner}: {np.max(difference):.1e}, {100 * same:.2f} % same bits")
        # f16: the runtime computes in f16 or in f32, each product and sum rounded
        limit = allowed(exact, size, precision) if precision == 24 else \
            3 * 2.0 ** -11 * size.astype(np.float64) + unit(exact, 11)
        if not np.all(split(difference, form) <= 2 * limit):
            fail(f"{name}: differs from {owner} by {np.max(difference):.2e}")
    print(f"| {name} | {'; '.join(cells) or 'the runtime has none'} |")


def compare_positions(library, kind, start):
    """One row of the second table: rows made on the way beside the caches that exporters make."""
    element, numpy_kind, precision = KINDS[kind]
    x = random_input(kind, "BSD")
    attributes = {"num_heads": HEADS, "rotary_embedding_dim": HEAD}
    cos, sin = (part[start:start + TOKENS] for part in caches_of_runtimes(start + TOKENS, HEAD))
    nodes = [("librope", ["x", "ids"], {"theta": THETA, **attributes})]
    ids = np.broadcast_to(np.arange(start, start + TOKENS), (BATCH, TOKENS)).astype(np.int64)
    ours, = Session(library, model(kind, nodes, x.shape, cos.shape, ids.shape, 23)).run(x=x, ids=ids)
    exact, size = rotate(split(x, "BSD"), *rows(ids, HEAD), 0)
    error = np.abs(split(ours, "BSD").astype(np.longdouble) - exact)
    # rows are rounded too
    bound = allowed(exact, 1.5 * size, precision)
    if not np.all(error <= bound):
        fail(f"{kind} at {start}: off by {np.max(error):.2e}")
    cell = "none"
    if kind != "f64":
        nodes = [("com.microsoft", ["x", "ids", "cos", "sin"], attributes)]
        session = Session(library, model(kind, nodes, x.shape, cos.shape, [1], 23))
        theirs, = session.run(x=x, ids=np.zeros(1, np.int64), cos=cos.astype(numpy_kind),
                              sin=sin.astype(numpy_kind))
        cell = f"{np.max(np.abs(split(theirs, 'BSD').astype(np.longdouble) - exact)):.1e}"
    print(f"| {kind}, {start:,} to {start + TOKENS - 1:,} | {cell} | {np.max(error):.1e} |")


def must_fail(what, words, make, **values):
    try:
        make().run(**values)
    except Exception as error:  # each of onnxruntime's errors is a class of its own
        if words not in str(error):
            fail(f"{what}: the error says {error}")
        return
    fail(f"{what}: no error")


def refusals(library):
    """Errors, and no effect on the next run of the same session."""
    cos, sin = (part.astype(np.float32) for part in rows(np.arange(ROWS), HEAD))
    x = random_input("f32", "BSD")
    good = np.zeros((BATCH, TOKENS), np.int64)

    def session(attributes=None, inputs=("x", "ids", "cos", "sin"), ids_shape=(None, None),
                shape=(None, None, None), cache=(None, None)):
        attributes = {"num_heads": HEADS} if attributes is None else attributes
        nodes = [("librope", list(inputs), attributes)]
        return Session(library, model("f32", nodes, shape, cache, ids_shape, 23))

    kept = session()
    before, = kept.run(x=x, ids=good, cos=cos, sin=sin)
    for text, at, value in (("below", (0, 0), -1), ("above", (BATCH - 1, TOKENS - 1), ROWS),
                            ("far above", (0, 3), 2**62)):
        bad = good.copy()
        bad[at] = value
        must_fail(f"a position {text} the caches", str(value), lambda: kept, x=x, ids=bad, cos=cos, sin=sin)
    after, = kept.run(x=x, ids=good, cos=cos, sin=sin)
    if not np.array_equal(before, after):
        fail("a session does not go on after an error")
    for text, offset in (("below", -1), ("above", ROWS - TOKENS + 1)):
        row = offset if offset < 0 else ROWS
        must_fail(f"an offset {text}", f"row {row}", lambda: session(ids_shape=(1,)), x=x,
                  ids=np.array([offset]), cos=cos, sin=sin)
    alone = {"theta": THETA, "rotary_embedding_dim": HEAD, "num_heads": HEADS}
    must_fail("a position of 2^31", "2147483648", lambda: session(alone, ("x", "ids")), x=x,
              ids=np.full_like(good, 2**31))
    must_fail("ids of another batch", "position_ids", session, x=x, ids=good[:1], cos=cos, sin=sin)
    must_fail("caches that differ", "differ", session, x=x, ids=good, cos=cos[:, :-1], sin=sin)
    must_fail("caches of another width", "d/2", session, x=x, ids=good, cos=cos[:, :-1],
              sin=sin[:, :-1])
    must_fail("no sin_cache", "both", lambda: session(inputs=("x", "ids", "cos")), x=x, ids=good,
              cos=cos)
    must_fail("no ids, no caches", "neither", lambda: session(inputs=("x",)), x=x)
    must_fail("theta without ids", "position_ids", lambda: session(alone, ("x",)), x=x)
    must_fail("heads that do not divide", "num_heads", lambda: session({"num_heads": 7}), x=x,
              ids=good, cos=cos, sin=sin)
    must_fail("an odd rotary_embedding_dim", "rotary_dim",
              lambda: session({**alone, "rotary_embedding_dim": 63}, ("x", "ids")))
    must_fail("a rotary_embedding_dim beyond the head", "head_dim",
              lambda: session({**alone, "rotary_embedding_dim": 2 * HEAD}, ("x", "ids")), x=x, ids=good)


def main(library):
    print(f"ONNX Runtime {onnxruntime.__version__}\n")
    print("| the same rows | largest difference |\n|---|---|")
    for kind, interleaved, form, dim in itertools.product(("f32", "f16"), (0, 1), ("BSD", "BNSH"),
                                                          (HEAD, 32)):
        for by in ("ids", "offset", "token"):
            if by == "ids" or (form == "BSD" and dim == HEAD):
                compare(library, kind, interleaved, form, dim, by)
    compare(library, "f64", 0, "BNSH", 32, "ids")
    print("\n| positions alone: off exact | com.microsoft, caches from f32 angles | librope |\n|---|--:|--:|")
    for kind in KINDS:
        for start in (0, 131072 - TOKENS):
            if start == 0 or kind != "f64":  # far out long double is no better than f64 rows
                compare_positions(library, kind, start)
    refusals(library)
    print(f"\n{'FAILED' if failures else 'all within roundings of the runtime, exact, and errors clean'}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
