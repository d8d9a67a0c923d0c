#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interop_transformers.py LIBROPE.SO: models of Hugging Face transformers, rotated by librope.

Not part of CI, as it needs PyPI's torch and transformers (5 GB installed; no GPU).  Written against
torch 2.15 and transformers 5.24; other versions do if their modules of models still have the
functions apply_rotary_pos_emb and apply_rotary_pos_emb_vision.

    python3 -m venv interop && interop/bin/pip install torch transformers
    cmake -B build && cmake --build build
    interop/bin/python tests/interop_transformers.py build/librope.so

Three small models with random weights run as they are, and again with librope, called through
ctypes, in place of their rotary functions:

    Llama     grouped queries, llama3 scaling; one sequence at positions 0.., one up to 131071
    Qwen2-VL  the whole model, an image for each of two prompts: text with positions of three axes
              (the second prompt from 20000), vision tower with positions of two
    GPT-J     interleaved pairs; 48 of 128 components rotated, the library copies the others

What is checked:

eager     The library gets the model's own rows of cos and sin.  Every q and k, and so every logit,
          must have the same bits as without it, in f32 and in bf16.  The vision tower, which
          rotates in f32 and rounds once, takes ROPE_ARITH_UNFUSED, all else ROPE_ARITH_EAGER.
f32       The library makes rows from the positions with ROPE_ANGLE_F32 and the model's own f32
          inverse frequencies.  The angles are then the same f32 numbers; what differs are the last
          bits of cos and sin (torch's are good to 4 ulp, the library's to 1/2) and two roundings in
          either rotation: q and k may differ by 9 2^-24 (|x| + |y|), logits by 4 N.  N is the
          model's own rounding noise, its distance in f32 from itself in f64 with the same rows.
exact     The library makes rows from theta and the scaling alone.  q and k must be within
          3 2^-24 (|x| + |y|) of a rotation by the formulas in f64, logits within 4 N of the model
          in f64 with rows by the formulas.  The model as it is has f32 angles, which are p f 2^-24
          off and more: it may be D farther away, the distance that the change from its rows to
          those of the formulas makes in f64.
inv_freq  The model rounds exponent, power, reciprocal and scaling to f32; its frequencies may so
          differ from the library's by (8 + ln theta) 2^-24.
none      Without any rotation logits must change by more than 1000 times 4 N, or the models would
          show nothing.

