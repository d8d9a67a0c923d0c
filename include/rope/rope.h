/* SPDX-License-Identifier: Apache-2.0 */
/*
 * librope: exact rotary position embeddings (RoPE) for inference runtimes.
 *
 * This file is the whole public interface.  It needs only <stddef.h> and <stdint.h> and is valid
 * C99, C11 and C++11.
 *
 * Meaning.  H is head_dim, d rotary_dim, i a pair index 0..d/2-1, f_i the inverse frequency of pair
 * i in radians per position, p a position, m the attention factor.  With a = p f_i, c = m cos a, s
 * = m sin a every pair (x, y) of the rotated slice becomes
 *
 *     x' = x c - y s        y' = y c + x s
 *
 *     half-split  (GPT-NeoX, Hugging Face):  x = v[offset + i],    y = v[offset + i + d/2]
 *     interleaved (GPT-J, complex numbers):  x = v[offset + 2 i],  y = v[offset + 2 i + 1]
 *
 * Components outside the slice are copied (out of place) or not touched (in place); m never scales
 * them. Sources: Su et al., RoFormer, arXiv:2104.09864, section 3.2 (interleaved); Black et al.,
 * GPT-NeoX-20B, arXiv:2204.06745, section 2.1.1 (half-split).
 *
 * Numerics.
 *   - Rows (cos, sin) come from the true angle for every integer |p| < 2^31: an f32, f16 or bf16
 * entry is off by at most 1/2 ulp of the output + 4e-16 |m|  (8e-16 |m| for |p| >= 2^20); an f64
 * entry by at most 1 ulp or 4e-16 |m|, whichever is larger.  Fractional positions have the same
 * bounds.  Measured against MPFR in tests/accuracy.c.
 *   - f32, f16 and bf16 data are rotated in f32 and rounded once, to nearest even, on store; f64
 * data in f64: x' = fma(x, c, -(y s)),  y' = fma(x, s, y c).
 *   - The same call gives the same bits on every instruction set, for any alignment, stride, batch
 * shape and split of the work, in place and out of place.  Where the result is NaN only that it is
 * NaN is promised.  One exception: f64 rows, rows of fractional positions and rows under
 * ROPE_ANGLE_F32 on an x86 CPU without FMA may differ in the last bit of f64 from those of other
 * CPUs.
 *   - The floating-point environment of the caller is not changed.  The bounds hold in
 * round-to-nearest mode.  If the host has set flush-to-zero / denormals-are-zero, subnormal inputs
 * and results count as zero; nothing else changes.
 *
 * Threads.  A plan never changes after its creation: any number of threads may use one plan at
 * once, without locks. The library creates no thread, holds no lock, keeps no mutable state of its
 * own besides the one-time choice of the instruction set, and after rope_plan_create neither
 * allocates nor makes system calls.  It never prints or aborts.
 *
 * Descriptors.  Each struct starts with struct_size = sizeof the struct as the caller compiled it
 * (the *_INIT macros fill it in).  Fields are only ever appended and zero always means "default": a
 * shorter struct of an older caller is read as if the rest were zero; a longer struct of a newer
 * caller is accepted when the bytes that this library does not know are zero, and refused with
 * ROPE_ERR_STRUCT otherwise.  Reserved fields must be zero.
 *
 * Sizes count elements, strides count elements too (not bytes) and may be negative; the last
 * dimension is contiguous. Data pointers need the alignment of their element type only.
 *
 * On any status but ROPE_OK nothing has been written, except to the message buffer of the
 * descriptor, if it has one: a NUL-terminated line that names the field, its value and the rule,
 * cut to the size of the buffer.
 */
#ifndef ROPE_ROPE_H
#define ROPE_ROPE_H

#include <stddef.h>
#include <stdint.h>

#define ROPE_VERSION_MAJOR 0
#define ROPE_VERSION_MINOR 1
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

/* ---- Enumerations: int32_t, so that their size is the same for every compiler
 * ------------------------------------ */

