#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Packs outputs of Hugging Face transformers into huggingface.txt.  Usage: pack.py FOLDER > huggingface.txt
#
# FOLDER holds cases.jsonl, one JSON object a line with the fields named below, and .npy files.  The result has,
# for each case: a line `case`, the configuration in one or two forms, the axis of each pair where there are several,
# and the inverse frequencies of the pairs as hexadecimal floats, of the package's own code run in f64.
import ast
import json
import os
import struct
import sys


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    letter = {"<f8": "d", "<f4": "f", "<i8": "q"}[header["descr"]]
    body = data[10 + size:]
    return struct.unpack("<%d%s" % (len(body) // struct.calcsize(letter), letter), body)


def write(case, folder):
    name = case["inv_freq_f64"]
    freq = load(os.path.join(folder, name if isinstance(name, str) else name["file"]))
    pairs = case["rotary_dim"] // 2
    if "freq_map" in case:
        freq = [freq[i] for i in case["freq_map"]]
    freq = list(freq) * (pairs // len(freq))  # V-JEPA 2 stores one axis of three
    path = case.get("config_path", "")
    fields = {
        "id": case["id"],
        "length": case.get("seq_len", 0),
        "tower": "vision" if case["scheme"].startswith("axial") else "text",
        "path": "" if path == "(top level)" else path,
        "layer": case.get("layer_type", ""),
        "head_dim": case["head_dim"],
        "rotary_dim": case["rotary_dim"],
        "offset": case["rotary_offset"],
        "k_head_dim": case.get("k_head_dim", 0),
        "pairing": "chunks" if case["pairing"] == "custom" else case["pairing"],
        "out": case.get("out_pairing", "same"),
        "turns_back": int(case.get("rotation_sign") == -1),
        "no_rotation": int("component_axes" in case),
        "rounding": case.get("arith16_rule", "-"),
        "axes": case.get("axes", 1),
        "attention": "%.17g" % case["attention_factor"],
        "scale": 1 if "angle_scale" in case else 0,
    }
    print("case " + " ".join("%s=%s" % item for item in fields.items()))
    for form in ("config", "config_v5"):
        if form in case:
            print("json " + json.dumps(case[form], separators=(",", ":")))
    if "axis_map" in case:
        print("axis " + " ".join(str(axis) for axis in case["axis_map"]))
    print("freq " + " ".join(value.hex() for value in freq))


def main(folder):
    print("# transformers 5.23.0 on torch 2.13.0, CPU: rotary modules run with the configurations of public models.")
    print("# Packed by pack.py, which says what the lines are.")
    with open(os.path.join(folder, "cases.jsonl"), encoding="utf-8") as file:
        for line in file:
            case = json.loads(line)
            if case["kind"] == "rope":
                write(case, folder)


main(sys.argv[1])