In f32 and exact the model's own rows are replaced by NaN, so that none of them can get into the
result.  All distances are the greatest over all elements.  Prints a table; exits with 0 if
everything holds, else with 1."""
import copy
import ctypes
import math
import os
import sys

try:
    import torch
    import transformers
    from transformers.models.gptj import modeling_gptj
    from transformers.models.llama import modeling_llama
    from transformers.models.qwen2_vl import modeling_qwen2_vl
except ImportError as error:
    sys.exit(f"{error}; needed: pip install torch transformers")

UNIT = 2.0 ** -24

# ---- rope.h by hand.  A struct may leave off its last fields: they are read as zero -------------

DTYPES = {torch.float32: 1, torch.float64: 2, torch.float16: 3, torch.bfloat16: 4, torch.int64: 6}
SCHEME_DEFAULT, SCHEME_CUSTOM, SCHEME_LLAMA3 = 0, 2, 8
HALF, INTERLEAVED = 0, 1
ANGLE_EXACT, ANGLE_F32 = 0, 1
ARITH_FUSED, ARITH_EAGER, ARITH_UNFUSED = 0, 1, 2
ROWS_SEPARATE, ROWS_DUP_HALF = 1, 3
AXES_ONE, AXES_SECTIONS, AXES_RESTART = 0, 1, 7

ENUM, UINT32, SIZE, STRIDE = ctypes.c_int32, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_ssize_t
POINTER, DOUBLE, INT64 = ctypes.c_void_p, ctypes.c_double, ctypes.c_int64


class Struct(ctypes.Structure):
    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(self), **fields)


class Spec(Struct):
    _fields_ = [
        ("struct_size", UINT32), ("scheme", ENUM), ("head_dim", SIZE), ("rotary_dim", SIZE),
        ("rotary_offset", SIZE), ("pairing", ENUM), ("angle", ENUM), ("theta", DOUBLE),
        ("factor", DOUBLE), ("attention_factor", DOUBLE), ("inv_freq", POINTER),
        ("inv_freq_count", SIZE), ("message", POINTER), ("message_size", SIZE), ("length", SIZE),
        ("max_length", SIZE), ("original_length", SIZE), ("ntk_exponent", DOUBLE),
        ("beta_fast", DOUBLE), ("beta_slow", DOUBLE), ("mscale", DOUBLE),
        ("mscale_all_dim", DOUBLE), ("mscale_log", DOUBLE), ("low_freq_factor", DOUBLE),
        ("high_freq_factor", DOUBLE), ("short_factor", POINTER), ("long_factor", POINTER),
        ("factor_count", SIZE), ("divisors", POINTER), ("divisor_count", SIZE),
        ("active_pairs", SIZE), ("no_truncate", UINT32), ("axis_layout", ENUM), ("axes", SIZE),
        ("sections", POINTER), ("section_count", SIZE)]


class Positions(Struct):
    _fields_ = [
        ("struct_size", UINT32), ("dtype", ENUM), ("data", POINTER), ("stride_batch", STRIDE),
        ("stride_token", STRIDE), ("start", INT64), ("step", INT64)]


class Rows(Struct):
    _fields_ = [
        ("struct_size", UINT32), ("dtype", ENUM), ("layout", ENUM), ("direction", ENUM),
        ("cos", POINTER), ("sin", POINTER), ("count", SIZE), ("stride_row", STRIDE),
        ("stride_batch", STRIDE), ("message", POINTER), ("message_size", SIZE)]


class Tensor(Struct):
    _fields_ = [
        ("struct_size", UINT32), ("dtype", ENUM), ("src", POINTER), ("dst", POINTER),
        ("heads", SIZE), ("head_dim", SIZE), ("rotary_offset", SIZE),
        ("src_stride_batch", STRIDE), ("src_stride_token", STRIDE), ("src_stride_head", STRIDE),
        ("dst_stride_batch", STRIDE), ("dst_stride_token", STRIDE), ("dst_stride_head", STRIDE)]


class Job(Struct):
    _fields_ = [
        ("struct_size", UINT32), ("flags", UINT32), ("batch", SIZE), ("tokens", SIZE),
        ("q", POINTER), ("k", POINTER), ("positions", POINTER), ("rows", POINTER),
        ("direction", ENUM), ("pairing_out", ENUM), ("arith", ENUM), ("row_dtype", ENUM),
        ("rotary_dim", SIZE), ("pairing", ENUM), ("reserved", UINT32), ("message", POINTER),
        ("message_size", SIZE)]


class Library:
    def __init__(self, path):
        self._library = ctypes.CDLL(os.path.abspath(path))
        self._library.rope_plan_create.argtypes = [POINTER, POINTER]
        self._library.rope_plan_inv_freq.argtypes = [POINTER, POINTER, POINTER, SIZE]
        self._library.rope_rotate.argtypes = [POINTER, POINTER]
        for name in ("rope_active_isa", "rope_plan_create", "rope_plan_inv_freq", "rope_rotate"):
            getattr(self._library, name).restype = ENUM
        self._library.rope_version_string.restype = ctypes.c_char_p
        self._library.rope_isa_name.restype = ctypes.c_char_p
        self._message = ctypes.create_string_buffer(200)
        self._plans = []  # kept until the end of the process

    def name(self):
        isa = self._library.rope_isa_name(self._library.rope_active_isa())
        return f"librope {self._library.rope_version_string().decode()} ({isa.decode()})"

    def _call(self, name, descriptor, *arguments):
        descriptor.message = ctypes.addressof(self._message)
        descriptor.message_size = len(self._message)
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            sys.exit(f"{name}: status {status}: {self._message.value.decode()}")

    def plan(self, inv_freq=None, sections=(), **fields):
        spec = Spec(**fields)
        if inv_freq is not None:
            inv_freq = inv_freq.double().contiguous()
            spec.inv_freq, spec.inv_freq_count = inv_freq.data_ptr(), len(inv_freq)
        counts = (ENUM * len(sections))(*sections)
        if sections:
            spec.sections, spec.section_count = ctypes.addressof(counts), len(counts)
        plan = POINTER()
        self._call("rope_plan_create", spec, ctypes.byref(spec), ctypes.byref(plan))
        self._plans.append(plan)
        return plan

    def inv_freq(self, plan, pairs):
        freq = torch.empty(pairs, dtype=torch.float64)
        if self._library.rope_plan_inv_freq(plan, freq.data_ptr(), None, pairs) != 0:
            sys.exit("rope_plan_inv_freq failed")
        return freq

    def rotate(self, plan, tensors, results, positions=None, rows=None, **fields):
        """Rotates one or two tensors [batch, tokens, heads, head_dim] into the results."""
        described = [self._tensor(*pair) for pair in zip(tensors, results)] + [None]
        job = Job(batch=tensors[0].shape[0], tokens=tensors[0].shape[1],
                  q=self._address(described[0]), k=self._address(described[1]),
                  positions=self._address(positions), rows=self._address(rows), **fields)
        self._call("rope_rotate", job, plan, ctypes.byref(job))

    @staticmethod
    def _tensor(source, result):
        assert source.stride(3) == result.stride(3) == 1 and source.dtype == result.dtype
        return Tensor(dtype=DTYPES[source.dtype], src=source.data_ptr(), dst=result.data_ptr(),
                      heads=source.shape[2], head_dim=source.shape[3],
                      src_stride_batch=source.stride(0), src_stride_token=source.stride(1),
                      src_stride_head=source.stride(2), dst_stride_batch=result.stride(0),
                      dst_stride_token=result.stride(1), dst_stride_head=result.stride(2))

    @staticmethod
    def _address(value):
        return None if value is None else ctypes.addressof(value)


def stride(tensor, axis):
    """An axis of one entry serves all."""
    return 0 if tensor.shape[axis] == 1 else tensor.stride(axis)


# ---- a place where a model rotates --------------------------------------------------------------


class Site:
    """The function `function` of the module `code`, and the model's part that makes its rows.

    modes: model   as it is                        none        no rotation
           eager   librope, the model's rows       f32, exact  librope, positions
           rows64  formulas, the model's rows      exact64     formulas, positions
    """

    def __init__(self, library, code, function, embedding, pairing, rotary_dim, head_dim, inv_freq,
                 formula, pair_axis, arith=ARITH_EAGER, sections=(), axis_layout=AXES_ONE,
                 **scheme):
        self._library, self._code, self._function = library, code, function
        self._embedding = embedding  # of a model
        self._pairing, self._rotary_dim, self._head_dim = pairing, rotary_dim, head_dim
        self._inv_freq, self._formula = inv_freq, formula  # the model's, f32; true ones, f64
        self._pair_axis, self._arith, self._theta = pair_axis, arith, scheme["theta"]
        self.is_partial = rotary_dim != head_dim
        shape = dict(head_dim=head_dim, rotary_dim=rotary_dim, pairing=pairing,
                     axis_layout=axis_layout, sections=sections)
        self._plans = {
            "f32": library.plan(scheme=SCHEME_CUSTOM, inv_freq=inv_freq, angle=ANGLE_F32, **shape),
            "exact": library.plan(angle=ANGLE_EXACT, **shape, **scheme)}
        self._original = getattr(code, function)

    def frequency_error(self):
        """Greatest relative distance of inverse frequencies in 2^-24, and its limit."""
        exact = self._library.inv_freq(self._plans["exact"], self._rotary_dim // 2)
        error = ((self._inv_freq.double() - exact) / exact).abs().max().item() / UNIT
        return error, 8 + math.log(self._theta)

    def install(self, model, mode):
        self.mode = mode
        self.calls = self.elements = self.different = 0
        self.error = 0.0
        embedding = self._embedding(model)
        self._make_rows = embedding.forward
        embedding.forward = self._rows
        apply = (self._apply_gptj if self._code is modeling_gptj else
                 self._apply_vision if self._function.endswith("vision") else self._apply)
        setattr(self._code, self._function, apply)

    def remove(self, model):
        del self._embedding(model).forward
        setattr(self._code, self._function, self._original)

    # what the model calls

    def _rows(self, x, position_ids):
        positions = position_ids
        if positions.shape[-1] == 2 and positions.dim() == 2:  # vision: [tokens, axes]
            positions = positions.t()[:, None, :]
        elif positions.dim() == 2:
            positions = positions[None]
        self._positions = positions  # [axes, batch, tokens]
        rows = self._make_rows(x, position_ids)
        if self.mode in ("model", "none", "eager", "rows64"):
            return rows
        self._model_rows = rows
        return tuple(torch.full_like(row, math.nan) for row in rows)

    def _apply(self, q, k, cos, sin, unsqueeze_dim=1):
        return self._rotate((q, k), (cos, sin), (q, k, cos, sin), lambda t: t.transpose(1, 2))

    def _apply_vision(self, q, k, cos, sin):
        return self._rotate((q, k), (cos[None], sin[None]), (q, k, cos, sin), lambda t: t[None])

    def _apply_gptj(self, tensor, sin, cos):
        return self._rotate((tensor,), (cos, sin), (tensor, sin, cos), lambda t: t)[0]

    # what it gets

    def _rotate(self, tensors, rows, arguments, view):
        """view makes [batch, tokens, heads, components] of a tensor of the model's shape."""
        self.calls += 1
        if self.mode == "none":
            return tensors
        if self.mode in ("rows64", "exact64"):
            cos, sin = self._exact_rows() if self.mode == "exact64" else self._once(rows)
            results = [torch.empty_like(tensor) for tensor in tensors]
            for tensor, result in zip(tensors, results):
                view(result).copy_(self._formulas(view(tensor), cos, sin))
            return results
        if self.mode in ("f32", "exact"):
            arguments = (*arguments[:-2], *self._model_rows)
        wanted = self._original(*arguments)
        wanted = wanted if len(tensors) == 2 else (wanted,)
        if self.mode == "model":
            return wanted
        # laid out as the model's own results, for the sums that follow may depend on that
        results = [torch.empty_strided(want.shape, want.stride(), dtype=want.dtype)
                   for want in wanted]
        sources, targets = [view(t) for t in tensors], [view(t) for t in results]
        if self.is_partial:  # the model gives the first components of its heads: take whole heads
            sources = [t.as_strided((*t.shape[:3], self._head_dim), t.stride()) for t in sources]
            targets = [torch.empty_like(t) for t in sources]
        self._call_library(sources, targets, rows)
        if self.is_partial:
            for source, target, result in zip(sources, targets, results):
                self._compare_bits(target[..., self._rotary_dim:], source[..., self._rotary_dim:])
                view(result).copy_(target[..., :self._rotary_dim])
        for source, want, result in zip(sources, wanted, results):
            if self.mode == "eager":
                self._compare_bits(result, want)
            else:
                self._compare(source, view(want), view(result))
        return results

    def _call_library(self, sources, targets, rows):
        if self.mode == "eager":
            cos, sin = rows
            layout = ROWS_DUP_HALF if self._pairing == HALF else ROWS_SEPARATE
            assert cos.stride() == sin.stride() and cos.stride(2) == 1
            self._library.rotate(
                None, sources, targets, arith=self._arith, rotary_dim=self._rotary_dim,
                pairing=self._pairing,
                rows=Rows(dtype=DTYPES[cos.dtype], layout=layout, cos=cos.data_ptr(),
                          sin=sin.data_ptr(), count=cos.shape[1], stride_row=cos.stride(1),
                          stride_batch=stride(cos, 0)))
        else:
            axes = [Positions(dtype=DTYPES[axis.dtype], data=axis.data_ptr(),
                              stride_batch=stride(axis, 0), stride_token=stride(axis, 1))
                    for axis in self._positions]
            self._library.rotate(self._plans[self.mode], sources, targets,
                                 positions=(Positions * len(axes))(*axes))

    def _compare_bits(self, got, want):
        word = torch.int32 if want.dtype == torch.float32 else torch.int16
        same = got.contiguous().view(word) == want.contiguous().view(word)
        self.elements += same.numel()
        self.different += same.numel() - int(same.sum())

    def _compare(self, source, want, got):
        """error: the greatest distance in units of the size of its pair."""
        source = source[..., :self._rotary_dim].double()
        if self.mode == "exact":
            want = self._formulas(source, *self._exact_rows())
        ones = torch.ones((), dtype=torch.float64)
        size = self._formulas(source.abs(), ones, ones, sign=1.0)
        error = ((got.double() - want.double()).abs() / size).nan_to_num(nan=math.inf)
        self.error = max(self.error, error.max().item() / UNIT)

    # the formulas, in f64

    def _exact_rows(self):
        """[batch, tokens, pairs], from the positions."""
        angle = self._positions.double()[self._pair_axis].permute(1, 2, 0) * self._formula
        return angle.cos(), angle.sin()

    def _once(self, rows):
        pairs = self._rotary_dim // 2
        return tuple(row[..., :pairs].double() for row in rows)

    def _formulas(self, tensor, cos, sin, sign=-1.0):
        """x' = x c - y s, y' = y c + x s; tensor is [batch, tokens, heads, rotary_dim]."""
        if cos.dim():
            cos, sin = cos[:, :, None, :], sin[:, :, None, :]
        if self._pairing == HALF:
            x, y = tensor.double().chunk(2, -1)
            return torch.cat((x * cos + sign * y * sin, y * cos + x * sin), -1)
        x, y = tensor[..., 0::2].double(), tensor[..., 1::2].double()
        return torch.stack((x * cos + sign * y * sin, y * cos + x * sin), -1).flatten(-2)