/* Result of a call.  Numbers are never reused. */
typedef int32_t rope_status;
enum {
    ROPE_OK = 0,
    ROPE_ERR_NULL = -1,   /* a required pointer is NULL */
    ROPE_ERR_STRUCT = -2, /* struct_size too small, or unknown trailing bytes are not zero */
    ROPE_ERR_VALUE =
        -3, /* a field has a value outside its rule, or two fields contradict each other */
    ROPE_ERR_DTYPE = -4,  /* a dtype that does not exist or does not fit here */
    ROPE_ERR_SIZE = -5,   /* counts and strides describe more memory than an address can reach */
    ROPE_ERR_STRIDE = -6, /* strides make elements of one destination overlap */
    ROPE_ERR_ALIAS =
        -7, /* a destination overlaps another operand in a way that is not "in place" */
    ROPE_ERR_POSITION = -8, /* a position is not finite or not inside -2^31 < p < 2^31 */
    ROPE_ERR_ROW =
        -9, /* a row number is outside the caller's rows, or a duplicated row is not one */
    ROPE_ERR_ISA =
        -10, /* ROPE_ISA in the environment names no set, or one this CPU or build does not have */
    ROPE_ERR_MEMORY = -11 /* allocation failed (rope_plan_create only) */
};

/* Element types.  f16 is IEEE binary16, bf16 the upper half of binary32; both are stored as 16-bit
 * words. */
typedef int32_t rope_dtype;
enum { ROPE_F32 = 1, ROPE_F64 = 2, ROPE_F16 = 3, ROPE_BF16 = 4, ROPE_I32 = 5, ROPE_I64 = 6 };

/* Which components of the rotated slice form pair i.  See the top of this file. */
typedef int32_t rope_pairing;
enum { ROPE_HALF = 0, ROPE_INTERLEAVED = 1 };

/* Pairing of the result.  DeepSeek reads interleaved and leaves half-split. */
typedef int32_t rope_pairing_out;
enum { ROPE_OUT_SAME = 0, ROPE_OUT_HALF = 1, ROPE_OUT_INTERLEAVED = 2 };

/*
 * Where the inverse frequencies come from.  e_i = theta^(-2 i / d); s = factor, n = length, M = max_length,
 * L = original_length; what a scheme does not read must be zero.
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
    /* f_i = e_i / exp(a (i + 1)^b), a = ln s / (d/2)^b, b = ntk_exponent (0 = 1).  "Mixed NTK"; vLLM's "ntk" */
    ROPE_SCHEME_NTK_MIXED = 4,
    /* theta' = theta (s n / M - (s - 1))^(d / (d - 2)) where n > M, else theta; d > 2 */
    ROPE_SCHEME_DYNAMIC_NTK = 5,
    /* e_i blended with e_i / s over a ramp of pairs.  YaRN: Peng et al., arXiv:2309.00071, section 3.2 */
    ROPE_SCHEME_YARN = 6,
    /* f_i = e_i / long_factor[i] where n > L, else e_i / short_factor[i].  LongRoPE: arXiv:2402.13753; Phi-3 */
    ROPE_SCHEME_LONGROPE = 7,
    /* blended by wavelength 2 pi / e_i against L / low_freq_factor and L / high_freq_factor.  Llama 3.1 */
    ROPE_SCHEME_LLAMA3 = 8,
    /* f_i = theta^(-2 i / H) / s for i < active_pairs, else 0: such pairs pass through.  Gemma 4 */
    ROPE_SCHEME_PROPORTIONAL = 9
};

/* How the angle is formed. */
typedef int32_t rope_angle;
enum {
    ROPE_ANGLE_EXACT = 0, /* the true angle p f_i */
    ROPE_ANGLE_F32 =
        1 /* f_i and p rounded to f32, their product rounded to f32, then the exact cos and sin of
             that (times m): the angle that Hugging Face checkpoints were trained with */
};

/* Which rotation is applied.  a is the angle and m the attention factor. */
typedef int32_t rope_direction;
enum {
    ROPE_FORWARD = 0,   /* m R(a) */
    ROPE_INVERSE = 1,   /* R(-a) / m: undoes forward */
    ROPE_TRANSPOSE = 2, /* m R(-a): the gradient */
    ROPE_SHIFT = 3 /* R(a): positions are differences; re-rotates a cached key, which carries its m
                      already */
};

/* Arithmetic of the rotation. */
typedef int32_t rope_arith;
enum {
    ROPE_ARITH_FUSED = 0, /* f32 (f64) with the fma placement above, rounded once on store */
    ROPE_ARITH_EAGER = 1 /* rows rounded to the tensor's type, then each product and the sum rounded
                            to it: the bits of PyTorch eager from the same cos and sin */
};

