#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rope permute against transformers.  Not part of CI: it needs PyTorch.

    pip install torch transformers safetensors
    python3 tests/interop_permute.py BUILD/rope

Makes small models with random weights: Llama with GQA, Qwen3 with normalised heads, Phi-3 with a fused projection and
GPT-NeoX with another and a partly rotated head.  Saves each, as one file and as shards, converts the checkpoint from
half to interleaved by the tool, and loads the result into the same class of transformers with its rotation replaced by
one of neighbouring elements.  The logits of random tokens must be equal to within the rounding of a different order of
sums (1e-5 of the largest), and must be far off without the conversion, so that the comparison can fail.  Back again the
files must be the original bytes."""
import filecmp
import glob
import importlib
import os
import subprocess
import sys
import tempfile

import torch
import transformers

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()


def interleaved(x):
    """The rotation by 90 degrees of neighbours, where that of transformers is of halves."""
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def with_neighbours(module):
    """Gives a module of transformers the interleaved rotation; returns what undoes it."""
    original = module.rotate_half, module.apply_rotary_pos_emb

    def neighbours(table):  # [v | v] becomes v0 v0 v1 v1 ...
        return table[..., :table.shape[-1] // 2].repeat_interleave(2, dim=-1)

    def apply(q, k, cos, sin, *rest, **more):
        return original[1](q, k, neighbours(cos), neighbours(sin), *rest, **more)

    module.rotate_half, module.apply_rotary_pos_emb = interleaved, apply

    def undo():
        module.rotate_half, module.apply_rotary_pos_emb = original

    return undo


SMALL = dict(vocab_size=64, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4,
             max_position_embeddings=256)
MODELS = [
    ("llama", transformers.LlamaConfig(**SMALL, num_key_value_heads=2, attention_bias=True)),
    ("qwen3", transformers.Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=32)),
    ("phi3", transformers.Phi3Config(**SMALL, num_key_value_heads=2, pad_token_id=0)),
    ("gpt_neox", transformers.GPTNeoXConfig(**SMALL, rotary_pct=0.25)),
]


def logits(directory, tokens):
    model = transformers.AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32,
                                                              attn_implementation="eager")
    with torch.no_grad():
        return model.eval()(tokens).logits


def permute(rope, source, target, config, ways):
    subprocess.run([rope, "permute", source, target, "--config", config, "--from", ways[0], "--to", ways[1]], check=True,
                   stdout=subprocess.DEVNULL)


def run(rope, name, config, shards):
    failures = []
    with tempfile.TemporaryDirectory() as work:
        before, after, back = (os.path.join(work, part) for part in ("before", "after", "back"))
        torch.manual_seed(7)
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
        for parameter in model.parameters():  # biases and normalisations too
            parameter.data += 0.2 * torch.randn_like(parameter)
        model.save_pretrained(before, max_shard_size="60KB" if shards else "5GB")
        for directory in (after, back):
            os.mkdir(directory)
            for file in glob.glob(before + "/*config.json"):
                with open(file, "rb") as source, open(os.path.join(directory, os.path.basename(file)), "wb") as target:
                    target.write(source.read())
        file = "model.safetensors" + (".index.json" if shards else "")
        if not os.path.exists(os.path.join(before, file)):
            return [f"{name}: transformers has written no {file}"]
        permute(rope, f"{before}/{file}", f"{after}/{file}", f"{before}/config.json", ("half", "interleaved"))
        permute(rope, f"{after}/{file}", f"{back}/{file}", f"{before}/config.json", ("interleaved", "half"))
        for path in glob.glob(before + "/*.safetensors*"):
            if not filecmp.cmp(path, os.path.join(back, os.path.basename(path)), shallow=False):
                failures.append(f"{name}: {os.path.basename(path)}: other bytes after both ways")

        tokens = torch.randint(1, 64, (2, 40))
        expected = logits(before, tokens)
        undo = with_neighbours(importlib.import_module(f"transformers.models.{name}.modeling_{name}"))
        try:
            largest = expected.abs().max()
            error = ((logits(after, tokens) - expected).abs().max() / largest).item()
            unconverted = ((logits(before, tokens) - expected).abs().max() / largest).item()
        finally:
            undo()
        print(f"{name}{' in shards' if shards else ''}: {error:.1e} converted, {unconverted:.1e} not converted")
        if not error < 1e-5:
            failures.append(f"{name}: logits differ by {error}")
        if not unconverted > 1e-3:
            failures.append(f"{name}: logits do not depend on the pairing: this proves nothing")
    return failures


def main():
    rope = os.path.abspath(sys.argv[1])
    failures = [line for name, config in MODELS for shards in (False, True) for line in run(rope, name, config, shards)]
    print("\n".join(failures) or "all as expected")
    return len(failures) != 0


if __name__ == "__main__":
    sys.exit(main())
