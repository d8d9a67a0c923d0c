/* SPDX-License-Identifier: Apache-2.0 */
/*
 * librope: exact rotary position embeddings (RoPE) for inference runtimes.
 *
 * This file is the whole interface of the core library.  It needs only <stddef.h> and <stdint.h>
 * and is valid C99, C11 and C++11.
 *
 * MEANING.  H is head_dim, d rotary_dim, i a pair index 0..d/2-1, f_i the inverse frequency of
 * pair i in radians per position, p a position, m the attention factor.  With a = p f_i,
 * c = m cos a and s = m sin a every pair (x, y) of the rotated slice becomes
 *
 *     x' = x c - y s        y' = y c + x s
 *
 *     half-split  (GPT-NeoX, Hugging Face):  x = v[offset + i],    y = v[offset + i + d/2]
 *     interleaved (GPT-J, complex numbers):  x = v[offset + 2 i],  y = v[offset + 2 i + 1]
 *
 * Components outside the slice are copied (out of place) or not touched (in place); m never scales
 * them.  A pair of frequency 0 passes through untouched, NaN and -0 included, where its row comes
 * from a position and nothing but the angle acts on it (m = 1, the pairing kept).
 * Sources: Su et al., RoFormer, arXiv:2104.09864, section 3.2 (interleaved); Black et al.,
 * GPT-NeoX-20B, arXiv:2204.06745, section 2.1.1 (half-split).
 *
 * NUMERICS.
 * - Rows (cos, sin) are those of the true angle for every integer |p| < 2^31.  An f32, f16 or bf16
 *   entry is off by at most 1/2 ulp + 4e-16 |m| (8e-16 |m| for |p| >= 2^20), an f64 entry by at
 *   most 1 ulp or 4e-16 |m|, whichever is larger.  Fractional positions have the same bounds.
 *   tests/accuracy.c measures them against MPFR.
 * - f32, f16 and bf16 data are rotated in f32 and rounded once, to nearest even, on store; f64 data
 *   are rotated in f64.  One placement of fma: x' = fma(x, c, -(y s)), y' = fma(x, s, y c).
 * - One call gives the same bits on every instruction set, for any alignment, stride, batch shape
 *   and split of the work, in place and out of place.  Where a result is NaN only that it is NaN is
 *   promised.  One exception: on an x86 CPU without FMA f64 rows, and rows of fractional positions
 *   and of ROPE_ANGLE_F32, may differ in the last bit of the f64 value that they are rounded from.
 * - The host's floating-point settings are after a call as before; of the status flags finite data
 *   in range raise inexact and underflow alone.  Plans are the same whatever is set.  Rotations and
 *   tables keep their bounds and their equal bits in round-to-nearest mode; in the other modes they
 *   are off by up to 4 (f64: 64) units in the last place of the largest result, with ROPE_ANGLE_F32
 *   by what its f32 angles are.  Where the host has set flush-to-zero or denormals-are-zero,
 *   subnormal f32, f64 and bf16 values count as zero; nothing else changes.
 *
 * THREADS.  A plan never changes after its creation: any number of threads may use it at once.  The
 * library creates no thread, holds no lock, keeps no state of its own but the choice of the
 * instruction set (made once), and after rope_plan_create neither allocates nor calls the system
 * (rope_self_test, which is for the start of a program, allocates while it runs).
 * It never prints and never aborts.  A forked child may use the plans of its parent, even if other
 * threads were in a call.  16 KiB of stack are enough for every call.
 *
 * DESCRIPTORS.  Each struct starts with struct_size, its size as the caller compiled it (the *_INIT
 * macros fill it in).  Fields are only ever appended, and zero always means "default": a shorter
 * struct of an older caller is read as if the rest were zero; a longer one of a newer caller is
 * accepted when the bytes that this library does not know are zero, else it is ROPE_ERR_STRUCT.
 *
 * Sizes and strides count elements, not bytes; strides may be negative; the last dimension is
 * contiguous.  Data pointers need the alignment of their element type only.
 *
 * On any status but ROPE_OK nothing has been written except, if the descriptor names a message
 * buffer, one NUL-terminated line in it that says the field, its value and the rule, cut to fit.
 */
#ifndef ROPE_ROPE_H
#define ROPE_ROPE_H

#include <stddef.h>
#include <stdint.h>

/* Version of this header; rope_version() tells that of the library. */
#define ROPE_VERSION_MAJOR 1
#define ROPE_VERSION_MINOR 0
#define ROPE_VERSION_PATCH 0

#if defined(ROPE_STATIC)
#define ROPE_API
#elif defined(_WIN32)
#if defined(ROPE_BUILDING)
#define ROPE_API __declspec(dllexport)
#else
#define ROPE_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define ROPE_API __attribute__((visibility("default")))
#else
#define ROPE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Enumerations: int32_t, so that their size is the same for every compiler --------------- */

/* Result of a call.  Numbers are never reused. */
typedef int32_t rope_status;
enum {
    ROPE_OK = 0,
    /* a required pointer is NULL */
    ROPE_ERR_NULL = -1,
    /* struct_size is too small, or unknown trailing bytes are not zero */
    ROPE_ERR_STRUCT = -2,
    /* a field has a value outside its rule, or two fields contradict each other */
    ROPE_ERR_VALUE = -3,
    /* a dtype that does not exist or does not fit here */
    ROPE_ERR_DTYPE = -4,
    /* counts and strides describe more memory than addresses can reach */
    ROPE_ERR_SIZE = -5,
    /* strides make elements of one destination overlap */
    ROPE_ERR_STRIDE = -6,
    /* a destination overlaps another operand in a way that is not "in place" */
    ROPE_ERR_ALIAS = -7,
    /* a position is not finite or not inside -2^31 < p < 2^31 */
    ROPE_ERR_POSITION = -8,
    /* a row number is outside the caller's rows, or a duplicated row is not one */
    ROPE_ERR_ROW = -9,
    /* ROPE_ISA in the environment names no set, or one that this CPU or build does not have */
    ROPE_ERR_ISA = -10,
    /* allocation failed; only where a plan is created, and in rope_self_test */
    ROPE_ERR_MEMORY = -11,
    /* an instruction set computes other bits than it must; only rope_self_test.  Since 1.0 */
    ROPE_ERR_DIFFERENCE = -12
};