/* Layout of cos/sin rows; n = d/2 entries of each. */
typedef int32_t rope_rows_layout;
enum {
    ROPE_ROWS_PACKED =
        0, /* one array, row = [cos 0..n-1 | sin 0..n-1]           vLLM, FlashInfer */
    ROPE_ROWS_SEPARATE = 1, /* two arrays, row = n entries each                     ONNX */
    ROPE_ROWS_PAIRS =
        2, /* one array, row = cos 0, sin 0, cos 1, sin 1, ...     TensorRT-LLM, complex view */
    ROPE_ROWS_DUP_HALF =
        3, /* two arrays, row = d entries [v | v]                  Hugging Face, half-split */
    ROPE_ROWS_DUP_PAIRS =
        4 /* two arrays, row = d entries v0, v0, v1, v1, ...      Hugging Face, interleaved */
};

/* Instruction sets. */
typedef int32_t rope_isa;
enum {
    ROPE_ISA_NONE = 0,
    ROPE_ISA_SCALAR = 1,
    ROPE_ISA_AVX2 = 2,
    ROPE_ISA_AVX512 = 3,
    ROPE_ISA_NEON = 4
};

/*
 * Positions of several axes: pair i has the angle p[axis(i)] f[freq(i)]; freq(i) = i where nothing is
 * said.  Sections are numbers of pairs, none negative; they sum to d/2, for ggml to 1..d/2.
 */
typedef int32_t rope_axis_layout;
enum {
    /* one axis; with pair_axis and pair_freq the caller's own maps */
    ROPE_AXES_ONE = 0,
    /* sections[0] pairs of axis 0, then sections[1] of axis 1, ...  Qwen2-VL, GLM-4V; Hunyuan XD (4) */
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
    /* as SECTIONS, but frequencies start again for each axis: place j of section n has
       theta^(-2 j / (2 n)).  Vision towers of Qwen2-VL, Llama 4 and Gemma 4, Flux, Wan, Hunyuan video.
       Schemes DEFAULT, LINEAR, NTK; CUSTOM lists them in the order of the pairs */
    ROPE_AXES_RESTART = 7,
    /* axis 0 for i < d/4, freq(i) = 2 i; then axis 1, freq(i) = 2 (i - d/4) + 1.  Pixtral */
    ROPE_AXES_PIXTRAL = 8,
    /* ggml VISION: axis as GGML_MROPE; place j of its section has theta^(-4 j / d) */
    ROPE_AXES_GGML_VISION = 9
};
enum { ROPE_AXES_MAX = 8 };

/* ---- The plan: how positions become angles
 * -------------------------------------------------------------------------- */

/* A validated rotation, immutable, with its tables (1.3 MiB per 32 pairs, constant at any context
 * length). */
typedef struct rope_plan rope_plan;

/* What a plan is made of.  Everything is read during rope_plan_create; nothing is kept by
 * reference. */