# ---- the models ---------------------------------------------------------------------------------


def powers(theta, width):
    """theta^(-2 i / width), in f64."""
    return theta ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


class Llama:
    name = "Llama"
    tokens = 48

    def __init__(self, library):
        theta, factor, low, high, length = 500000.0, 8.0, 1.0, 4.0, 8192
        config = transformers.LlamaConfig(
            vocab_size=256, hidden_size=256, intermediate_size=512, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, head_dim=64, initializer_range=0.15,
            max_position_embeddings=131072, pad_token_id=0, bos_token_id=1, eos_token_id=2,
            rope_parameters=dict(rope_type="llama3", rope_theta=theta, factor=factor,
                                 low_freq_factor=low, high_freq_factor=high,
                                 original_max_position_embeddings=length))
        self.model = transformers.AutoModelForCausalLM.from_config(config,
                                                                   attn_implementation="sdpa")
        starts = torch.tensor([[0], [131072 - self.tokens]])
        self.inputs = dict(input_ids=torch.randint(3, 256, (2, self.tokens)),
                           position_ids=starts + torch.arange(self.tokens))
        freq = powers(theta, 64)
        turns = length * freq / (2 * math.pi)  # within the length of the training
        kept = ((turns - low) / (high - low)).clamp(0, 1)
        self.sites = {"text": Site(
            library, modeling_llama, "apply_rotary_pos_emb", lambda model: model.model.rotary_emb,
            HALF, 64, 64, self.model.model.rotary_emb.inv_freq,
            (1 - kept) * freq / factor + kept * freq, torch.zeros(32, dtype=torch.long),
            scheme=SCHEME_LLAMA3, theta=theta, factor=factor, low_freq_factor=low,
            high_freq_factor=high, original_length=length)}
        self.calls = {"text": 2}