/* Element types.  f16 is IEEE binary16, bf16 the upper half of binary32, both in 16-bit words. */
typedef int32_t rope_dtype;
enum { ROPE_F32 = 1, ROPE_F64 = 2, ROPE_F16 = 3, ROPE_BF16 = 4, ROPE_I32 = 5, ROPE_I64 = 6 };

/* Which components of the rotated slice form pair i: see the top of this file. */
typedef int32_t rope_pairing;
enum { ROPE_HALF = 0, ROPE_INTERLEAVED = 1 };

/* Pairing of the result.  DeepSeek-V3 reads interleaved and leaves half-split. */
typedef int32_t rope_pairing_out;
enum { ROPE_OUT_SAME = 0, ROPE_OUT_HALF = 1, ROPE_OUT_INTERLEAVED = 2 };

/*
 * Where the inverse frequencies come from.  e_i = theta^(-2 i / d), s = factor, n = length,
 * M = max_length, L = original_length.  Fields that a scheme does not read must be zero.
 */
typedef int32_t rope_scheme;
enum {
    /* f_i = e_i.  RoFormer, arXiv:2104.09864, section 3.3 */
    ROPE_SCHEME_DEFAULT = 0,
    /* f_i = e_i / s.  Position interpolation: Chen et al., arXiv:2306.15595 */
    ROPE_SCHEME_LINEAR = 1,
    /* f_i = inv_freq[i] */
    ROPE_SCHEME_CUSTOM = 2,
    /* theta' = theta s^(d / (d - 2)), d > 2.  "NTK-aware"; Hunyuan calls s alpha */
    ROPE_SCHEME_NTK = 3,
    /* f_i = e_i / exp(a (i + 1)^b), a = ln s / (d/2)^b, b = ntk_exponent.  vLLM: mixed_b */
    ROPE_SCHEME_NTK_MIXED = 4,
    /* theta' = theta (s n / M - (s - 1))^(d / (d - 2)) where n > M, else theta; d > 2 */
    ROPE_SCHEME_DYNAMIC_NTK = 5,
    /* e_i blended with e_i / s along a ramp of pairs.  YaRN, arXiv:2309.00071, section 3.2 */
    ROPE_SCHEME_YARN = 6,
    /* f_i = e_i / long_factor[i] where n > L, else e_i / short_factor[i].  arXiv:2402.13753 */
    ROPE_SCHEME_LONGROPE = 7,
    /* e_i blended with e_i / s by its wavelength against L.  Llama 3.1 */
    ROPE_SCHEME_LLAMA3 = 8,
    /* f_i = theta^(-2 i / H) / s for i < active_pairs, else 0.  Gemma 4 */
    ROPE_SCHEME_PROPORTIONAL = 9,
    /* f_i = position_scale theta^(-i / (d/2 - shift)): sinusoidal embeddings, rope_sinusoid_add */
    ROPE_SCHEME_SINUSOID = 10
};

/* How the angle is formed. */
typedef int32_t rope_angle;
enum {
    /* the true angle p f_i */
    ROPE_ANGLE_EXACT = 0,
    /* f_i and p rounded to f32, their product rounded to f32, then its exact cos and sin (times m):
       the angle that Hugging Face checkpoints were trained with */
    ROPE_ANGLE_F32 = 1
};

/* Which rotation is applied; R(a) is the rotation by angle a. */
typedef int32_t rope_direction;
enum {
    /* m R(a) */
    ROPE_FORWARD = 0,
    /* R(-a) / m: undoes forward */
    ROPE_INVERSE = 1,
    /* m R(-a): the gradient */
    ROPE_TRANSPOSE = 2,
    /* R(a), positions being differences: re-rotates a cached key, which carries its m already */
    ROPE_SHIFT = 3
};

/* Arithmetic of the rotation. */
typedef int32_t rope_arith;
enum {
    /* f32 (f64 for f64 data) with the placement of fma above, rounded once on store */
    ROPE_ARITH_FUSED = 0,
    /* rows rounded to the tensor's type, then each product and the sum rounded to it: the bits of
       PyTorch eager from the same cos and sin */
    ROPE_ARITH_EAGER = 1,
    /* each product and the sum rounded to f32 (f64 for f64 data), rounded once on store: the bits
       of models that take 16-bit data through f32; with row_dtype, of those that round their rows
       first */
    ROPE_ARITH_UNFUSED = 2
};

/* Layout of rows of cos and sin; n = d/2 entries of each. */
typedef int32_t rope_rows_layout;
enum {
    /* one array, row = [cos 0..n-1 | sin 0..n-1].  vLLM, FlashInfer */
    ROPE_ROWS_PACKED = 0,
    /* two arrays, row = n entries each.  ONNX */
    ROPE_ROWS_SEPARATE = 1,
    /* one array, row = cos 0, sin 0, cos 1, sin 1, ...  TensorRT-LLM; complex numbers */
    ROPE_ROWS_PAIRS = 2,
    /* two arrays, row = d entries [v | v].  Hugging Face, half-split */
    ROPE_ROWS_DUP_HALF = 3,
    /* two arrays, row = d entries v0, v0, v1, v1, ...  Hugging Face, interleaved */
    ROPE_ROWS_DUP_PAIRS = 4
};

/*
 * Positions of several axes: pair i has the angle p[axis(i)] f[freq(i)], freq(i) = i where nothing
 * is said.  Sections are numbers of pairs, none negative; they sum to d/2, for ggml to 1..d/2.
 */
typedef int32_t rope_axis_layout;
enum {
    /* one axis; with pair_axis and pair_freq the caller's own maps */
    ROPE_AXES_ONE = 0,
    /* sections[0] pairs of axis 0, then sections[1] of axis 1, ...  Qwen2-VL, GLM-4V; Hunyuan XD */
    ROPE_AXES_SECTIONS = 1,
    /* t, h, w: axis 1 where i % 3 = 1 and i < 3 sections[1], axis 2 where i % 3 = 2 and
       i < 3 sections[2], else axis 0.  Qwen3-VL */
    ROPE_AXES_INTERLEAVED = 2,
    /* ggml MROPE: the section that i mod the sum of the 4 sections falls in */
    ROPE_AXES_GGML_MROPE = 3,
    /* ggml IMROPE: over i mod the sum of the 4 sections as INTERLEAVED, axis 0 too only where
       i < 3 sections[0]; what is left takes axis 3 */
    ROPE_AXES_GGML_IMROPE = 4,
    /* sections h, w (equal) and t: the first 2 h pairs alternate axis 1 and 2, the rest is axis 0.
       Ernie 4.5-VL */
    ROPE_AXES_ERNIE = 5,
    /* each pair goes to the axis that has had the smallest share of its section, never twice the
       same in a row if another is left; of three axes axis 0 keeps the last pair.  openPangu */
    ROPE_AXES_CYCLIC = 6,
    /* as SECTIONS, but frequencies start again for each axis: place j of a section of n pairs has
       theta^(-2 j / (2 n)).  Schemes DEFAULT, LINEAR, NTK; CUSTOM lists them in the order of the
       pairs.  Vision towers of Qwen2-VL, Llama 4 and Gemma 4, Flux, Wan, Hunyuan video */
    ROPE_AXES_RESTART = 7,
    /* axis 0 with freq(i) = 2 i for i < d/4; then axis 1 with freq(i) = 2 (i - d/4) + 1.
       Pixtral */
    ROPE_AXES_PIXTRAL = 8,
    /* ggml VISION: axis as GGML_MROPE; place j of its section has theta^(-4 j / d) */
    ROPE_AXES_GGML_VISION = 9
};
enum { ROPE_AXES_MAX = 8 };

