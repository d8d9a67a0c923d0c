/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instantiates every body for every dtype and defines the table of one set.
 * Parameters: ISA, the word that ends the names; a vec_*.h must be included before.
 */
#include "kernels.h"
#include "vec_pair.h"

/* Loops of a few constant turns that must become straight code, or their arrays stay in memory. */
#if defined(__clang__)
#define RV_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define RV_UNROLL _Pragma("GCC unroll 8")
#else
#define RV_UNROLL
#endif

#define PASTE_(a, b) a##_##b
#define PASTE(a, b)  PASTE_(a, b)
#define KERNEL(name) PASTE(PASTE(name, T), ISA) /* rotate_f32_avx2 */
#define V(verb)      PASTE(PASTE(rv, verb), T)  /* rv_load_f32 */

/*
 * For each dtype: elem in memory, real that computes, block that a step works on, WIDTH elements of
 * a block, VECTORS f64 vectors in it.
 */
typedef float rv_elem_f32, rv_real_f32;
typedef double rv_elem_f64, rv_real_f64;
typedef uint16_t rv_elem_f16, rv_elem_bf16;
typedef float rv_real_f16, rv_real_bf16;
typedef rv_f32 rv_block_f32;
typedef rv_f64 rv_block_f64;
typedef rv_f32x2 rv_block_f16, rv_block_bf16;
enum {
    rv_WIDTH_f32 = RV_F32_LANES,
    rv_WIDTH_f64 = RV_F64_LANES,
    rv_WIDTH_f16 = 2 * RV_F32_LANES,
    rv_WIDTH_bf16 = 2 * RV_F32_LANES
};
enum {
    rv_VECTORS_f32 = rv_WIDTH_f32 / RV_F64_LANES,
    rv_VECTORS_f64 = 1,
    rv_VECTORS_f16 = rv_WIDTH_f16 / RV_F64_LANES,
    rv_VECTORS_bf16 = rv_WIDTH_bf16 / RV_F64_LANES
};

enum { /* blocks that a rotation holds in registers at once, beside its row */
       rv_TOGETHER_f32 = RV_TOGETHER,
       rv_TOGETHER_f64 = RV_TOGETHER,
       rv_TOGETHER_f16 = 1,
       rv_TOGETHER_bf16 = 1
};
/*
 * The pairs that a head of nearly all models turns, of 16 to 512 elements: these widths have functions of their
 * own, which stand in tables in this order.
 */
#define WIDTHS(one, ...)                                                                        \
    one(8, __VA_ARGS__) one(10, __VA_ARGS__) one(12, __VA_ARGS__) one(16, __VA_ARGS__)          \
        one(20, __VA_ARGS__) one(24, __VA_ARGS__) one(32, __VA_ARGS__) one(36, __VA_ARGS__)     \
            one(40, __VA_ARGS__) one(48, __VA_ARGS__) one(56, __VA_ARGS__) one(64, __VA_ARGS__) \
                one(80, __VA_ARGS__) one(96, __VA_ARGS__) one(128, __VA_ARGS__)                 \
                    one(256, __VA_ARGS__)
#define PLACE(pairs, ...) PASTE(at_##pairs, ISA),
#define PAIRS(pairs, ...) [pairs] = PASTE(at_##pairs, ISA),
enum { PASTE(at_none, ISA), WIDTHS(PLACE, ) PASTE(width_count, ISA) };
static const unsigned char PASTE(place_of_pairs, ISA)[RK_MAX_PAIRS + 1] = {WIDTHS(PAIRS, )};
#undef PLACE
#undef PAIRS

/* f32 and f64: one order of lanes, and nothing to round. */
#define rv_loadrow_f32     rv_load_f32
#define rv_split_f32(v, n) ((void)(n), (v))
#define rv_join_f32(v, n)  ((void)(n), (v))
#define rv_round_f32(v)    (v)
#define rv_loadrow_f64     rv_load_f64
#define rv_split_f64(v, n) ((void)(n), (v))
#define rv_join_f64(v, n)  ((void)(n), (v))
#define rv_round_f64(v)    (v)
#define rv_narrow_f64(v)   (*(v))
/* 16-bit: arithmetic of f32 blocks. */
#define rv_loadrow_f16  rv_loadrow_f32x2
#define rv_add_f16      rv_add_f32x2
#define rv_sub_f16      rv_sub_f32x2
#define rv_mul_f16      rv_mul_f32x2
#define rv_fma_f16      rv_fma_f32x2
#define rv_fms_f16      rv_fms_f32x2
#define rv_hold_f16(v)  (v)
#define rv_narrow_f16   rv_narrow_f32x2
#define rv_loadrow_bf16 rv_loadrow_f32x2
#define rv_add_bf16     rv_add_f32x2
#define rv_sub_bf16     rv_sub_f32x2
#define rv_mul_bf16     rv_mul_f32x2
#define rv_fma_bf16     rv_fma_f32x2
#define rv_fms_bf16     rv_fms_f32x2
#define rv_hold_bf16(v) (v)
#define rv_narrow_bf16  rv_narrow_f32x2

#define T f32
#include "add.inc.h"
#include "rotate.inc.h"
#include "rows.inc.h"
#include "run.inc.h"
#if RV_TURNS
#include "turns.inc.h"
#endif
#undef T
#define T f64
#include "add.inc.h"
#include "powers.inc.h"
#include "rotate.inc.h"
#include "rows.inc.h"
#undef T
#define T f16
#include "add.inc.h"
#include "rotate.inc.h"
#include "rows.inc.h"
#include "run.inc.h"
#include "widen.inc.h"
#undef T
#define T bf16
#include "add.inc.h"
#include "rotate.inc.h"
#include "rows.inc.h"
#include "run.inc.h"
#include "widen.inc.h"
#undef T

static void PASTE(fence, ISA)(void)
{
    rv_fence();
}

#define SLOT(name, dtype) PASTE(PASTE(name, dtype), ISA)
#define DTYPES(name)                                                        \
    {                                                                       \
        SLOT(name, f32), SLOT(name, f64), SLOT(name, f16), SLOT(name, bf16) \
    }

/* clang-format off */
const struct rope_kernels PASTE(rope_kernels, ISA) = {
    .rotate = {{DTYPES(rotate_half), DTYPES(rotate_half_to_interleaved),
                DTYPES(rotate_interleaved_to_half), DTYPES(rotate_interleaved)},
               {DTYPES(eager_half), DTYPES(eager_half_to_interleaved),
                DTYPES(eager_interleaved_to_half), DTYPES(eager_interleaved)},
               {DTYPES(unfused_half), DTYPES(unfused_half_to_interleaved),
                DTYPES(unfused_interleaved_to_half), DTYPES(unfused_interleaved)}},
#if RV_TURNS
    .turns = {SLOT(turns_half, f32), SLOT(turns_interleaved, f32)},
#endif
    .rows = DTYPES(rows),
    .run = {SLOT(run, f32), NULL, SLOT(run, f16), SLOT(run, bf16)},
    .direct = DTYPES(direct),
    .direct_f32 = DTYPES(direct_f32),
    .widen = {NULL, NULL, SLOT(widen, f16), SLOT(widen, bf16)},
    .powers = SLOT(powers, f64),
    .add = DTYPES(add_row),
    .fence = PASTE(fence, ISA),
};
/* clang-format on */