class Qwen2VL:
    name = "Qwen2-VL"

    def __init__(self, library):
        theta, sections = 1000000.0, (16, 24, 24)
        image, start, end = 250, 251, 252
        rows, columns = 8, 12  # patches, two by two a token
        config = transformers.Qwen2VLConfig(
            text_config=dict(
                vocab_size=256, hidden_size=256, intermediate_size=512, num_hidden_layers=2,
                num_attention_heads=2, num_key_value_heads=1, initializer_range=0.15,
                bos_token_id=1, eos_token_id=2,
                rope_parameters=dict(rope_type="default", rope_theta=theta,
                                     mrope_section=list(sections))),
            vision_config=dict(depth=2, embed_dim=128, hidden_size=256, num_heads=4, patch_size=4,
                               initializer_range=0.15),
            image_token_id=image, video_token_id=253, vision_start_token_id=start,
            vision_end_token_id=end)
        self.model = transformers.AutoModelForImageTextToText.from_config(
            config, attn_implementation="sdpa")
        height, width = rows // 2, columns // 2
        input_ids = torch.randint(3, 200, (2, 10 + height * width))
        input_ids[:, 4] = start
        input_ids[:, 5:5 + height * width] = image
        input_ids[:, 5 + height * width] = end
        # text counts on all axes; the image has one time and goes on from its larger side
        grid = torch.stack(torch.meshgrid(torch.zeros(1, dtype=torch.long), torch.arange(height),
                                          torch.arange(width), indexing="ij")).flatten(1) + 5
        before, after = torch.arange(5), torch.arange(5) + 5 + max(height, width)
        positions = torch.cat((before.expand(3, -1), grid, after.expand(3, -1)), -1)
        self.inputs = dict(
            input_ids=input_ids,
            position_ids=positions[:, None] + torch.tensor([0, 20000])[None, :, None],
            pixel_values=torch.randn(2 * rows * columns, 3 * 2 * 4 * 4),
            image_grid_thw=torch.tensor([[1, rows, columns]] * 2))

        def tower(model):
            return model.model.visual.rotary_pos_emb

        def text(model):
            return model.model.language_model.rotary_emb

        vision_freq = tower(self.model).inv_freq
        self.sites = {
            "text": Site(library, modeling_qwen2_vl, "apply_rotary_pos_emb", text, HALF, 128, 128,
                         text(self.model).inv_freq, powers(theta, 128),
                         torch.tensor([0] * 16 + [1] * 24 + [2] * 24), sections=sections,
                         axis_layout=AXES_SECTIONS, scheme=SCHEME_DEFAULT, theta=theta),
            "vision": Site(library, modeling_qwen2_vl, "apply_rotary_pos_emb_vision", tower, HALF,
                           32, 32, torch.cat((vision_freq, vision_freq)),
                           powers(10000.0, 16).repeat(2), torch.tensor([0] * 8 + [1] * 8),
                           arith=ARITH_UNFUSED, sections=(8, 8), axis_layout=AXES_RESTART,
                           scheme=SCHEME_DEFAULT, theta=10000.0)}
        self.calls = {"text": 2, "vision": 2}