/* Instruction sets. */
typedef int32_t rope_isa;
enum {
    ROPE_ISA_NONE = 0,
    ROPE_ISA_SCALAR = 1,
    ROPE_ISA_AVX2 = 2,
    ROPE_ISA_AVX512 = 3,
    ROPE_ISA_NEON = 4
};

/* ---- The plan: how positions become angles --------------------------------------------------- */

/* A validated rotation, immutable, with its tables: 1.3 MiB per 32 pairs at any context length. */
typedef struct rope_plan rope_plan;

/* What a plan is made of.  All of it is read by rope_plan_create, nothing kept by reference. */
typedef struct rope_spec {
    uint32_t struct_size; /* sizeof(rope_spec) */
    rope_scheme scheme;   /* ROPE_SCHEME_* */
    /* H, elements of a head: >= 2; may be odd when rotary_dim is not */
    size_t head_dim;
    /* d, rotated elements: even, 2..min(4096, H - rotary_offset); 0 = H - rotary_offset */
    size_t rotary_dim;
    /* first rotated element of a head: 0 for most models, 128 for queries of DeepSeek's MLA */
    size_t rotary_offset;
    rope_pairing pairing; /* ROPE_HALF or ROPE_INTERLEAVED */
    rope_angle angle;     /* ROPE_ANGLE_EXACT or ROPE_ANGLE_F32 */
    /* base, finite and > 0, for YARN > 1; 0 = 10000.  CUSTOM: 0 */
    double theta;
    /* s, finite and > 0: LINEAR, NTK, NTK_MIXED, DYNAMIC_NTK, LLAMA3.  YARN, LONGROPE: or 0 with
       max_length, for M / L in f64; neither is needed by LONGROPE with attention_factor.
       PROPORTIONAL: 0 = 1.  Above 1 it lengthens the context.  DEFAULT, CUSTOM: 0 */
    double factor;
    /* m, finite and > 0; 0 = what the scheme says: YARN see mscale, LONGROPE
       sqrt(1 + ln s / ln L) (1 if s <= 1), else 1 */
    double attention_factor;
    /* CUSTOM: d/2 inverse frequencies in radians per position, finite.  Others: NULL */
    const double *inv_freq;
    size_t inv_freq_count; /* CUSTOM: exactly d/2.  Others: 0 */
    char *message;         /* receives one line on error; may be NULL */
    size_t message_size;   /* bytes at message */
    /* n, tokens of the sequence, highest position + 1: DYNAMIC_NTK (theta itself where n <= M),
       LONGROPE (the short list where n <= L).  0 = a short one.  Lengths are at most 2^53 */
    size_t length;
    /* M, max_position_embeddings: DYNAMIC_NTK, > 0; YARN and LONGROPE where factor is 0, else 0 */
    size_t max_length;
    /* L, tokens that the model was trained on, > 0: YARN, LONGROPE (where m divides by ln L > 1),
       LLAMA3 */
    size_t original_length;
    /* b of NTK_MIXED, finite and > 0; 0 = 1 */
    double ntk_exponent;
    /* YARN: a pair that turns beta_fast times over L or more is left alone, one that turns
       beta_slow times or less is interpolated; finite, > 0, slow <= fast; 0 = 32 and 1.  With
       c(b) = d ln(L / (2 pi b)) / (2 ln theta) the ramp goes from pair max(floor c(beta_fast), 0)
       to min(ceil c(beta_slow), d - 1), 0.001 farther where these are equal; ending before it
       begins (L too small, theta too small) is an error */
    double beta_fast;
    double beta_slow;
    /* YARN: m = g(mscale) / g(mscale_all_dim) where both are given (not 0), else g(1);
       g(k) = 1 + mscale_log k ln s, or 1 if s <= 1; mscale_log 0 = 0.1 (TeleChat 3 has 0.07).
       Finite, > 0; mscale alone changes nothing, as in transformers */
    double mscale;
    double mscale_all_dim;
    double mscale_log;
    /* LLAMA3: a pair that turns high_freq_factor times over L or more is kept, one that turns
       low_freq_factor times or less is divided by s; 0 < low <= high, equal is a step */
    double low_freq_factor;
    double high_freq_factor;
    /* LONGROPE: d/2 divisors each, finite and > 0 */
    const double *short_factor;
    const double *long_factor;
    size_t factor_count; /* exactly d/2 */
    /* DEFAULT, LINEAR, YARN: e_i is divided by these before anything else; > 0, infinity gives
       frequency 0.  GGUF's rope_freqs.  NULL = none */
    const double *divisors;
    size_t divisor_count; /* exactly d/2 with divisors, else 0 */
    /* PROPORTIONAL: 1..d/2, of models floor(partial_rotary_factor H / 2).  d must be H */
    size_t active_pairs;
    /* YARN: 1 = the ends of the ramp are not rounded to whole pairs (gpt-oss) */
    uint32_t no_truncate;
    rope_axis_layout axis_layout; /* ROPE_AXES_* */
    /* ONE: 1..8 axes, 0 = 1.  Other layouts: 0, or the number that they imply: the sections for
       SECTIONS, CYCLIC, RESTART, 3 for INTERLEAVED and ERNIE, 4 for ggml, 2 for PIXTRAL */
    size_t axes;
    /* pairs of each axis, as the layout says; ONE, PIXTRAL: NULL and 0 */
    const int32_t *sections;
    size_t section_count;
    /* ONE: axis (0..axes-1) and frequency (0..d/2-1) of each of the d/2 pairs; NULL = axis 0 and i.
       Other layouts: NULL */
    const int32_t *pair_axis;
    const int32_t *pair_freq;
    /* half-split within chunks of this many elements: even, a divisor of d.  Pair i is
       x = chunk c + i % (chunk / 2), y = x + chunk / 2, c = i / (chunk / 2).  0 = d.  Gemma 4
       vision */
    size_t pairing_chunk;
    /* SINUSOID: finite, 0 <= shift < d/2.  0: Vaswani, ggml; 1: Whisper, fairseq; 0.5: an odd width
       whose last frequency has no cosine.  Others: 0 */
    double shift;
    /* SINUSOID: finite and > 0, multiplies positions; 0 = 1.  Others: 0 */
    double position_scale;
    /* xPos: S, finite and > 0; 0 = none.  At position p the row of pair i is multiplied by
       z_i^((p - xpos_center) / S) for q and divided by it for k, z_i = (2 i / d + g) / (1 + g), g =
       xpos_gamma (0 = 0.4).  One axis only.  Entries are off by at most 1/2 ulp (f64: 1 ulp) +
       1.2e-15 of their magnitude, and not finite where that is out of range.  512 in torchscale,
       x-transformers and rotary-embedding-torch; Sun et al., arXiv:2212.10554, section 3 */
    double xpos_base;
    double xpos_gamma;
} rope_spec;
#define ROPE_SPEC_INIT                                                                             \
    {                                                                                              \
        sizeof(rope_spec), ROPE_SCHEME_DEFAULT, 0, 0, 0, ROPE_HALF, ROPE_ANGLE_EXACT, 0.0, 0.0,    \
            0.0, NULL, 0, NULL, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, NULL, NULL, 0, \
            NULL, 0, 0, 0, ROPE_AXES_ONE, 0, NULL, 0, NULL, NULL, 0, 0.0, 0.0, 0.0, 0.0            \
    }