typedef struct rope_spec {
    uint32_t struct_size; /* sizeof(rope_spec) */
    rope_scheme scheme;   /* ROPE_SCHEME_* */
    size_t head_dim;      /* H, elements per head: >= 2; may be odd when rotary_dim is not */
    size_t rotary_dim;    /* d, rotated elements: even, 2..H - rotary_offset; 0 = all of H -
                             rotary_offset */
    size_t rotary_offset; /* first rotated element of a head; 0 for most models, 128 for DeepSeek
                             MLA queries */
    rope_pairing pairing; /* ROPE_HALF or ROPE_INTERLEAVED */
    rope_angle angle;     /* ROPE_ANGLE_EXACT or ROPE_ANGLE_F32 */
    double theta;  /* base of DEFAULT and LINEAR: finite, > 0; 0 = 10000.  Other schemes: 0 */
    double factor; /* LINEAR: finite, > 0; > 1 lengthens the context.  Other schemes: 0 */
    double attention_factor; /* m: finite, > 0; 0 = 1 */
    const double *inv_freq;  /* CUSTOM: d/2 inverse frequencies in radians per position, finite.
                                Other schemes: NULL */
    size_t inv_freq_count;   /* CUSTOM: exactly d/2.  Other schemes: 0 */
    char *message;           /* receives one line on error; may be NULL */
    size_t message_size;     /* bytes at message */
    /* further parameters of the schemes */
    size_t
        length; /* n, tokens of the sequence (highest position + 1).  DYNAMIC_NTK, LONGROPE; 0 = short */
    size_t
        max_length; /* M, max_position_embeddings.  DYNAMIC_NTK; YARN and LONGROPE where factor is 0 */
    size_t original_length; /* L, tokens of the original training.  YARN, LONGROPE, LLAMA3 */
    double ntk_exponent;    /* NTK_MIXED: finite, > 0; 0 = 1 */
    double beta_fast;       /* YARN: rotations over L from which on a pair is left alone; 0 = 32 */
    double beta_slow;       /* YARN: rotations over L below which a pair is interpolated; 0 = 1 */
    double mscale; /* YARN: with mscale_all_dim gives m = g(mscale) / g(mscale_all_dim), where */
    double
        mscale_all_dim; /* g(k) = 1 + mscale_log k ln s, 1 if s <= 1; else m = g(1).  0 = absent */
    double mscale_log;  /* YARN: 0 = 0.1; TeleChat 3 has 0.07 */
    double low_freq_factor;     /* LLAMA3: finite, > 0 */
    double high_freq_factor;    /* LLAMA3: >= low_freq_factor; equal is a step */
    const double *short_factor; /* LONGROPE: d/2 divisors, > 0 */
    const double *long_factor;  /* LONGROPE: d/2 divisors, > 0 */
    size_t factor_count;        /* LONGROPE: exactly d/2 */
    const double *
        divisors; /* DEFAULT, LINEAR, YARN: e_i is divided by these first; > 0, infinity gives 0.  GGUF
                                  rope_freqs, longrope lists; or NULL */
    size_t divisor_count; /* exactly d/2 with divisors */
    size_t active_pairs;  /* PROPORTIONAL: 1..d/2 */
    uint32_t
        no_truncate; /* YARN: 1 = the ends of the ramp are not rounded to whole pairs (gpt-oss) */
    /* positions of several axes */
    rope_axis_layout axis_layout; /* ROPE_AXES_* */
    size_t
        axes; /* 0 = what axis_layout implies: 1, the number of sections, 4 for ggml, 2 for Pixtral */
    const int32_t *
        sections; /* SECTIONS, INTERLEAVED, GGML_*, ERNIE, CYCLIC, RESTART: pairs of each axis; else NULL */
    size_t section_count;
    const int32_t *pair_axis; /* ONE: axis 0..axes-1 of each of the d/2 pairs, or NULL; else NULL */
    const int32_t
        *pair_freq; /* ONE: index 0..d/2-1 of the frequency of each pair, or NULL; else NULL */
    size_t
        pairing_chunk; /* half-split within chunks of this many elements, which must divide d and be even: pair i
                                  is x = chunk * c + i % (chunk / 2), y = x + chunk / 2, c = i / (chunk / 2).  Gemma 4
                                  vision; 0 = d */
} rope_spec;
#define ROPE_SPEC_INIT                                                                             \
    {                                                                                              \
        sizeof(rope_spec), ROPE_SCHEME_DEFAULT, 0, 0, 0, ROPE_HALF, ROPE_ANGLE_EXACT, 0.0, 0.0,    \
            0.0, NULL, 0, NULL, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, NULL, NULL, 0, \
            NULL, 0, 0, 0, ROPE_AXES_ONE, 0, NULL, 0, NULL, NULL, 0                                \
    }

