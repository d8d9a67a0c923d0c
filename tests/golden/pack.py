#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Packs outputs of other implementations for the tests; README.md says what and how.
# Usage: pack.py FOLDER OUT.  FOLDER holds onnx, ggml, others and hf, each with cases.jsonl and .npy files.
#
# Frequencies that no scheme of the library has are computed here, in 60 digits, from the parameters of the case.
import ast
import decimal
import json
import os
import struct
import sys
from decimal import Decimal

decimal.getcontext().prec = 60
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
SIZES = {"f32": 4, "f64": 8, "i32": 4, "i64": 8, "f16": 2, "bf16": 2}
LETTERS = {"f32": "f", "f64": "d", "i32": "i", "i64": "q", "f16": "e", "u2": "H"}
DTYPES = {"<f4": "f32", "<f8": "f64", "<i4": "i32", "<i8": "i64", "<u2": "u2"}
PART_SIZE = 470000  # bytes of arrays in one file


def npy(path):
    """dtype, shape and bytes of an array."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    return DTYPES[header["descr"]], list(header["shape"]), data[10 + size:]


def unpack(dtype, data):
    return struct.unpack("<%d%s" % (len(data) // SIZES.get(dtype, 2), LETTERS[dtype]), data)


def pack(dtype, values):
    return struct.pack("<%d%s" % (len(values), LETTERS[dtype]), *values)


def number(value):
    value = float(value)
    return "%d" % value if value == int(value) else repr(value)


def power(base, exponent):
    return (Decimal(exponent) * Decimal(base).ln()).exp()


class Array:
    def __init__(self, dtype, data):
        self.dtype = dtype
        self.data = bytes(data)


def array(dtype, values):
    return Array(dtype, pack(dtype, values))


class Group:
    """Cases of one name, in as many pairs of .txt and .bin as their size asks for."""

    def __init__(self, name, out):
        self.name, self.out, self.cases, self.parts = name, out, [], []

    def case(self, fields):
        self.cases.append({key: value for key, value in fields.items() if value is not None})

    def write(self):
        # cases that share inputs stand together
        while self.cases:
            blob, seen, lines, sources = bytearray(), {}, [], []
            while self.cases:
                case = self.cases[0]
                new = {a.data for a in case.values() if isinstance(a, Array)} - set(seen)
                if lines and len(blob) + sum(len(data) + 8 for data in new) > PART_SIZE:
                    break
                words = ["case"]
                for key, value in self.cases.pop(0).items():
                    if key == "source":
                        if value not in sources:
                            sources.append(value)
                        value = sources.index(value) + 1
                    elif isinstance(value, Array):
                        if value.data not in seen:
                            blob += bytes(-len(blob) % 8)
                            seen[value.data] = len(blob)
                            blob += value.data
                        value = "%s:%d:%d" % (value.dtype, seen[value.data],
                                              len(value.data) // SIZES[value.dtype])
                    words.append("%s=%s" % (key, value))
                lines.append(" ".join(words))
            self.parts.append((blob, sources, lines))
        for index, (blob, sources, lines) in enumerate(self.parts):
            name = self.name + (str(index + 1) if len(self.parts) > 1 else "")
            with open(os.path.join(self.out, name + ".bin"), "wb") as file:
                file.write(blob)
            with open(os.path.join(self.out, name + ".txt"), "w", encoding="utf-8") as file:
                file.write("# SPDX-" "License-Identifier: Apache-2.0\n# Golden outputs of other implementations;"
                           " arrays are in %s.bin.  Format and sources: README.md\n" % name)
                for at, source in enumerate(sources):
                    file.write("# source %d: %s\n" % (at + 1, source))
                for line in lines:
                    file.write(line + "\n")
            print(name, len(lines), "cases", len(blob), "bytes")


def read_cases(folder):
    with open(os.path.join(folder, "cases.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def load(folder, entry):
    dtype, shape, data = npy(os.path.join(folder, entry["file"]))
    return entry["dtype"], shape, data


def bits_named(bits):
    names = {"eager": "eager", "eager_f32": "unfused", "fma_x": "fused"}
    return ",".join(names[name] for name in bits if name in names) or "near"


def shape_of(layout, shape):
    """order, batch, tokens, heads"""
    if layout == "[batch, head, token, head_dim]":
        return "bhtd", shape[0], shape[2], shape[1]
    if layout == "[batch, token, head, head_dim]" or len(shape) == 4:
        return "bthd", shape[0], shape[1], shape[2]
    return "bthd", 1, shape[0], shape[1]


# ---- Maps of axes ------------------------------------------------------------------------------------


def layouts(sections, pairs):
    """name -> axis of each pair, for the layouts that take such sections"""
    maps = {}
    if len(sections) == 3 and sum(sections) == pairs:
        maps["interleaved"] = [axis if axis != 0 and i < 3 * sections[axis] else 0
                               for i in range(pairs) for axis in [i % 3]]
        if sections[0] == sections[1]:
            maps["ernie"] = [1 + i % 2 if i < 2 * sections[0] else 0 for i in range(pairs)]
    if sum(sections) == pairs:
        maps["sections"] = [axis for axis, count in enumerate(sections) for _ in range(count)]
    return maps


def axes_fields(pair_axis, sections=None, restart=False):
    axes = max(pair_axis) + 1
    fields = {"axes": axes, "pair_axis": array("i32", pair_axis)}
    if restart:
        fields.update(layout="restart", sections=",".join(map(str, sections)))
    elif sections:
        for name, axis in layouts(sections, len(pair_axis)).items():
            if axis == list(pair_axis):
                fields.update(layout=name, sections=",".join(map(str, sections)))
                break
    return fields


def custom(frequencies):
    return {"scheme": "custom", "frequencies": array("f64", [float(f) for f in frequencies]), "freq_rel": "1.2e-16"}


# ---- onnx ------------------------------------------------------------------------------------------------


def pack_onnx(folder, out):
    group = Group("onnx", out)
    for case in read_cases(folder):
        params, inputs, outputs = case["params"], case["inputs"], case["outputs"]
        dtype, shape, x = load(folder, inputs["x"])
        head_dim = params["head_dim"]
        if len(shape) == 3:
            shape = shape[:2] + [shape[2] // head_dim, head_dim]
        order, batch, tokens, heads = shape_of(case["layout"]["x"], shape)
        rows = [Array(*load(folder, inputs[name])[::2]) for name in ("cos_cache", "sin_cache")]
        index = load(folder, inputs["position_ids"]) if "position_ids" in inputs else None
        for name in ("out", "out_ort"):
            if name not in outputs:
                continue
            source = case["source"]
            text = "%s %s, %s" % (source["package"], source["version"], source["function"])
            if name == "out_ort" and "out" in outputs:
                text = "onnxruntime 1.31.1, CPUExecutionProvider, for the same inputs"
            group.case({
                "id": case["id"] + (".ort" if name == "out_ort" and "out" in outputs else ""),
                "source": text, "order": order, "batch": batch, "tokens": tokens, "heads": heads,
                "head_dim": head_dim, "rotary_dim": params["rotary_dim"],
                "pairing": case["layout"]["pairing"], "x": Array(dtype, x),
                "out": Array(*load(folder, outputs[name])[::2]),
                "row_of": "batch" if index is None else "id" if len(index[1]) == 2 else "offset",
                "cos": rows[0], "sin": rows[1], "index": Array("i64", index[2]) if index else None,
                "bits": bits_named(case["verify"]["bits"][name])})
    group.write()


# ---- ggml ------------------------------------------------------------------------------------------------


def ggml_scheme(folder, case):
    params = case["params"]
    scale, base = params["freq_scale"], params["freq_base"]
    factor = float(1 / Decimal(scale))
    magnitude = Decimal(params["attn_factor"])
    fields = {"scheme": "default", "theta": number(base)}
    if params["ext_factor"] != 0:
        magnitude *= 1 + Decimal("0.1") * (1 / Decimal(scale)).ln()
    if params["ext_factor"] == 1:
        fields.update(scheme="yarn", factor=number(factor), original_length=params["n_ctx_orig"],
                      beta_fast=number(params["beta_fast"]), beta_slow=number(params["beta_slow"]))
    elif params["ext_factor"] != 0:
        low, high = map(Decimal, params["corr_dims_returned"])
        frequencies = []
        for i in range(params["rotary_dim"] // 2):
            ramp = 1 - min(1, max(0, (i - low) / max(Decimal("0.001"), high - low)))
            mix = ramp * Decimal(params["ext_factor"])
            plain = power(base, Decimal(-2 * i) / params["rotary_dim"])
            frequencies.append(plain * Decimal(scale) * (1 - mix) + plain * mix)
        fields = custom(frequencies)
    elif scale != 1:
        fields.update(scheme="linear", factor=number(factor))
    if factor != 1 and Decimal(factor) * Decimal(scale) != 1:
        fields["freq_rel"] = "2.3e-16"
    if magnitude != 1:
        fields["attention_factor"] = fields["magnitude"] = number(magnitude)
    if "freq_factors" in case["inputs"]:
        dtype, _, data = load(folder, case["inputs"]["freq_factors"])
        fields["divisors"] = array("f64", unpack(dtype, data)[:params["rotary_dim"] // 2])
    return fields


def ggml_axes(params):
    sections, pairs = params["sections"], params["rotary_dim"] // 2
    total, axes = sum(sections), []
    for pair in range(pairs):
        sector = pair % total
        if params["mode_name"] == "imrope":
            axis = sector % 3
            axes.append(axis if sector < 3 * sections[axis] else 3)
        else:
            axes.append(next(a for a in range(4) if sector < sum(sections[:a + 1])))
    return {"axes": 4, "pair_axis": array("i32", axes), "sections": ",".join(map(str, sections)),
            "layout": "ggml_" + params["mode_name"]}


def pack_ggml(folder, out):
    group = Group("ggml", out)
    for case in read_cases(folder):
        params, verify, outputs = case["params"], case["verify"], case["outputs"]
        dtype, shape, x = load(folder, case["inputs"]["x"])
        order, batch, tokens, heads = shape_of(case["layout"]["x"], shape)
        back = params["direction"] == "transpose"
        source = case["source"]
        fields = {
            "id": case["id"], "source": "%s as bundled in %s %s, %s" % (
                source["library"], source["package"], source["version"], source["function"]),
            "order": order, "batch": batch, "tokens": tokens, "heads": heads, "head_dim": params["head_dim"],
            "rotary_dim": params["rotary_dim"], "rotary_offset": params["rotary_offset"] or None,
            "pairing": case["layout"]["pairing"], "direction": "transpose" if back else None,
            "signed_rows": 1 if back else None, "x": Array(dtype, x),
            "out": Array(*load(folder, outputs["out"])[::2]), "row_of": "token",
            "cos": Array(*load(folder, outputs["cos"])[::2]), "sin": Array(*load(folder, outputs["sin"])[::2]),
            "bits": bits_named(verify["bits"]["out"])}
        position_type, position_shape, positions = load(folder, case["inputs"]["pos"])
        arrays = {"pos": Array(position_type, positions)}
        for name in ("exact_cos", "exact_sin", "row_bound"):
            arrays[name] = Array(*load(folder, verify[name])[::2])
        known = ggml_scheme(folder, case)
        if len(position_shape) == 2:
            known.update(ggml_axes(params))
        if -2**31 in unpack(position_type, positions):  # the last position: refused by this library
            group.case(fields)
            tokens -= 1
            fields.update(id=case["id"] + ".inside", tokens=tokens)
            for name in ("x", "out", "cos", "sin"):
                data = fields[name].data
                fields[name] = Array(fields[name].dtype, data[:len(data) * tokens // (tokens + 1)])
            for name, value in arrays.items():
                arrays[name] = Array(value.dtype, value.data[:len(value.data) * tokens // (tokens + 1)])
        group.case({**fields, **known, **arrays, "out_error": verify["exact_max_abs"]})
    group.write()


# ---- Python modules ------------------------------------------------------------------------------------


def module_scheme(folder, case):
    params = case["params"]
    name, base, d = params["scheme"], params.get("base"), params["rotary_dim"]
    factor = params.get("factor")
    fields = {"scheme": name, "theta": number(base) if base else None, "factor": number(factor) if factor else None}
    if "axis_dims" in params:
        dims = params["axis_dims"]
        pair_axis = [axis for axis, dim in enumerate(dims) for _ in range(dim // 2)]
        place = [j for dim in dims for j in range(dim // 2)]
        width = [dim for dim in dims for _ in range(dim // 2)]
    if name in ("default", "linear"):
        return fields
    if name == "ntk_base":
        return {**fields, "scheme": "ntk"}
    if name == "ntk_vllm":
        if params["mixed_b"] is not None:
            return {**fields, "scheme": "ntk_mixed", "ntk_exponent": number(params["mixed_b"])}
        grown = Decimal(base) * Decimal(factor)
        return custom([power(grown, Decimal(-2 * i) / d) / power(factor, Decimal(2) / d) for i in range(d // 2)])
    if name == "dynamic_ntk":
        return {**fields, "length": params["length"], "max_length": params["max_position"]}
    if name == "llama3":
        return {**fields, "low_freq_factor": number(params["low_freq_factor"]),
                "high_freq_factor": number(params["high_freq_factor"]), "original_length": params["original_context"]}
    if name == "yarn":
        factor = Decimal(factor)
        g = lambda k: 1 + Decimal("0.1") * Decimal(repr(k)) * factor.ln()
        fields.update(original_length=params["original_context"], beta_fast=number(params["beta_fast"]),
                      beta_slow=number(params["beta_slow"]), no_truncate=None if params["truncate"] else 1)
        for key in ("mscale", "mscale_all_dim"):
            if params.get(key):
                fields[key] = number(params[key])
        if params["mscale_rule"] == "attention_factor":
            magnitude = fields["attention_factor"] = number(params["attention_factor"])
        elif "attn_factor" in params:
            magnitude = fields["attention_factor"] = number(Decimal(params["attn_factor"]) * g(1))
        elif params.get("mscale") and params.get("mscale_all_dim"):
            magnitude = number(g(params["mscale"]) / g(params["mscale_all_dim"]))
        else:
            magnitude = number(g(1))
        return {**fields, "magnitude": magnitude}
    if name == "longrope":
        length = Decimal(params["original_context"])
        return {**fields, "short_factor": array("f64", params["factors"]),
                "long_factor": array("f64", params["factors"]), "original_length": params["original_context"],
                "magnitude": number((1 + Decimal(factor).ln() / length.ln()).sqrt())}
    if name == "custom":
        return {"scheme": "custom", "frequencies": array("f64", params["custom_inv_freq"])}
    if name in ("mrope", "interleaved_mrope"):
        return {"scheme": "default", "theta": number(base), **axes_fields(params["pair_axis"], params["sections"])}
    if name == "axial_restart":
        return {"scheme": "default", "theta": number(base),
                **axes_fields(pair_axis, [dim // 2 for dim in dims], restart=True)}
    if name == "axial_restart_ntk":
        bases = [Decimal(base) * power(scale, Decimal(dim) / (dim - 2))
                 for scale, dim in zip(params["axis_scale"], dims)]
        return {**custom([power(bases[a], Decimal(-2 * j) / w) for a, j, w in zip(pair_axis, place, width)]),
                **axes_fields(pair_axis)}
    if name == "axial_alternating":
        count = len(dims)
        frequencies = [power(base, Decimal(-2 * (i // count)) / dims[0]) / (factor or 1) for i in range(d // 2)]
        return {**custom(frequencies), **axes_fields([i % count for i in range(d // 2)])}
    if name == "pixel_linear":
        step = (Decimal(params["max_freq"]) / 2 - 1) / (dims[0] // 2 - 1)
        return {**custom([PI * (1 + j * step) for j in place]), **axes_fields(pair_axis)}
    if name == "pixel_log2":
        step = (Decimal(params["max_freq"]).ln() / Decimal(2).ln() - 1) / (dims[0] // 2 - 1)
        return {**custom([PI * power(2, j * step) for j in place]), **axes_fields(pair_axis)}
    if name == "dinov3":
        return {**custom([2 * PI / power(base, Decimal(2 * j) / w) for j, w in zip(place, width)]),
                **axes_fields(pair_axis)}
    if name == "ltx":  # 2 p - 1 instead of p, see pack_modules
        count, pad = d // 6, params["pad_pairs"]
        frequencies = [0] * pad + [PI / 2 * power(base, Decimal(i // 3) / (count - 1)) for i in range(3 * count)]
        return {**custom(frequencies), **axes_fields([0] * pad + [i % 3 for i in range(3 * count)])}
    raise ValueError(name)


def module_inv_freq(folder, case, fields):
    """The module's inverse frequencies in the order of the pairs, and how far they are off."""
    outputs, verify, params = case["outputs"], case["verify"], case["params"]
    pairs = params["rotary_dim"] // 2
    if "periods" in outputs:
        values = [2 * float(PI) / p for p in unpack("f32", load(folder, outputs["periods"])[2])]
        error = verify["periods_max_rel"]
    elif "inv_freq" in outputs:
        values, error = unpack("f32", load(folder, outputs["inv_freq"])[2]), verify["inv_freq_max_rel"]
    else:
        return None
    if len(values) != pairs:  # one axis of several alike
        assert fields.get("layout") == "restart" or params["scheme"] in ("pixel_linear", "pixel_log2", "dinov3"), case["id"]
        values = list(values) * (pairs // len(values))
    assert len(values) == pairs
    return values, error, "periods" in outputs


def pack_modules(folder, out):
    group = Group("modules", out)
    for case in read_cases(folder):
        params, verify, outputs = case["params"], case["verify"], case["outputs"]
        if params.get("kind") == "sinusoid":
            continue
        dtype, shape, x = load(folder, case["inputs"]["x"])
        order, batch, tokens, heads = shape_of(case["layout"]["x"], shape)
        rows = {name: load(folder, outputs[name]) for name in ("cos", "sin")}
        source = case["source"]
        bits, magnitude = bits_named(verify["bits"]["out"]), None
        used = {name: Array(*rows[name][::2]) for name in rows}
        if "cos_scaled" in outputs:  # the rows that torchscale rotates by
            used = {name: Array(*load(folder, outputs[name + "_scaled"])[::2]) for name in rows}
            bits = "eager"
        elif "scale" in outputs:
            scale = unpack("f32", load(folder, outputs["scale"])[2])
            for name in rows:
                values = unpack("f32", rows[name][2])
                assert len(values) == len(scale), case["id"]
                used[name] = array("f32", [v * s for v, s in zip(values, scale)])
            magnitude = number(max(map(abs, scale)))
        scaled = used["cos"].data != rows["cos"][2]
        fields = {
            "id": case["id"], "source": "%s %s%s, %s" % (
                source["package"], source["version"], ", torch " + source["torch"] if "torch" in source else "",
                source["function"]),
            "order": order, "batch": batch, "tokens": tokens, "heads": heads, "head_dim": params["head_dim"],
            "rotary_dim": params["rotary_dim"], "rotary_offset": params["rotary_offset"] or None,
            "pairing": case["layout"]["pairing"], "x": Array(dtype, x),
            "out": Array(*load(folder, outputs["out"])[::2]), "row_of": "token", "cos": used["cos"],
            "sin": used["sin"], "bits": bits, "scale": magnitude}
        if params.get("known_fault"):
            group.case(fields)
            continue
        if scaled:  # rows without the magnitude of xPos, for all that is not rotation
            fields.update(plain_cos=Array(*rows["cos"][::2]), plain_sin=Array(*rows["sin"][::2]))
        known = module_scheme(folder, case)
        position_type, position_shape, data = load(folder, case["inputs"]["pos"])
        positions = unpack(position_type, data)
        if len(position_shape) == 2:
            axes = position_shape[1]
            assert position_shape[0] == tokens
            positions = [positions[t * axes + a] for a in range(axes) for t in range(tokens)]
            known["axes"] = axes
        if params["scheme"] == "ltx":
            position_type, positions = "f64", [2 * p - 1 for p in positions]
        known["pos"] = array(position_type, positions)
        for name in ("exact_cos", "exact_sin", "row_bound"):
            known[name] = Array(*load(folder, verify[name])[::2])
        if not scaled:
            known["out_error"] = verify["exact_max_abs"]
        if verify.get("rows_rounded_exact_fraction") == 1:
            known["exact_rows"] = 1
        inv_freq = module_inv_freq(folder, case, known)
        if inv_freq:
            values, error, periods = inv_freq
            known.update(inv_freq=array("f64" if periods else "f32", values), inv_freq_error=error)
            if params["scheme"] == "linear":
                known["inv_freq_scale"] = number(params["factor"])
            ulp = verify.get("f32_angle_rows_max_ulp")
            if ulp is not None and case["id"] != "xt_interp3":  # which divides the rounded angle
                known["angle_ulp"] = number(ulp)
                if params["scheme"] == "linear":
                    known["angle_pos"] = array("f32", [p / params["factor"] for p in positions])
        group.case({**fields, **known})
    group.write()


# ---- Hugging Face transformers -------------------------------------------------------------------------


def hf_scheme(case, pair_freq):
    """Fields of the scheme; pair_freq are the package's own frequencies of the pairs, in f64."""
    name, d = case["scheme"], case["rotary_dim"]
    config = case.get("config_v5") or case["config"]
    config = config.get("text_config", config)
    layer = case.get("layer_type")
    block = config.get("rope_parameters") or {}
    if layer and layer in block:
        block = block[layer]
    magnitude = case["attention_factor"]
    fields = {"magnitude": number(magnitude)}
    if name in ("dynamic", "ntk_alpha", "yarn", "longrope", "llama3", "proportional"):
        if "rope_theta" not in block:
            block = config.get("rope_scaling", {}) | {"rope_theta": config["rope_theta"]}
        fields["theta"] = number(block["rope_theta"])
        limit = config.get("max_position_embeddings")
    if name == "ntk_alpha":
        fields.update(scheme="ntk", factor=number(block["alpha"]))
    elif name == "dynamic":
        fields.update(scheme="dynamic_ntk", factor=number(block["factor"]), length=case["seq_len"], max_length=limit)
    elif name == "llama3":
        fields.update(scheme="llama3", factor=number(block["factor"]),
                      low_freq_factor=number(block["low_freq_factor"]),
                      high_freq_factor=number(block["high_freq_factor"]),
                      original_length=block["original_max_position_embeddings"])
    elif name == "proportional":
        fields.update(scheme="proportional", active_pairs=int(block["partial_rotary_factor"] * case["head_dim"] // 2))
    elif name == "yarn":
        fields.update(scheme="yarn", factor=number(block["factor"]),
                      original_length=block["original_max_position_embeddings"])
        for key in ("beta_fast", "beta_slow", "mscale", "mscale_all_dim", "attention_factor"):
            if block.get(key):
                fields[key] = number(block[key])
        if block.get("truncate") is False and not layer:  # a nested one is not read by the package
            fields["no_truncate"] = 1
    elif name == "longrope":
        original = block.get("original_max_position_embeddings") or config["original_max_position_embeddings"]
        fields.update(scheme="longrope", short_factor=array("f64", block["short_factor"]),
                      long_factor=array("f64", block["long_factor"]), length=case["seq_len"], original_length=original)
        if "short_mscale" in block:  # Phi-3.5-MoE
            is_long = case["seq_len"] > original
            fields["attention_factor"] = number(block["long_mscale" if is_long else "short_mscale"])
            fields["length"] = original  # the package keeps the short list
        else:
            fields["max_length"] = limit
    else:
        # theta from the last frequency of the first axis; the reader compares all
        places = d // 2
        restart = name.startswith("axial") and case["id"] != "pixtral_vision"
        if restart:
            axes = case["axes"]
            places = len(case["axis_map"]) // axes if "axis_map" in case else 10
        factor = round(1 / pair_freq[0], 9)
        last = places - 1
        if case["id"] == "pixtral_vision":  # odd frequencies end on the last pair
            last = d // 2 - 1
        theta = round((pair_freq[last] * factor) ** (-places / last))
        fields.update(scheme="linear" if factor != 1 else "default", theta=number(theta),
                      factor=number(factor) if factor != 1 else None)
    if "axis_map" in case:
        axis = case["axis_map"]
        sections = [axis.count(a) for a in range(case["axes"])]
        if case["id"] == "pixtral_vision":
            fields.update(axes=2, layout="pixtral", pair_axis=array("i32", axis))
        elif name.startswith("axial"):
            fields.update(axes_fields(axis, sections, restart=True))
        else:
            sections = block.get("mrope_section") or config.get("rope_scaling", {}).get("mrope_section") or sections
            fields.update(axes_fields(axis, sections))
            assert "layout" in fields, case["id"]
    return fields


def to16(dtype, data):
    values = []
    for value in struct.iter_unpack("<f", data):
        word = struct.unpack("<I", struct.pack("<f", value[0]))[0]
        if dtype == "bf16":
            assert word & 0xffff == 0
            values.append(word >> 16)
        else:
            values.append(struct.unpack("<H", struct.pack("<e", value[0]))[0])
    return Array(dtype, struct.pack("<%dH" % len(values), *values))


def hf_rows(folder, case, columns):
    """cos and sin [token, pair], for the columns of the module that `columns` names"""
    result = []
    for name in ("cos", "sin"):
        _, shape, data = npy(os.path.join(folder, case[name]))
        values = unpack("f32", data)
        rows = [values[t * shape[1]:(t + 1) * shape[1]] for t in range(shape[0])]
        result.append(array("f32", [row[c] for row in rows for c in columns[0]]))
        assert len(columns) == 1 or result[-1].data == array("f32", [row[c] for row in rows for c in columns[1]]).data
    return result


def pack_hf(folder, out):
    group = Group("huggingface", out)
    cases = [case for case in read_cases(folder) if case["kind"] == "rope"]
    cases.sort(key=lambda case: (case["head_dim"], case["q_in"]))
    for case in cases:
        d = case["rotary_dim"]
        pairs = d // 2
        get = lambda key: npy(os.path.join(folder, case[key]))
        tokens, heads, head_dim = get("q_in")[1]
        pairing, chunk = case["pairing"], None
        if pairing == "custom":  # half-split in chunks
            pairing, chunk = "half", 2 * (case["pairs"][0][1] - case["pairs"][0][0])
            half = chunk // 2
            assert case["pairs"] == [[i // half * chunk + i % half, i // half * chunk + i % half + half]
                                     for i in range(pairs)]
        place = ((lambda i, part: i + part * pairs) if pairing == "half" else (lambda i, part: 2 * i + part))
        if chunk:
            place = lambda i, part: case["pairs"][i][part]
        stored64, stored32 = unpack("f64", get("inv_freq_f64")[2]), unpack("f32", get("inv_freq")[2])
        # a result that is no rotation is one rotation for x and another one for y
        parts = (None,) if case["rows"] != "custom" or chunk else (0, 1)
        for part in parts:
            if case["rows"] == "dup_half":
                columns = [[i for i in range(pairs)], [i + pairs for i in range(pairs)]]
            elif case["rows"] == "dup_pair":
                columns = [[2 * i for i in range(pairs)], [2 * i + 1 for i in range(pairs)]]
            elif case["rows"] in ("half", "complex"):
                columns = [list(range(pairs))]
            elif part is None:
                columns = [[place(i, 0) for i in range(pairs)], [place(i, 1) for i in range(pairs)]]
            else:
                columns = [[place(i, part) for i in range(pairs)]]
            cos, sin = hf_rows(folder, case, columns)
            freq_map = case.get("freq_map", range(pairs))
            if part is not None:
                component = case.get("component_freqs", [i % pairs for i in range(d)])
                freq_map = [component[place(i, part)] for i in range(pairs)]
            freq64, freq32 = [stored64[i] for i in freq_map], [stored32[i] for i in freq_map]
            if part is None:
                known = hf_scheme(case, freq64)
            else:
                known = hf_scheme(case, stored64)
                axis = [case["component_axes"][place(i, part)] for i in range(pairs)]
                known.update(axes=case["axes"], pair_axis=array("i32", axis))
                if "component_freqs" in case:
                    base = known.pop("theta")
                    del known["scheme"]
                    known.update(custom([power(base, -Decimal(i) / len(stored64)) for i in freq_map]))
            position_type, _, data = get("positions")
            positions = unpack(position_type, data)
            if "angle_scale" in case:  # 2 pi p, in f32 as the package does
                assert case["angle_scale"] == "2*pi"
                turn = struct.unpack("<f", struct.pack("<f", 2 * float(PI)))[0]
                known["angle_pos"] = array("f32", [turn * p for p in positions])
                position_type, positions = "f64", [float(2 * PI * Decimal(p)) for p in positions]
            known.update(pos=array(position_type, positions), f64_freq=array("f64", freq64),
                         inv_freq=array("f32", freq32), inv_freq_error="3.5e-15")
            if case["id"] == "roformer_base":  # made in f64
                known["exact_rows"] = 1
            else:
                known["angle_ulp"] = 1 if case["attention_factor"] == 1 else 2
            k_shape = get("k_in")[1]
            for dtype in ("f32", "bf16", "f16"):
                suffix = "" if dtype == "f32" else "_" + dtype
                if "q_out" + suffix not in case:
                    continue
                rule = case.get("arith16_rule") if dtype != "f32" else None
                bits = {"E": "eager", "F": "unfused", "G": "unfused"}.get(
                    rule, "eager" if case["eager_bits"][dtype] else "near")
                tensors = {}
                for name, key in (("x", "q_in"), ("k", "k_in")):
                    data = get(key)[2]
                    tensors[name] = Array("f32", data) if dtype == "f32" else to16(dtype, data)
                tensors["out"] = Array(dtype, get("q_out" + suffix)[2])
                tensors["k_out"] = Array(dtype, get("k_out" + suffix)[2])
                own_k = "k_head_dim" in case
                group.case({
                    "id": case["id"] + ("" if part is None else (".x", ".y")[part])
                          + ("" if dtype == "f32" else "." + dtype),
                    "source": case["source"], "order": "bthd", "batch": 1, "tokens": tokens, "heads": heads,
                    "head_dim": head_dim, "rotary_dim": d, "rotary_offset": case["rotary_offset"] or None,
                    "k_heads": k_shape[1], "k_head_dim": case["k_head_dim"] if own_k else None,
                    "k_rotary_offset": case["k_rotary_offset"] if own_k else None, "pairing": pairing,
                    "chunk": chunk, "pairing_out": case.get("out_pairing"), "part": part,
                    "direction": "transpose" if case.get("rotation_sign") == -1 else None, **tensors,
                    "row_of": "token", "cos": cos, "sin": sin, "bits": bits,
                    "row_type": dtype if rule == "G" else None, **known,
                    "angle_ulp": known.get("angle_ulp") if dtype == "f32" else None})
    group.write()


# ---- Sinusoidal embeddings and xPos, for test_sinusoid.c and test_magnitudes.c ----------------------------


def pack_sinusoid(folder, out):
    blob, seen, sources, lines = bytearray(), {}, [], []

    def put(entry, base):
        dtype, shape, data = npy(os.path.join(folder, base, entry["file"] if isinstance(entry, dict) else entry))
        if (dtype, data) not in seen:
            blob.extend(bytes(-len(blob) % 8))
            seen[dtype, data] = len(blob)
            blob.extend(data)
        return "%s:%d:%d" % (dtype, seen[dtype, data], len(data) // SIZES[dtype]), shape

    def source_number(text):
        if text not in sources:
            sources.append(text)
        return sources.index(text)

    def source_of(source):
        return source_number("%s %s on torch %s, CPU: %s" % (
            source["package"], source["version"], source["torch"], source["function"]))

    others = read_cases(os.path.join(folder, "others"))
    tables = [("others", c) for c in others if c["params"].get("kind") == "sinusoid"]
    tables += [("hf", c) for c in read_cases(os.path.join(folder, "hf")) if c["kind"] == "sinusoid"]
    for base, case in tables:
        if base == "others":
            params, source = case["params"], source_of(case["source"])
            table, positions = case["outputs"]["out"], case["inputs"]["pos"]
            amplitude, padding = params.get("scale", 1.0), params.get("padding_idx")
            shift = params["denominator"].endswith("- 1")
        else:
            params, source = case, source_number(case["source"])
            table, positions, amplitude = case["table"], case["positions"], 1.0
            padding = 1 if case["id"] == "sin_speech2text" else None
            shift = "dim / 2 - 1" in case["denominator"]
        order = params["order"]
        positions = put(positions, base)[0]
        table, shape = put(table, base)
        line = "case id=%s source=%d pairing=%s dim=%d theta=%.17g shift=%d amplitude=%.17g tokens=%d" % (
            case["id"], source, "interleaved" if order == "interleaved" else "half", params["dim"],
            params["base"], shift, amplitude, shape[0])
        line += " cos_first=1" if order == "cos_sin" else ""
        line += " axes=2" if params.get("axial") else ""
        line += " chunk=%d" % (params["dim"] // 2) if order == "timm_interleaved" else ""
        line += " padding=%d" % padding if padding is not None else ""
        line += " exact=1" if case["id"] == "sin_marian" else ""  # made in f64
        lines.append(line + " pos=%s out=%s" % (positions, table))
    for case in others:
        if "xpos" not in case["params"]:
            continue
        params, inputs, outputs = case["params"], case["inputs"], case["outputs"]
        order, batch, tokens, heads = shape_of(case["layout"]["x"], inputs["x"]["shape"])
        xpos, source = params["xpos"], source_of(case["source"])
        arrays = [put(entry, "others")[0] for entry in (inputs["pos"], inputs["x"], outputs["out"], outputs["scale"])]
        lines.append("xpos id=%s source=%d order=%s batch=%d heads=%d tokens=%d head_dim=%d pairing=%s theta=%g base=%g "
                     "center=%g sign=%d pos=%s x=%s out=%s scale=%s out_error=%.4g" % (
                         case["id"], source, order, batch, heads, tokens, params["head_dim"],
                         case["layout"]["pairing"], params["base"], xpos["scale_base"], xpos["center"],
                         xpos["sign"], *arrays, case["verify"]["exact_max_abs"]))
    with open(os.path.join(out, "sinusoid.txt"), "w", encoding="utf-8") as file:
        file.write("# Sinusoidal embeddings and xPos of other implementations, as they returned them; format in README.md.\n")
        for at, text in enumerate(sources):
            file.write("# source %d: %s\n" % (at, text))
        file.write("\n".join(lines) + "\n")
    with open(os.path.join(out, "sinusoid.bin"), "wb") as file:
        file.write(blob)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: pack.py FOLDER OUT")
    folder, out = sys.argv[1:]
    pack_onnx(os.path.join(folder, "onnx"), out)
    pack_ggml(os.path.join(folder, "ggml"), out)
    pack_modules(os.path.join(folder, "others"), out)
    pack_hf(os.path.join(folder, "hf"), out)
    pack_sinusoid(folder, out)


main()