class GPTJ:
    name = "GPT-J"
    tokens = 48

    def __init__(self, library):
        config = transformers.GPTJConfig(
            vocab_size=256, n_positions=2048, n_embd=256, n_layer=2, n_head=2, rotary_dim=48,
            initializer_range=0.15, bos_token_id=1, eos_token_id=2)
        self.model = transformers.AutoModelForCausalLM.from_config(config,
                                                                   attn_implementation="sdpa")
        starts = torch.tensor([[0], [2048 - self.tokens]])
        self.inputs = dict(input_ids=torch.randint(3, 256, (2, self.tokens)),
                           position_ids=starts + torch.arange(self.tokens))
        # the model keeps only rows; their frequencies are made in f32 so
        inv_freq = 1.0 / (10000 ** (torch.arange(0, 48, 2) / 48))
        self.sites = {"text": Site(
            library, modeling_gptj, "apply_rotary_pos_emb",
            lambda model: model.transformer.rotary_emb, INTERLEAVED, 48, 128, inv_freq,
            powers(10000.0, 48), torch.zeros(24, dtype=torch.long), scheme=SCHEME_DEFAULT,
            theta=10000.0)}
        self.calls = {"text": 4}  # q and k are rotated by a call each


def in_type(model, dtype):
    """The model in another type; what is not a weight stays as it is, as in a loaded one."""
    result = copy.deepcopy(model).to(dtype)
    for before, after in zip(model.modules(), result.modules()):
        after._buffers.update(before._buffers)
        if dtype == torch.float64 and hasattr(before, "variance_epsilon"):
            after.forward = root_mean_square(after)  # transformers' own goes through f32
    return result