/*
 * Makes a plan from a spec.  Inverse frequencies are held to more than 100 bits; none may exceed
 * 2^20 in magnitude.  *out_plan is the new plan, or NULL on error.
 *
 * ROPE_ERR_NULL    spec or out_plan is NULL, or a list that the scheme or layout needs
 * ROPE_ERR_STRUCT  spec->struct_size
 * ROPE_ERR_VALUE   any other field against its rule above, or a frequency that is too large
 * ROPE_ERR_ISA     ROPE_ISA is set to something that is not to be had
 * ROPE_ERR_MEMORY  out of memory
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_plan_create(const rope_spec *spec, rope_plan **out_plan);

/* Frees a plan; NULL is a no-op.  No other call may be using the plan.  Since 0.1. */
ROPE_API void rope_plan_destroy(rope_plan *plan);

/* What rope_plan_create resolved. */
typedef struct rope_info {
    uint32_t struct_size; /* in: sizeof(rope_info) of the caller; no byte beyond it is written */
    /* as in rope_spec, with the defaults filled in */
    rope_scheme scheme;
    size_t head_dim;
    size_t rotary_dim;
    size_t rotary_offset;
    rope_pairing pairing;
    rope_angle angle;
    double theta;            /* the base in use, raised where the scheme raises it; CUSTOM: 0 */
    double factor;           /* s; 1 where the scheme has none */
    double attention_factor; /* m */
    size_t table_bytes;      /* memory held by the plan's tables */
    rope_isa isa;            /* the set whose kernels the plan calls */
    uint32_t reserved;       /* 0 */
    /* YARN with mscale_all_dim: g(mscale_all_dim)^2, else 1.  DeepSeek multiplies the scale of its
       softmax by it, beside m on the rows.  Models that put all of it on the rows do not: for a
       model it is one or the other, and its reference implementation says which */
    double softmax_factor;
    size_t axes;        /* positions of a token */
    uint32_t is_long;   /* LONGROPE: 1 with the long list; DYNAMIC_NTK: 1 if theta was raised */
    uint32_t reserved2; /* 0 */
} rope_info;
#define ROPE_INFO_INIT                                                            \
    {                                                                             \
        sizeof(rope_info), 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0, 0, 0, 0.0, 0, 0, 0 \
    }

/*
 * Reads back what a plan resolved.
 *
 * ROPE_ERR_NULL    plan or info is NULL
 * ROPE_ERR_STRUCT  info->struct_size is too small, or bytes unknown here are not zero
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_plan_info(const rope_plan *plan, rope_info *info);

/*
 * Writes the d/2 inverse frequencies in the order of the pairs, radians per position: inv_freq[i]
 * is f_i rounded to f64 and, unless tail is NULL, tail[i] is f_i - inv_freq[i] rounded to f64.
 * count is the length of both arrays.
 *
 * ROPE_ERR_NULL   plan or inv_freq is NULL
 * ROPE_ERR_VALUE  count is not d/2
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_plan_inv_freq(const rope_plan *plan, double *inv_freq, double *tail,
                                        size_t count);

/*
 * Writes the d/2 wavelengths in the order of the pairs, in positions: 2 pi / |f_i| to within 1 ulp
 * of f64, infinity where f_i is 0.  count is the length of the array.
 *
 * ROPE_ERR_NULL   plan or wavelengths is NULL
 * ROPE_ERR_VALUE  count is not d/2
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_plan_wavelengths(const rope_plan *plan, double *wavelengths,
                                           size_t count);

/*
 * Makes the plan that takes what `from` has rotated to what `to` would have made of it: its inverse
 * frequencies are f_to - f_from, held to more than 100 bits of the larger one, its attention factor
 * is m_to / m_from rounded to f64, everything else is that of `to`.  rope_rotate with this plan and
 * the tokens' own positions changes the scheme of cached keys in place (longrope from its short to
 * its long list, dynamic NTK to another length) for one rounding of the data; rotating the stored
 * originals again has none.  The new plan is independent of both others; rope_info.scheme is
 * CUSTOM.
 *
 * ROPE_ERR_NULL    from, to or out_plan is NULL
 * ROPE_ERR_VALUE   the plans differ in head_dim, rotary_dim, rotary_offset, pairing, pairing_chunk,
 *                  xPos (which the new plan has not: magnitudes stay) or the axes of their pairs;
 *                  one has ROPE_ANGLE_F32, whose angles have no difference; a frequency is beyond
 *                  2^20 or the attention factor no finite number > 0
 * ROPE_ERR_MEMORY  out of memory
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_plan_between(const rope_plan *from, const rope_plan *to,
                                       rope_plan **out_plan);

/* ---- Positions ------------------------------------------------------------------------------- */