/*
 * Makes a plan from a spec.  Inverse frequencies are held to more than 100 bits; no resolved |f_i|
 * may exceed 2^20. *out_plan is the new plan, or NULL on error.
 *
 * ROPE_ERR_NULL    spec or out_plan is NULL, or inv_freq is with ROPE_SCHEME_CUSTOM
 * ROPE_ERR_STRUCT  spec->struct_size
 * ROPE_ERR_VALUE   any other field against its rule above
 * ROPE_ERR_SIZE    the tables of so large a rotary_dim do not fit the address space
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
    rope_scheme scheme;
    size_t head_dim;
    size_t rotary_dim;
    size_t rotary_offset;
    rope_pairing pairing;
    rope_angle angle;
    double theta;            /* 0 for CUSTOM */
    double factor;           /* 1 unless LINEAR */
    double attention_factor; /* m */
    size_t table_bytes;      /* memory held by the plan's tables */
    rope_isa isa;            /* the set whose kernels the plan calls */
    uint32_t reserved;       /* 0 */
    double
        softmax_factor; /* YARN with mscale_all_dim: g(mscale_all_dim)^2, else 1.  DeepSeek multiplies the scale of its
                                softmax by it, beside m on the rows; other models that name mscale do not */
    size_t axes; /* positions of a token */
    uint32_t
        is_long; /* LONGROPE: 1 if the long list is in use; DYNAMIC_NTK: 1 if theta was raised */
    uint32_t reserved2; /* 0 */
} rope_info;
#define ROPE_INFO_INIT                                                            \
    {                                                                             \
        sizeof(rope_info), 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0, 0, 0, 0.0, 0, 0, 0 \
    }

/*
 * Reads back what a plan resolved.
 * ROPE_ERR_NULL plan or info is NULL; ROPE_ERR_STRUCT info->struct_size too small, or bytes unknown
 * here not zero. Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_plan_info(const rope_plan *plan, rope_info *info);

/*
 * Writes the d/2 inverse frequencies, radians per position: inv_freq[i] is f_i rounded to f64 and,
 * unless tail is NULL, tail[i] is f_i - inv_freq[i] rounded to f64.  count is the length of both
 * arrays. ROPE_ERR_NULL plan or inv_freq is NULL; ROPE_ERR_VALUE count is not d/2. Thread-safe.
 * Since 0.1.
 */
ROPE_API rope_status rope_plan_inv_freq(const rope_plan *plan, double *inv_freq, double *tail,
                                        size_t count);

/* ---- Positions
 * --------------------------------------------------------------------------------------------------------
 */

/*
 * The position of token t of batch b:   data[b * stride_batch + t * stride_token] + start + t *
 * step
 *
 * data may be NULL; the first term is then 0, dtype must be 0, and step 0 means 1: start, start +
 * 1, ...  With data, step 0 is 0: the positions as they stand (start shifts them).  int32 and int64
 * positions are exact, f32 and f64 positions may be fractional.  Every resulting p must be finite
 * with -2^31 < p < 2^31, else ROPE_ERR_POSITION.
 */
typedef struct rope_positions {
    uint32_t struct_size; /* sizeof(rope_positions) */
    rope_dtype dtype;     /* ROPE_I32, ROPE_I64, ROPE_F32 or ROPE_F64; 0 when data is NULL */
    const void *data;     /* [batch, tokens] by the strides below, or NULL */
    ptrdiff_t
        stride_batch; /* elements from batch to batch; 0 = every batch has the same positions */
    ptrdiff_t stride_token; /* elements from token to token; 0 = one position per batch */
    int64_t start;
    int64_t step;
} rope_positions;
#define ROPE_POSITIONS_INIT                         \
    {                                               \
        sizeof(rope_positions), 0, NULL, 0, 1, 0, 0 \
    }

/* ---- Rows
 * -----------------------------------------------------------------------------------------------------------------
 */

/*
 * Rows of cos and sin in the caller's memory, to be filled by rope_cos_sin or to rotate by in
 * rope_rotate.
 *
 * Row r starts r * stride_row elements behind cos (and sin).  In a job, token t of batch b takes
 *   without positions:  row t
 *   with positions:     the row that its position names: an integer in 0..count-1, else
 * ROPE_ERR_ROW of the block that starts b * stride_batch elements behind cos (and sin).  A job only
 * reads the rows; cast const away. Duplicated rows must be true duplicates: where the two copies of
 * an entry differ the job is refused (ROPE_ERR_ROW), because such rows are no rotation.
 */