def root_mean_square(module):
    """The forward function of a norm, in the type of its input."""
    return lambda x: module.weight * x * (x.square().mean(-1, keepdim=True) +
                                          module.variance_epsilon).rsqrt()


def run(case, model, mode):
    """Logits."""
    inputs = dict(case.inputs)
    if "pixel_values" in inputs:
        inputs["pixel_values"] = inputs["pixel_values"].to(model.dtype)
    for site in case.sites.values():
        site.install(model, mode)
    with torch.no_grad():
        logits = model(**inputs, use_cache=False).logits
    for name, site in case.sites.items():
        site.remove(model)
        if site.calls != case.calls[name]:
            sys.exit(f"{case.name}: {site.calls} rotations in {name}, not {case.calls[name]}")
    return logits


# ---- the checks ---------------------------------------------------------------------------------


class Table:
    LINE = "{:9} {:5} {:9} {:44} {:>12} {:>12}  {}"

    def __init__(self):
        self.failures = 0
        print(self.LINE.format("model", "type", "mode", "what", "found", "limit", ""))

    def add(self, case, dtype, mode, what, found, limit, least=False):
        good = found >= limit if least else found <= limit
        self.failures += not good
        found, limit = (str(n) if isinstance(n, int) else f"{n:.3g}" for n in (found, limit))
        print(self.LINE.format(case.name, dtype, mode, what, found, ">= " * least + limit,
                               "ok" if good else "FAILS"), flush=True)