/*
 * The position of token t of batch b:
 *
 *     data[b * stride_batch + t * stride_token] + start + t * step
 *
 * Without data the first term is 0, dtype must be 0, and step 0 means 1: start, start + 1, ...
 * With data, step 0 is 0: the positions as they stand, moved by start.  int32 and int64 positions
 * are exact; f32 and f64 positions may be fractional, their sum with start and step is rounded to
 * f64. Every p must be finite with -2^31 < p < 2^31, else the call is ROPE_ERR_POSITION.
 *
 * A plan of several axes takes an array with one descriptor for each axis, in their order, each
 * with a dtype, strides and memory of its own; their struct_size must be the same.
 */
typedef struct rope_positions {
    uint32_t struct_size; /* sizeof(rope_positions) */
    rope_dtype dtype;     /* ROPE_I32, ROPE_I64, ROPE_F32 or ROPE_F64; 0 when data is NULL */
    const void *data;     /* [batch, tokens] by the strides below, or NULL */
    /* elements from batch to batch; 0 = every batch has the same positions */
    ptrdiff_t stride_batch;
    /* elements from token to token; 0 = one position per batch */
    ptrdiff_t stride_token;
    /* of the formula above */
    int64_t start;
    int64_t step;
} rope_positions;
#define ROPE_POSITIONS_INIT                         \
    {                                               \
        sizeof(rope_positions), 0, NULL, 0, 1, 0, 0 \
    }

/* ---- Rows ------------------------------------------------------------------------------------ */

/*
 * Rows of cos and sin in the caller's memory, to be filled by rope_cos_sin or to rotate by in
 * rope_rotate.  Row r starts r * stride_row elements behind cos (and sin).
 *
 * In a job, token t of batch b takes
 *     without positions:  row t
 *     with positions:     the row that its position names, an integer in 0..count-1, else the call
 *                         is ROPE_ERR_ROW
 * of the block that starts b * stride_batch elements behind cos (and sin).  With a plan of several
 * axes each pair takes its entry from the row of its own axis.  A job only reads rows: casting
 * const away is safe.  Duplicated rows must be true duplicates; rows whose two copies of an entry
 * differ are no rotation, and the job is refused (ROPE_ERR_ROW).
 */
typedef struct rope_rows {
    uint32_t struct_size;     /* sizeof(rope_rows) */
    rope_dtype dtype;         /* ROPE_F32, ROPE_F64, ROPE_F16 or ROPE_BF16 */
    rope_rows_layout layout;  /* ROPE_ROWS_* */
    rope_direction direction; /* rope_cos_sin: the direction to make rows for.  In a job: 0 */
    void *cos;                /* the one array, or that of cos */
    void *sin;                /* SEPARATE, DUP_*: that of sin.  PACKED, PAIRS: NULL */
    size_t count;             /* rows in the arrays; of each batch, if stride_batch is not 0 */
    /* elements from row to row; 0 = dense: d/2 for SEPARATE, d for all others */
    ptrdiff_t stride_row;
    /* in a job: elements from batch to batch; 0 = all batches share the rows */
    ptrdiff_t stride_batch;
    char *message; /* rope_cos_sin: receives one line on error; may be NULL.  In a job: unused */
    size_t message_size; /* bytes at message */
} rope_rows;
#define ROPE_ROWS_INIT                                                                     \
    {                                                                                      \
        sizeof(rope_rows), 0, ROPE_ROWS_PACKED, ROPE_FORWARD, NULL, NULL, 0, 0, 0, NULL, 0 \
    }

/*
 * Fills the first `tokens` rows for the given positions (of batch 0).  Meant to be called once per
 * step: the rows serve all layers.  Row t depends on position t alone, so threads that fill
 * different rows give the bits of one call.  Large tables are written past the caches.
 *
 * cos and sin must not overlap each other or the positions.  tokens = 0 writes nothing.  The
 * magnitudes of xPos, which differ between q and k, are not in these rows.
 *
 * ROPE_ERR_NULL      plan, positions, rows, or an array that the layout needs is NULL
 * ROPE_ERR_STRUCT    struct_size of positions or rows
 * ROPE_ERR_DTYPE     dtype of positions or rows
 * ROPE_ERR_VALUE     unknown enum; an array given where the layout has none; tokens > rows->count
 * ROPE_ERR_SIZE      extents overflow
 * ROPE_ERR_STRIDE    rows overlap each other
 * ROPE_ERR_ALIAS     an array overlaps the other or the positions
 * ROPE_ERR_POSITION  a position out of range
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_cos_sin(const rope_plan *plan, const rope_positions *positions,
                                  size_t tokens, const rope_rows *rows);

/* ---- Rotation -------------------------------------------------------------------------------- */

/*
 * One tensor of a job, [batch, tokens, heads, head_dim] by its strides, which may put the axes in
 * any order of memory.  Strides of axes with one index do not matter.
 *
 * In place: dst == src, with the same strides.  Out of place: dst receives whole heads, the
 * unrotated part copied.  Views that interleave in one buffer (q, k and v of a packed projection)
 * are fine; an overlap of elements is ROPE_ERR_ALIAS.  src may repeat itself (stride 0).
 *
 * Three strides that are all 0 mean dense [batch, tokens, heads, head_dim]; for a dst in place,
 * those of src.  Strides of dst must nest: in order of magnitude each must cover the extent of the
 * axes below it, else the job is ROPE_ERR_STRIDE.
 */