typedef struct rope_rows {
    uint32_t struct_size;     /* sizeof(rope_rows) */
    rope_dtype dtype;         /* ROPE_F32, ROPE_F64, ROPE_F16 or ROPE_BF16 */
    rope_rows_layout layout;  /* ROPE_ROWS_* */
    rope_direction direction; /* rope_cos_sin: the direction to make rows for.  In a job: 0 */
    void *cos;                /* the one array, or that of cos */
    void *sin;                /* SEPARATE, DUP_*: that of sin.  PACKED, PAIRS: NULL */
    size_t count;             /* rows in the arrays (of each batch, if stride_batch is not 0) */
    ptrdiff_t
        stride_row; /* elements from row to row; 0 = dense (d/2 for SEPARATE, d for all others) */
    ptrdiff_t
        stride_batch; /* in a job: elements from batch to batch; 0 = all batches share the rows */
    char *message;    /* rope_cos_sin: receives one line on error; may be NULL.  In a job: unused */
    size_t message_size;
} rope_rows;
#define ROPE_ROWS_INIT                                                                     \
    {                                                                                      \
        sizeof(rope_rows), 0, ROPE_ROWS_PACKED, ROPE_FORWARD, NULL, NULL, 0, 0, 0, NULL, 0 \
    }

/*
 * Fills the first `tokens` rows of `rows` for the given positions (batch 0).  Meant to be called
 * once per step; the rows serve all layers.  Row t depends on position t alone, so the calls of
 * several threads for different tokens give the bits of one call.  Large tables are written past
 * the caches.
 *
 * rows->cos (and sin) must not overlap the positions, nor each other.  tokens = 0 succeeds and
 * writes nothing.
 *
 * ROPE_ERR_NULL      plan, positions, rows, or an array that the layout needs is NULL
 * ROPE_ERR_STRUCT    struct_size of positions or rows
 * ROPE_ERR_DTYPE     dtype of positions or rows
 * ROPE_ERR_VALUE     unknown enum; an array given where the layout has none; tokens > rows->count
 * ROPE_ERR_SIZE, ROPE_ERR_STRIDE, ROPE_ERR_ALIAS, ROPE_ERR_POSITION  as named above
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_cos_sin(const rope_plan *plan, const rope_positions *positions,
                                  size_t tokens, const rope_rows *rows);

/* ---- Rotation
 * -------------------------------------------------------------------------------------------------------------
 */

/*
 * One tensor of a job, [batch, tokens, heads, head_dim] by its strides, which may put the axes in
 * any order of memory.
 *
 * In place: dst == src, with the same strides.  Out of place: dst receives whole heads, the
 * unrotated part copied; views that interleave in one buffer (q, k and v of a packed projection,
 * say) are fine, any overlap of elements is ROPE_ERR_ALIAS.  Three strides that are all 0 mean
 * dense [batch, tokens, heads, head_dim]; for dst in place, those of src.  Destination strides must
 * nest: in order of magnitude each must cover the extent of the axes below it.
 */
typedef struct rope_tensor {
    uint32_t struct_size; /* sizeof(rope_tensor) */
    rope_dtype
        dtype; /* ROPE_F32, ROPE_F64, ROPE_F16 or ROPE_BF16, of src and dst; q and k may differ */
    const void *src;
    void *dst;
    size_t heads;
    size_t head_dim; /* 0 = that of the plan, with the plan's rotary_offset; else this tensor's own
                        head_dim */
    size_t rotary_offset; /* read when head_dim is not 0: this tensor's own offset (MLA: the key is
                             the slice alone) */
    ptrdiff_t src_stride_batch, src_stride_token, src_stride_head;
    ptrdiff_t dst_stride_batch, dst_stride_token, dst_stride_head;
} rope_tensor;
#define ROPE_TENSOR_INIT                                              \
    {                                                                 \
        sizeof(rope_tensor), 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }

/* Flags of a job. */
enum {
    ROPE_SKIP_NEGATIVE =
        1 /* tokens whose position (or row number) is negative are left out: nothing of them is read
             or written.  Runtimes mark padding and free slots of a batch with -1 */
};

/*
 * One rotation of Q and K; q or k may be NULL.
 *   positions alone:     rows are made on the way, for the true angles
 *   rows alone:          token t takes row t
 *   rows and positions:  positions (ROPE_I32, ROPE_I64, or start and step) are the numbers of the
 * rows With rows no plan is needed: where plan is NULL, rotary_dim and pairing stand here and each
 * tensor names its head_dim.
 */