def distance(one, other):
    return (one.double() - other.double()).abs().nan_to_num(nan=math.inf).max().item()


def check_eager(table, case, model, dtype):
    plain = run(case, model, "model")
    ours = run(case, model, "eager")
    for name, site in case.sites.items():
        table.add(case, dtype, "eager", f"{name}: q, k with other bits, of {site.elements}",
                  site.different, 0)
    word = torch.int32 if plain.dtype == torch.float32 else torch.int16
    table.add(case, dtype, "eager", f"logits with other bits, of {plain.numel()}",
              int((plain.contiguous().view(word) != ours.contiguous().view(word)).sum()), 0)


def check_positions(table, case, model):
    plain = run(case, model, "model")
    wide = in_type(model, torch.float64)
    same_rows, formulas = run(case, wide, "rows64"), run(case, wide, "exact64")
    noise, angles = distance(plain, same_rows), distance(same_rows, formulas)
    tolerance = 4 * noise

    for name, site in case.sites.items():
        table.add(case, "f32", "inv_freq", f"{name}: model's from library's, 2^-24 relative",
                  *site.frequency_error())
    logits = run(case, model, "f32")
    for name, site in case.sites.items():
        table.add(case, "f32", "f32", f"{name}: q, k from model's, 2^-24 (|x| + |y|)",
                  site.error, 9)
        if site.is_partial:
            table.add(case, "f32", "f32", f"{name}: other components changed, of {site.elements}",
                      site.different, 0)
    table.add(case, "f32", "f32", "logits from model's, limit 4 N", distance(logits, plain),
              tolerance)
    logits = run(case, model, "exact")
    for name, site in case.sites.items():
        table.add(case, "f32", "exact", f"{name}: q, k from formulas, 2^-24 (|x| + |y|)",
                  site.error, 3)
    table.add(case, "f32", "exact", "logits from formulas in f64, limit 4 N",
              distance(logits, formulas), tolerance)
    table.add(case, "f32", "exact", "logits from model's, limit D + 4 N", distance(logits, plain),
              angles + tolerance)
    table.add(case, "f32", "none", "logits from model's, limit 1000 x 4 N",
              distance(run(case, model, "none"), plain), 1000 * tolerance, least=True)
    print(f"{case.name}: logits up to {plain.abs().max().item():.3g}, N = {noise:.2g}, "
          f"D = {angles:.2g}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    torch.set_num_threads(1)
    library = Library(sys.argv[1])
    print(f"{library.name()}, torch {torch.__version__}, transformers {transformers.__version__}")
    table = Table()
    for number, kind in enumerate((Llama, Qwen2VL, GPTJ)):
        torch.manual_seed(number)
        case = kind(library)
        model = case.model.eval()
        check_eager(table, case, model, "f32")
        check_eager(table, case, in_type(model, torch.bfloat16), "bf16")
        check_positions(table, case, model)
    print(f"{table.failures} of the above fail" if table.failures else "all of it holds")
    return table.failures != 0


if __name__ == "__main__":
    sys.exit(main())