typedef struct rope_tensor {
    uint32_t struct_size; /* sizeof(rope_tensor) */
    rope_dtype dtype;     /* ROPE_F32, ROPE_F64, ROPE_F16 or ROPE_BF16, of src and dst */
    const void *src;      /* [batch, tokens, heads, head_dim] by the strides below */
    void *dst;            /* the same; may be src */
    size_t heads;         /* of each token */
    /* 0 = that of the plan, with the plan's rotary_offset; else this tensor's own, with an offset
       of its own (MLA: the key is the rotated slice alone) */
    size_t head_dim;
    size_t rotary_offset; /* 0 when head_dim is 0 */
    /* elements, from index to index of each axis */
    ptrdiff_t src_stride_batch, src_stride_token, src_stride_head;
    ptrdiff_t dst_stride_batch, dst_stride_token, dst_stride_head;
    /* a magnitude for each token, finite and not 0: the row of token t of batch b is multiplied by
       scale[b * scale_stride_batch + t * scale_stride_token] before it is rounded, with INVERSE
       divided; not possible with SHIFT.  What lies outside the rotated slice is not scaled.  The
       bounds of rows grow by 2.3e-16 of the magnitude.  NULL = 1.  Llama 4, by
       1 + 0.1 ln(floor((p + 1) / 8192) + 1), and Ministral 3 scale q so; logN of Qwen */
    const void *scale;
    rope_dtype scale_dtype;                           /* ROPE_F32 or ROPE_F64; 0 without scale */
    uint32_t reserved;                                /* 0 */
    ptrdiff_t scale_stride_batch, scale_stride_token; /* elements; 0 = one value for all */
} rope_tensor;
#define ROPE_TENSOR_INIT                                                                \
    {                                                                                   \
        sizeof(rope_tensor), 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 1 \
    }

/* Flags of a job. */
enum {
    /* tokens whose position or row number on axis 0 is negative are left out, nothing of them read
       or written: runtimes mark padding and free slots with -1.  Axis 0 alone decides: numbers of
       rows on the other axes do not count for such a token, and for any other must be those of rows
       (ROPE_ERR_ROW); negative positions there are positions */
    ROPE_SKIP_NEGATIVE = 1
};

/*
 * One rotation of Q and K; q or k may be NULL.
 *     positions alone:     rows are made on the way
 *     rows alone:          token t takes row t
 *     rows and positions:  positions (int32, int64, or start and step) are the numbers of the rows
 * With rows no plan is needed: where plan is NULL, rotary_dim and pairing stand here and each
 * tensor names its head_dim.
 */
typedef struct rope_job {
    uint32_t struct_size;            /* sizeof(rope_job) */
    uint32_t flags;                  /* ROPE_SKIP_NEGATIVE or 0 */
    size_t batch;                    /* how many batches */
    size_t tokens;                   /* of each batch */
    const rope_tensor *q;            /* NULL = absent */
    const rope_tensor *k;            /* NULL = absent; its heads, dtype and layout are its own */
    const rope_positions *positions; /* one, or an array of one for each axis of the plan */
    const rope_rows *rows;           /* or NULL */
    /* with rows: FORWARD or TRANSPOSE; INVERSE and SHIFT only with a plan whose m is 1 */
    rope_direction direction;
    rope_pairing_out pairing_out; /* a change of pairing works out of place only */
    rope_arith arith;             /* ROPE_ARITH_* */
    /* rows are rounded to ROPE_F32, ROPE_F16 or ROPE_BF16 before anything else; 0 = they are not:
       f32 rows, f64 rows for f64 data */
    rope_dtype row_dtype;
    size_t rotary_dim;    /* without a plan: d, even and >= 2.  With a plan: 0 */
    rope_pairing pairing; /* without a plan.  With a plan: 0 */
    uint32_t reserved;    /* 0 */
    char *message;        /* receives one line on error; may be NULL */
    size_t message_size;  /* bytes at message */
    /* with a plan of xpos_base: finite; p - xpos_center is computed in f64.  Positions from 0 to n
       are usually centred at n / 2, which keeps magnitudes in range and cancels in the scores.
       INVERSE undoes the magnitude, SHIFT changes it by its distance.  Else 0 */
    double xpos_center;
} rope_job;
#define ROPE_JOB_INIT                                                                   \
    {                                                                                   \
        sizeof(rope_job), 0, 1, 0, NULL, NULL, NULL, NULL, ROPE_FORWARD, ROPE_OUT_SAME, \
            ROPE_ARITH_FUSED, 0, 0, ROPE_HALF, 0, NULL, 0, 0.0                          \
    }

/*
 * Rotates q and k in one pass over the tokens; each token's row is made or read once for all heads
 * of both.  A job without batches, tokens, heads or tensors succeeds and touches nothing; its data
 * pointers may be NULL.
 *
 * ROPE_ERR_NULL      job; plan (without rows); both positions and rows; src, dst or memory of rows
 * ROPE_ERR_STRUCT    struct_size of job, q, k, positions or rows
 * ROPE_ERR_DTYPE     dtype of a tensor, of positions or of rows; row_dtype
 * ROPE_ERR_VALUE     unknown flag or enum; a head_dim that does not hold rotary_offset and
 *                    rotary_dim; too few rows; a direction or pairing that is not possible here; a
 *                    scale that is 0 or not finite; rows with a plan of xpos_base
 * ROPE_ERR_SIZE      extents overflow
 * ROPE_ERR_STRIDE    elements of dst overlap each other
 * ROPE_ERR_ALIAS     dst overlaps its src (not in place), the other tensor, positions, rows or
 *                    scale
 * ROPE_ERR_POSITION  a position out of range
 * ROPE_ERR_ROW       a row number out of range, or duplicated rows that differ
 * ROPE_ERR_ISA       without a plan: as rope_plan_create
 *
 * Thread-safe; two calls at once must not write the same memory.  Since 0.1.
 */
ROPE_API rope_status rope_rotate(const rope_plan *plan, const rope_job *job);

/*
 * Does part `part` of `parts` of a job, for the caller's own threads: parts 0..parts-1 of one job,
 * in any order and at the same time, give the bits of rope_rotate.  Tokens are cut first, heads
 * where tokens are few.  Every part checks the whole job, so that all return the same status and
 * none writes anything on error.
 *
 * ROPE_ERR_VALUE     parts is 0 or part >= parts
 * and all of rope_rotate.
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_rotate_part(const rope_plan *plan, const rope_job *job, size_t part,
                                      size_t parts);

/*
 * rope_rotate with direction ROPE_SHIFT, which job->direction may say or not: positions are the
 * distances that cached keys move by, one for all (stride_token and stride_batch 0) or one for each
 * token, and m is not applied again.  rope_rotate_part with ROPE_SHIFT cuts the same job.
 *
 * Each shift rounds the data once more.  A bf16 key that moved 1,000 times by random distances is
 * off by 5 % of its norm, one that moved 1,000 times by one position by half of it (slow pairs turn
 * by less than half a unit of bf16 and stand still); one rotation of the stored, unrotated key is
 * off by 0.16 % at any position (tests/test_operations.c).  Where keys move often, keep the
 * unrotated key.
 *
 * ROPE_ERR_VALUE     job->direction is neither FORWARD nor SHIFT
 * and all of rope_rotate.
 *
 * Thread-safe; two calls at once must not write the same memory.  Since 0.1.
 */