typedef struct rope_job {
    uint32_t struct_size; /* sizeof(rope_job) */
    uint32_t flags;       /* ROPE_SKIP_NEGATIVE or 0 */
    size_t batch;
    size_t tokens;        /* of each batch */
    const rope_tensor *q; /* NULL = absent */
    const rope_tensor *k; /* NULL = absent */
    const rope_positions *positions;
    const rope_rows *rows;
    rope_direction
        direction; /* with rows: FORWARD or TRANSPOSE; INVERSE and SHIFT only if a plan's m is 1 */
    rope_pairing_out pairing_out; /* a change of pairing works out of place only */
    rope_arith arith;
    rope_dtype row_dtype; /* ROPE_F16, ROPE_BF16, ROPE_F32: rows are rounded to this type before the
                             rotation; 0 = not (f32 rows; f64 rows for f64 data) */
    size_t rotary_dim;    /* without a plan: d, even, >= 2.  With a plan: 0 */
    rope_pairing pairing; /* without a plan.  With a plan: 0 */
    uint32_t reserved;    /* 0 */
    char *message;        /* receives one line on error; may be NULL */
    size_t message_size;
} rope_job;
#define ROPE_JOB_INIT                                                                   \
    {                                                                                   \
        sizeof(rope_job), 0, 1, 0, NULL, NULL, NULL, NULL, ROPE_FORWARD, ROPE_OUT_SAME, \
            ROPE_ARITH_FUSED, 0, 0, ROPE_HALF, 0, NULL, 0                               \
    }

/*
 * Rotates q and k in one pass over the tokens; each token's row is made (or read) once for all
 * heads of both. A job without tokens, batches, heads or tensors succeeds and touches nothing; data
 * pointers may then be NULL.
 *
 * ROPE_ERR_NULL      job, plan (without rows), both positions and rows, src, dst, or the memory of
 * rows is NULL ROPE_ERR_STRUCT    struct_size of job, q, k, positions or rows ROPE_ERR_DTYPE dtype
 * of a tensor, of positions or of rows ROPE_ERR_VALUE     unknown flag or enum; head_dim and
 * rotary_offset of a tensor that do not hold rotary_dim; too few rows; a direction or pairing that
 * is not possible (see the fields) ROPE_ERR_SIZE      extents overflow ROPE_ERR_STRIDE    elements
 * of dst overlap each other ROPE_ERR_ALIAS     dst of a tensor overlaps its src (not in place), the
 * other tensor, positions or rows ROPE_ERR_POSITION  a position out of range ROPE_ERR_ROW       a
 * row number out of range, or duplicated rows that differ ROPE_ERR_ISA       without a plan: as
 * rope_plan_create
 *
 * Thread-safe; two calls must not write the same memory.  Since 0.1.
 */
ROPE_API rope_status rope_rotate(const rope_plan *plan, const rope_job *job);

/*
 * Does part `part` of `parts` of a job, for the caller's own threads: the parts 0..parts-1 of one
 * job, in any order and at the same time, give the bits of rope_rotate.  Tokens are cut first,
 * heads where tokens are few.  Every part checks the whole job, so all of them return the same
 * status and none writes anything on error. Statuses as rope_rotate, and ROPE_ERR_VALUE when parts
 * is 0 or part >= parts.  Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_rotate_part(const rope_plan *plan, const rope_job *job, size_t part,
                                      size_t parts);

/* ---- Queries: never NULL, never fail, thread-safe
 * ------------------------------------------------------------------------ */

/* A short static text for a status, "unknown status" for other numbers.  Since 0.1. */
ROPE_API const char *rope_status_string(rope_status status);

/* The version of the library that is running: major * 10000 + minor * 100 + patch, and as text.
 * Since 0.1. */
ROPE_API uint32_t rope_version(void);
ROPE_API const char *rope_version_string(void);

/*
 * The set that new plans use: the best that CPU and operating system offer, or exactly the one that
 * ROPE_ISA=scalar|avx2| avx512|neon in the environment names (read once, at the first call of any
 * function that needs it; ignored in set-user-ID programs).  ROPE_ISA_NONE if that names no set
 * that can be had; rope_plan_create then returns ROPE_ERR_ISA.  Since 0.1.
 */
ROPE_API rope_isa rope_active_isa(void);

/* 1 if the set is built in and this CPU and operating system can run it, else 0.  ROPE_ISA plays no
 * part.  Since 0.1. */
ROPE_API int rope_isa_available(rope_isa isa);

/* "scalar", "avx2", "avx512", "neon"; "none" for every other number.  Since 0.1. */
ROPE_API const char *rope_isa_name(rope_isa isa);

#ifdef __cplusplus
}
#endif

#endif