ROPE_API rope_status rope_shift(const rope_plan *plan, const rope_job *job);

/* ---- Sinusoidal embeddings ------------------------------------------------------------------- */

/* Flags of a sinusoid. */
enum {
    /* the first component of a pair is its cosine, the second its sine, not the other way round */
    ROPE_COS_FIRST = 1,
    /* tokens at the position `padding` (on axis 0) have an embedding of 0 */
    ROPE_PADDING = 2
};

/*
 * Absolute embeddings of positions, the sines and cosines of a plan's rows: column x of pair i of a
 * token at position p is m sin(p f_i), column y is m cos(p f_i).  Where x and y stand is said by
 * the plan's pairing, as in a rotation; any plan without rotary_offset will do, axes and chunks
 * included (xPos plays no part).
 *
 *     [sin | cos]      ROPE_HALF                    Whisper, fairseq, Marian, diffusers
 *     [cos | sin]      ROPE_HALF, ROPE_COS_FIRST    guided diffusion, ggml, flip_sin_to_cos
 *     sin, cos, ...    ROPE_INTERLEAVED             Vaswani et al., arXiv:1706.03762, section 3.5
 *     frequencies      ROPE_SCHEME_SINUSOID: theta is the longest period / 2 pi, or max_period
 *     amplitude        attention_factor
 *     odd widths       dim = d + 1: zeros behind the d columns (fairseq, diffusers, ggml)
 *                      dim = d - 1 with shift 0.5: the last column is left out (Vaswani, Marian)
 *
 * f32, f16 and bf16 data are added to f32 rows, f64 data to f64 rows; sum and dropout are computed
 * in that type and rounded once on store.  The bounds of rows are those stated at the top.
 *
 * Dropout: element [b, t, c] takes word n = offset + (b tokens + t) dim + c (mod 2^64) of the
 * stream of 32-bit words of Philox4x32-10 with key = seed: word n % 4 of counter n / 4 (upper half
 * 0).  It is dropped, that is multiplied by 0, where the word is below 2^32 dropout (rounded), else
 * multiplied by 1 / (1 - dropout).  The mask so depends on nothing but seed, offset and the
 * element's number.
 */
typedef struct rope_sinusoid {
    uint32_t struct_size; /* sizeof(rope_sinusoid) */
    uint32_t flags;       /* ROPE_COS_FIRST, ROPE_PADDING */
    rope_dtype dtype;     /* ROPE_F32, ROPE_F64, ROPE_F16 or ROPE_BF16, of src and dst */
    uint32_t reserved;    /* 0 */
    size_t batch;         /* how many batches */
    size_t tokens;        /* of each batch */
    /* columns: d - 1 or more, those from d on are 0; 0 = d */
    size_t dim;
    const rope_positions *positions; /* one, or an array of one for each axis of the plan */
    const void *src;                 /* [batch, tokens, dim]; rope_sinusoid_table: NULL */
    void *dst;                       /* [batch, tokens, dim]; may be src, with the same strides */
    /* elements; two that are 0 mean dense, for a dst in place those of src */
    ptrdiff_t src_stride_batch, src_stride_token;
    ptrdiff_t dst_stride_batch, dst_stride_token;
    int64_t padding;     /* ROPE_PADDING: the position; else 0 */
    double dropout;      /* 0 <= dropout < 1; 0 = a pure sum (inference).  rope_sinusoid_table: 0 */
    uint64_t seed;       /* key of the generator */
    uint64_t offset;     /* words of the stream that were used up before */
    char *message;       /* receives one line on error; may be NULL */
    size_t message_size; /* bytes at message */
} rope_sinusoid;
#define ROPE_SINUSOID_INIT                                                                         \
    {                                                                                              \
        sizeof(rope_sinusoid), 0, 0, 0, 1, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0.0, 0, 0, NULL, \
            0                                                                                      \
    }

/*
 * dst = (src + embedding), with dropout.  Nothing to do succeeds and touches nothing.
 *
 * ROPE_ERR_NULL      plan, sinusoid, positions, src or dst is NULL
 * ROPE_ERR_STRUCT    struct_size of sinusoid or positions
 * ROPE_ERR_DTYPE     dtype of sinusoid or positions
 * ROPE_ERR_VALUE     a flag or field against its rule above; a plan with rotary_offset
 * ROPE_ERR_SIZE      extents overflow
 * ROPE_ERR_STRIDE    elements of dst overlap each other
 * ROPE_ERR_ALIAS     dst overlaps src (not in place) or positions
 * ROPE_ERR_POSITION  a position out of range
 *
 * Thread-safe; two calls at once must not write the same memory.  Since 0.1.
 */
ROPE_API rope_status rope_sinusoid_add(const rope_plan *plan, const rope_sinusoid *sinusoid);

/*
 * Part `part` of `parts` of the same, as rope_rotate_part: parts in any order give the bits of one
 * call.
 *
 * ROPE_ERR_VALUE     parts is 0 or part >= parts
 * and all of rope_sinusoid_add.
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_sinusoid_add_part(const rope_plan *plan, const rope_sinusoid *sinusoid,
                                            size_t part, size_t parts);

/*
 * dst = embedding: a table, each entry rounded once from the true value to dtype.  src must be NULL
 * and dropout 0, else ROPE_ERR_VALUE; statuses otherwise as rope_sinusoid_add.
 *
 * Thread-safe; two calls at once must not write the same memory.  Since 0.1.
 */
ROPE_API rope_status rope_sinusoid_table(const rope_plan *plan, const rope_sinusoid *sinusoid);

/* ---- Weights --------------------------------------------------------------------------------- */

/*
 * Rows of q or k projections, [matrices, heads, head_dim, row_length] by their strides, to be put
 * into the order of the other pairing.
 *
 * A model whose q and k projections (and their biases) both went through rope_permute from A to B
 * gives, rotated in pairing B, the scores that it gave in pairing A: row a of the rotated slice
 * that held a component of pair i in pairing A goes to the row where B has that component.  All
 * other rows stay; v and output projections must not be permuted.  Hugging Face's half-split
 * checkpoints of Llama become the interleaved order of Meta's originals and of GGUF by from =
 * ROPE_HALF, to = ROPE_INTERLEAVED; ROPE_INTERLEAVED to ROPE_HALF undoes it.
 *
 *     torch weight [heads * head_dim, in]:  matrices 1, row_length in.  GQA: k has heads of its own
 *     bias [heads * head_dim]:              matrices 1, row_length 1
 *     transposed weight [in, heads * head_dim] or cached keys [tokens, heads, head_dim]:
 *                                           matrices in (tokens), row_length 1
 *
 * In place: dst == src, with the same strides; no memory is allocated.  Out of place: all rows are
 * copied; any overlap is ROPE_ERR_ALIAS.  Strides count elements; three that are all 0 mean dense,
 * for a dst in place those of src.  Strides of dst must nest as those of rope_tensor do.
 */
typedef struct rope_permutation {
    uint32_t struct_size; /* sizeof(rope_permutation) */
    rope_dtype dtype;  /* ROPE_F32, ROPE_F64, ROPE_F16 or ROPE_BF16; bits are moved as they are */
    rope_pairing from; /* of src */
    rope_pairing to;   /* of dst */
    size_t matrices;   /* 1, or rows of a transposed weight */
    size_t heads;      /* of this projection */
    size_t head_dim;   /* rows of a head */
    size_t rotary_dim; /* even, 2..min(4096, head_dim - rotary_offset); 0 = all behind the offset */
    size_t rotary_offset; /* rows of a head before the rotated slice: 128 for queries of MLA */
    size_t row_length;    /* elements of a row, contiguous */
    const void *src;      /* [matrices, heads, head_dim, row_length] */
    void *dst;            /* the same; may be src */
    /* elements; see above */
    ptrdiff_t src_stride_matrix, src_stride_head, src_stride_row;
    ptrdiff_t dst_stride_matrix, dst_stride_head, dst_stride_row;
    char *message;       /* receives one line on error; may be NULL */
    size_t message_size; /* bytes at message */
} rope_permutation;
#define ROPE_PERMUTATION_INIT                                                                     \
    {                                                                                             \
        sizeof(rope_permutation), 0, ROPE_HALF, ROPE_HALF, 1, 0, 0, 0, 0, 1, NULL, NULL, 0, 0, 0, \
            0, 0, 0, NULL, 0                                                                      \
    }

/*
 * Does the permutation.  One without matrices, heads or row_length succeeds and touches nothing.
 *
 * ROPE_ERR_NULL    permutation, src or dst is NULL
 * ROPE_ERR_STRUCT  struct_size
 * ROPE_ERR_DTYPE   dtype
 * ROPE_ERR_VALUE   a pairing, or a shape against its rule above
 * ROPE_ERR_SIZE    extents overflow
 * ROPE_ERR_STRIDE  rows of dst overlap each other
 * ROPE_ERR_ALIAS   dst overlaps src and is not in place
 *
 * Thread-safe; two calls at once must not write the same memory.  Heads are independent: threads
 * give the same result by a call each for some of them.  Since 0.1.
 */
ROPE_API rope_status rope_permute(const rope_permutation *permutation);

/* ---- Self-test ------------------------------------------------------------------------------- */

/* What rope_self_test found. */
typedef struct rope_self_test_report {
    /* in: sizeof(rope_self_test_report) of the caller; no byte beyond it is written */
    uint32_t struct_size;
    rope_isa isa;        /* the set that was tested: that of new plans */
    uint32_t operations; /* operations of it that were compared */
    uint32_t different;  /* of these, those that gave other bits than they must */
    /* in: receives a line for each operation that differs, with newlines between them, cut to fit:
       which operation, where its result differs first, both values as bits.  Empty where all are
       equal; one line on other errors.  May be NULL */
    char *message;
    size_t message_size; /* in: bytes at message */
} rope_self_test_report;
#define ROPE_SELF_TEST_REPORT_INIT                      \
    {                                                   \
        sizeof(rope_self_test_report), 0, 0, 0, NULL, 0 \
    }

/*
 * Compares the instruction set that new plans use with the scalar one, on this CPU: every operation
 * in every dtype, pairing and arithmetic, rotations in both directions and in place and out of
 * place, all row layouts, with one axis and several, at every length up to 67 pairs and at the
 * common ones up to 256, special values included.  A miscompiled library, an emulator or a virtual
 * machine that does not do what it says, or a broken CPU shows here and not in a model's output.
 * Takes milliseconds, on one thread; results of earlier and later calls do not depend on it.
 *
 * Where the scalar set is the one in use, its forms with and without FMA are compared, without rows
 * made straight from angles, which need FMA for equal bits; where it has one form only, every
 * operation is compared with a few known answers (f64 rows straight from an angle: to within 3 units
 * in the last place), and no memory is needed.  The test is one of round-to-nearest, whatever mode
 * the host has set.
 *
 * report may be NULL.  On ROPE_OK and ROPE_ERR_DIFFERENCE all of it is filled in, else only its
 * message.
 *
 * ROPE_ERR_STRUCT      report->struct_size
 * ROPE_ERR_ISA         as rope_plan_create
 * ROPE_ERR_MEMORY      no 200 KiB of memory, which are freed at the end
 * ROPE_ERR_DIFFERENCE  the sets differ: do not use this one.  ROPE_ISA=scalar avoids it
 *
 * Thread-safe.  Since 1.0.
 */
ROPE_API rope_status rope_self_test(rope_self_test_report *report);

/* ---- Queries: never fail, never NULL, thread-safe -------------------------------------------- */

/* A short static text for a status; "unknown status" for other numbers.  Since 0.1. */
ROPE_API const char *rope_status_string(rope_status status);

/* Version of the running library: major * 10000 + minor * 100 + patch, and as text.  Since 0.1. */
ROPE_API uint32_t rope_version(void);
ROPE_API const char *rope_version_string(void);

/*
 * The set that new plans use: the best that CPU and operating system offer, or exactly the one that
 * ROPE_ISA=scalar|avx2|avx512|neon in the environment names (read once, by the first call that
 * needs it; ignored in set-user-ID programs).  ROPE_ISA_NONE if that cannot be had:
 * rope_plan_create then returns ROPE_ERR_ISA.  Since 0.1.
 */
ROPE_API rope_isa rope_active_isa(void);

/* 1 if the set is built in and CPU and operating system can run it, else 0; whatever ROPE_ISA says.
   Since 0.1. */
ROPE_API int rope_isa_available(rope_isa isa);

/* "scalar", "avx2", "avx512", "neon"; "none" for every other number.  Since 0.1. */
ROPE_API const char *rope_isa_name(rope_isa isa);

#ifdef __cplusplus
}
#endif

#endif
