/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any shape, stride and data for the slots of the kernels, between guard pages: every kernel set of
 * this CPU against the reference, bit for bit where the contract (kernels.h) promises bits.
 */
#include "dispatch.h"
#include "fuzz.h"
#include "reference.h"
#include "self_test.h"

#include <math.h>

enum { A, B, C, D, OUT, OUT2, ARRAYS }; /* operands by slot, see there */
static struct array arrays[ARRAYS];
static unsigned char expected[SPAN_MAX];

/* The index-th set that this CPU runs, also those that dispatch hides behind a better one. */
static const struct rope_kernel_set *set_at(size_t index)
{
    enum { SETS_MAX = 16 };
    static const struct rope_kernel_set *sets[SETS_MAX]; /* asking the CPU takes its time */
    if (sets[0] == NULL) {
        const struct rope_kernel_set *set;
        size_t n = 0;
        for (size_t k = 0; n < SETS_MAX - 1 && (set = rope_kernel_set_at(k)) != NULL; k++)
            if (rope_kernel_set_runs(set))
                sets[n++] = set;
    }
    return index < SETS_MAX ? sets[index] : NULL;
}

/* Sets of one name have the same bits but for the one without fma, where f64 sines are others. */
static int has_fma(const struct rope_kernel_set *set)
{
    static const struct rope_kernels *scalar;
    if (scalar == NULL)
        scalar = rope_kernels_for(ROPE_ISA_SCALAR);
    return set->isa != ROPE_ISA_SCALAR || set->kernels == scalar;
}

/* What the input says about every case. */
static struct {
    enum dtype type;
    enum side side;
    enum fill fill;
    size_t n; /* pairs or elements */
    uint64_t seed;
} now;

static void make(int operand, struct span span, enum dtype type, enum fill fill)
{
    array_size(&arrays[operand], span);
    REQUIRE(arrays[operand].fits);
    array_place(&arrays[operand], now.side);
    array_fill(&arrays[operand], type, now.seed + (uint64_t)operand, fill);
}

static void make_row(int operand, enum dtype type, size_t n, enum fill fill)
{
    make(operand, span_of((double)n, dtype_size(type), 0, NULL, NULL), type, fill);
}

static int same(double right, double got)
{
    return isnan(right) ? isnan(got) : got == right && signbit(got) == signbit(right);
}

static void check_inputs(int first, int last)
{
    for (int i = first; i <= last; i++)
        REQUIRE(array_is_kept(&arrays[i]));
}

/* ---- rotate: A src, OUT dst, C and D the row --------------------------------------------------- */

static struct rope_rotate_args rotation;
static int is_interleaved[2]; /* src, dst */

/* Bytes from the first element of the first pair of the first head of the first token. */
static ptrdiff_t element_at(int of_dst, size_t token, size_t head, size_t pair, int part)
{
    const size_t half = of_dst ? rotation.dst_half : rotation.src_half;
    const ptrdiff_t stride = of_dst ? rotation.dst_stride : rotation.src_stride;
    const ptrdiff_t step = of_dst ? rotation.dst_step : rotation.src_step;
    const size_t place = reference_place(is_interleaved[of_dst], half, pair, part);
    return (ptrdiff_t)token * step + (ptrdiff_t)head * stride +
           (ptrdiff_t)(place * dtype_size(now.type));
}

static double row_at(int operand, size_t token, size_t pair)
{
    return dtype_load(
        dtype_real(now.type),
        arrays[operand].kept + arrays[operand].before + (ptrdiff_t)token * rotation.row_step, pair);
}

static void expect_rotation(const struct array *src, const struct array *dst, int arith)
{
    const unsigned char *const from = src->kept + src->before;
    memcpy(expected, dst->kept, dst->size);
    for (size_t t = 0; t < rotation.tokens; t++)
        for (size_t h = 0; h < rotation.heads; h++)
            for (size_t i = 0; i < rotation.pairs; i++) {
                double out[2];
                unsigned char *const to = expected + dst->before;
                reference_rotate(now.type, arith,
                                 dtype_load(now.type, from + element_at(0, t, h, i, 0), 0),
                                 dtype_load(now.type, from + element_at(0, t, h, i, 1), 0),
                                 row_at(C, t, i), row_at(D, t, i), out);
                dtype_store(now.type, to + element_at(1, t, h, i, 0), 0, out[0]);
                dtype_store(now.type, to + element_at(1, t, h, i, 1), 0, out[1]);
            }
}

/* Strides of heads and tokens that nest, and the span of all. */
static struct span set_strides(int of_dst, unsigned gaps, unsigned signs)
{
    const size_t element = dtype_size(now.type);
    const size_t half = of_dst ? rotation.dst_half : rotation.src_half;
    const size_t length = is_interleaved[of_dst] ? 2 * now.n : half + now.n;
    const size_t head = length + gaps % 4;
    const size_t token = (rotation.heads - 1) * head + length + gaps / 4 % 4;
    const double count[2] = {(double)rotation.heads, (double)rotation.tokens};
    const double stride[2] = {signs & 1 ? -(double)head : (double)head,
                              signs & 2 ? -(double)token : (double)token};
    *(of_dst ? &rotation.dst_stride : &rotation.src_stride) =
        (ptrdiff_t)stride[0] * (ptrdiff_t)element;
    *(of_dst ? &rotation.dst_step : &rotation.src_step) = (ptrdiff_t)stride[1] * (ptrdiff_t)element;
    return span_of((double)length, element, 2, count, stride);
}

static void rotate(struct input *input)
{
    const enum dtype real = dtype_real(now.type);
    const unsigned shape = take_byte(input), more = take_byte(input);
    const unsigned gaps = take_byte(input), others = take_byte(input), rows = take_byte(input);
    const size_t element = dtype_size(now.type);
    const int arith = (int)(shape / 4 % 3), in_place = more / 16 % 2 && shape % 4 % 3 == 0;
    is_interleaved[0] = shape / 2 % 2;
    is_interleaved[1] = shape % 2;
    rotation = (struct rope_rotate_args){
        .heads = 1 + more % 4, .tokens = 1 + more / 4 % 4, .pairs = now.n};
    /* what fits, and the reference computes in a fraction of a millisecond */
    while (rotation.heads * rotation.tokens * (2 * now.n + 8) * element > SPAN_MAX ||
           (rotation.heads * rotation.tokens > 1 && rotation.heads * rotation.tokens * now.n > 300))
        *(rotation.tokens > 1 ? &rotation.tokens : &rotation.heads) -= 1;
    rotation.src_half = now.n + gaps / 16 % 4;
    rotation.dst_half = in_place ? rotation.src_half : now.n + gaps / 64;
    rotation.ahead = rows & 128 ? (ptrdiff_t)rows * 64 : 0;
    const struct span src = set_strides(0, gaps, more / 32 % 4);
    const struct span dst =
        in_place ? set_strides(1, gaps, more / 32 % 4) : set_strides(1, others, others / 16);
    make(A, src, now.type, now.fill);
    make(OUT, dst, now.type, FILL_BITS);
    const double row_count = (double)rotation.tokens;
    const double row_stride = rows % 4 == 0   ? 0.0
                              : rows % 4 == 1 ? -(double)now.n
                                              : (double)(now.n + rows % 4);
    const struct span row = span_of((double)now.n, dtype_size(real), 1, &row_count, &row_stride);
    rotation.row_step = (ptrdiff_t)row_stride * (ptrdiff_t)dtype_size(real);
    make(C, row, real, now.fill == FILL_BITS ? FILL_BITS : FILL_PLAIN);
    make(D, row, real, now.fill == FILL_SPECIAL ? FILL_SPECIAL : FILL_PLAIN);
    struct array *const target = &arrays[in_place ? A : OUT];
    rotation.src = arrays[A].address;
    rotation.dst = target->address;
    rotation.cos = arrays[C].address;
    rotation.sin = arrays[D].address;
    rotation.stream = (((uintptr_t)rotation.dst | (uintptr_t)rotation.dst_stride |
                        (uintptr_t)rotation.dst_step | rotation.pairs * element) &
                       63) == 0;
    expect_rotation(&arrays[A], target, arith);
    const int pairing = 2 * is_interleaved[0] + is_interleaved[1];
    const int can_turn = now.type == DT_F32 && arith == RK_FUSED && pairing % 3 == 0 &&
                         !rotation.stream && rotation.heads > 1;
    for (size_t k = 0; set_at(k) != NULL; k++) {
        rope_turns_fn *const turns = set_at(k)->kernels->turns[is_interleaved[0]];
        for (int by_turns = 0; by_turns <= (can_turn && turns != NULL); by_turns++) {
            array_restore(target);
            if (by_turns)
                rope_take_turns(turns, &rotation);
            else
                set_at(k)->kernels->rotate[arith][pairing][now.type](&rotation);
            const size_t n = target->size / element;
            REQUIRE(image_differs(now.type, expected, target->low, n, NULL) == n);
            REQUIRE(array_canaries_live(target));
            check_inputs(C, D);
            REQUIRE(in_place || array_is_kept(&arrays[A]));
        }
    }
}

/* ---- rows: A and B the factors' cosines and sines; OUT and OUT2 the row ------------------------- */

/* Where entry i of the cosines (sines) stands, copy 0 or 1. */
static double row_entry(const struct rope_rows_args *args, size_t i, int sine, int copy)
{
    const struct array *const array = &arrays[sine && args->layout != RK_PAIRS ? OUT2 : OUT];
    const size_t at = args->layout == RK_PAIRS       ? 2 * i + (size_t)sine
                      : args->layout == RK_DUP_PAIRS ? 2 * i + (size_t)copy
                      : args->layout == RK_DUP_HALF  ? i + (copy ? args->dup : 0)
                                                     : i;
    return dtype_load(now.type, array->low, at);
}

static struct rope_rows_args make_rows(struct input *input)
{
    const unsigned shape = take_byte(input);
    struct rope_rows_args args = {.layout = (enum rope_kernel_layout)(shape % 4), .pairs = now.n};
    args.dup = now.n + shape / 4 % 3;
    const size_t n = args.layout == RK_SEPARATE   ? now.n
                     : args.layout == RK_DUP_HALF ? args.dup + now.n
                                                  : 2 * now.n;
    make_row(OUT, now.type, n, FILL_PLAIN);
    make_row(OUT2, now.type, args.layout == RK_PAIRS ? 0 : n, FILL_PLAIN);
    args.cos = arrays[OUT].address;
    args.sin = args.layout == RK_PAIRS ? NULL : arrays[OUT2].address;
    args.stream = args.layout == RK_SEPARATE && n * dtype_size(now.type) % 64 == 0;
    args.cos_scale = args.sin_scale = 1.0;
    if (shape & 64)
        args.cos_scale = 0.75, args.sin_scale = shape & 128 ? -0.75 : 0.75;
    return args;
}

static void rows(struct input *input)
{
    struct rope_rows_args args = make_rows(input);
    args.factors = 1 + take_byte(input) % 4;
    make_row(A, DT_F64, 4 * now.n, now.fill);
    make_row(B, DT_F64, 4 * now.n, now.fill == FILL_BITS ? FILL_PLAIN : now.fill);
    for (size_t k = 0; k < args.factors; k++) {
        args.table_cos[k] = (const double *)arrays[A].address + k * now.n;
        args.table_sin[k] = (const double *)arrays[B].address + k * now.n;
    }
    static double right[RK_MAX_PAIRS][2];
    for (size_t i = 0; i < now.n; i++) {
        double c[4], s[4];
        for (size_t f = 0; f < args.factors; f++) {
            c[f] = args.table_cos[f][i];
            s[f] = args.table_sin[f][i];
        }
        reference_product(now.type, args.factors, c, s, args.cos_scale, args.sin_scale, right[i]);
    }
    for (size_t k = 0; set_at(k) != NULL; k++) {
        array_restore(&arrays[OUT]);
        array_restore(&arrays[OUT2]);
        set_at(k)->kernels->rows[now.type](&args);
        set_at(k)->kernels->fence();
        for (size_t i = 0; i < now.n; i++)
            for (int entry = 0; entry < 4; entry++) {
                const double got = row_entry(&args, i, entry / 2, entry % 2);
                const double wanted = right[i][entry / 2];
                /* tiny bf16 results may be rounded twice */
                if (now.type == DT_BF16 && fabs(wanted) < 0x1p-120)
                    REQUIRE(fabs(got - wanted) <= 0x1p-133);
                else
                    REQUIRE(same(wanted, got));
            }
        check_inputs(A, B);
        REQUIRE(array_canaries_live(&arrays[OUT]) && array_canaries_live(&arrays[OUT2]));
    }
}

/* ---- run: A and B the rows of the factors, cosines and sines; OUT and OUT2 the rows ------------- */

static void run(struct input *input)
{
    enum { ENTRIES = SPAN_MAX / 16 / 8 - 8 }; /* of all rows */
    static double right[ENTRIES][2];
    const unsigned shape = take_byte(input), gap = take_byte(input) % 4;
    struct rope_run_args args = {.rows = 1 + shape % RK_RUN, .unit = shape / 16 % 2};
    args.pairs = (now.n - 1) % (ENTRIES / args.rows) + 1;
    args.sin_at = args.pairs + gap;
    now.type = now.type == DT_F64 ? DT_F32 : now.type;
    const size_t element = dtype_size(now.type), row = args.sin_at + args.pairs;
    const double step = shape & 128 ? -(double)(args.pairs + gap) : (double)(args.pairs + gap);
    const double count = (double)args.rows;
    const struct span span = span_of((double)args.pairs, element, 1, &count, &step);
    make(OUT, span, now.type, FILL_PLAIN);
    make(OUT2, span, now.type, FILL_PLAIN);
    make_row(A, DT_F64, args.rows * row, now.fill);
    make_row(B, DT_F64, args.rows * row, now.fill == FILL_BITS ? FILL_PLAIN : now.fill);
    args.cos = arrays[OUT].address;
    args.sin = arrays[OUT2].address;
    args.step = (ptrdiff_t)step * (ptrdiff_t)element;
    args.stream = args.pairs * element % 64 == 0 && gap == 0;
    args.cos_scale = args.unit ? 1.0 : 0.75;
    for (size_t r = 0; r < args.rows; r++) {
        args.fine[r] = (const double *)arrays[A].address + r * row;
        args.coarse[r] = (const double *)arrays[B].address + r * row;
        args.sin_scale[r] = args.unit ? 1.0 : r % 2 != 0 ? -0.75 : 0.75;
        for (size_t i = 0; i < args.pairs; i++) {
            const double c[2] = {args.fine[r][i], args.coarse[r][i]};
            const double s[2] = {args.fine[r][args.sin_at + i], args.coarse[r][args.sin_at + i]};
            reference_product(now.type, 2, c, s, args.cos_scale, args.sin_scale[r],
                              right[r * args.pairs + i]);
        }
    }
    for (size_t k = 0; set_at(k) != NULL; k++) {
        array_restore(&arrays[OUT]);
        array_restore(&arrays[OUT2]);
        set_at(k)->kernels->run[now.type](&args);
        set_at(k)->kernels->fence();
        check_inputs(A, B);
        REQUIRE(array_canaries_live(&arrays[OUT]) && array_canaries_live(&arrays[OUT2]));
        for (size_t i = 0; i < 2 * args.rows * args.pairs; i++) {
            const struct array *const array = &arrays[i % 2 ? OUT2 : OUT];
            const size_t r = i / 2 / args.pairs, pair = i / 2 % args.pairs;
            const double got = dtype_load(
                now.type, array->low + (ptrdiff_t)array->before + (ptrdiff_t)r * args.step, pair);
            const double wanted = right[i / 2][i % 2];
            if (now.type == DT_BF16 && fabs(wanted) < 0x1p-120)
                REQUIRE(fabs(got - wanted) <= 0x1p-133);
            else
                REQUIRE(same(wanted, got));
        }
    }
}

/* ---- direct and direct_f32: A turns, B what they leave, C frequencies -------------------------- */

static void direct(struct input *input, int is_f32)
{
    static unsigned char first[2][SPAN_MAX];
    struct rope_rows_args args = make_rows(input);
    int32_t whole;
    take(input, &whole, sizeof whole);
    const unsigned chosen = take_byte(input);
    args.position = (double)whole / (chosen & 1 ? 8.0 : 1.0);
    make_row(A, DT_F64, now.n, FILL_PLAIN);
    make_row(B, DT_F64, now.n, FILL_PLAIN);
    make_row(C, DT_F64, now.n, FILL_PLAIN);
    double *const hi = arrays[A].address, *const lo = arrays[B].address;
    double *const freq = arrays[C].address;
    for (size_t i = 0; i < now.n; i++) {
        hi[i] = ldexp(hi[i], -(int)(i % 24));
        lo[i] = ldexp(lo[i], -54 - (int)(i % 24));
        freq[i] = (double)(float)ldexp(freq[i], -(int)(i % 24));
    }
    for (int i = A; i <= C; i++)
        array_keep(&arrays[i]);
    if (is_f32)
        args.position = (double)(float)args.position;
    args.turns_hi = hi;
    args.turns_lo = lo;
    args.freq = freq;
    const size_t pair = take_byte(input) % now.n;
    for (size_t k = 0; set_at(k) != NULL; k++) {
        const struct rope_kernel_set *const set = set_at(k);
        for (int i = OUT; i <= OUT2; i++)
            array_restore(&arrays[i]);
        (is_f32 ? set->kernels->direct_f32 : set->kernels->direct)[now.type](&args);
        set->kernels->fence();
        check_inputs(A, C);
        for (int i = OUT; i <= OUT2; i++) {
            const size_t n = arrays[i].size / dtype_size(now.type);
            REQUIRE(array_canaries_live(&arrays[i]));
            if (k == 0)
                memcpy(first[i - OUT], arrays[i].low, arrays[i].size);
            else if (has_fma(set))
                REQUIRE(image_differs(now.type, first[i - OUT], arrays[i].low, n, NULL) == n);
        }
        if (k != chosen / 32 && (k != 0 || set_at(chosen / 32) != NULL)) /* MPFR takes its time */
            continue;
        mpfr_t angle, turn;
        mpfr_inits2(REFERENCE_BITS, angle, turn, (mpfr_ptr)NULL);
        if (is_f32) {
            mpfr_set_flt(angle, (float)args.position * (float)freq[pair], MPFR_RNDN);
        } else {
            mpfr_set_d(angle, hi[pair], MPFR_RNDN);
            mpfr_add_d(angle, angle, lo[pair], MPFR_RNDN);
            mpfr_mul_d(angle, angle, 2.0 * args.position, MPFR_RNDN);
            mpfr_const_pi(turn, MPFR_RNDN);
            mpfr_mul(angle, angle, turn, MPFR_RNDN);
        }
        struct reference_bounds bounds[2];
        reference_cos_sin(now.type, angle, args.cos_scale, args.sin_scale, 1.0,
                          fabs(args.cos_scale) * 4e-16, bounds);
        mpfr_clears(angle, turn, (mpfr_ptr)NULL);
        for (int sine = 0; sine < 2; sine++)
            REQUIRE(reference_within(bounds[sine], row_entry(&args, pair, sine, 0)));
    }
}

/* ---- add: A src, B the row, C factors, OUT dst; widen: A to OUT -------------------------------- */

static void add(struct input *input)
{
    const enum dtype real = dtype_real(now.type);
    const unsigned shape = take_byte(input);
    make_row(A, now.type, now.n, now.fill);
    make_row(B, real, now.n, now.fill == FILL_SPECIAL ? FILL_SPECIAL : FILL_PLAIN);
    make_row(C, real, now.n, FILL_PLAIN);
    make_row(OUT, now.type, now.n, FILL_BITS);
    struct array *const dst = &arrays[shape & 1 ? A : OUT];
    const int factors = shape >> 1 & 1;
    for (size_t i = 0; i < now.n; i++) {
        const double x = dtype_load(now.type, arrays[A].kept, i);
        const double row = dtype_load(real, arrays[B].kept, i);
        const double factor = dtype_load(real, arrays[C].kept, i);
        double sum;
        if (real == DT_F64) {
            sum = factors ? (x + row) * factor : x + row;
        } else {
            const float single = (float)x + (float)row;
            sum = (double)(factors ? single * (float)factor : single);
        }
        dtype_store(now.type, expected, i, sum);
    }
    const struct rope_add_args args = {.src = arrays[A].address,
                                       .dst = dst->address,
                                       .row = arrays[B].address,
                                       .factor = factors ? arrays[C].address : NULL,
                                       .n = now.n};
    for (size_t k = 0; set_at(k) != NULL; k++) {
        array_restore(dst);
        set_at(k)->kernels->add[now.type](&args);
        REQUIRE(image_differs(now.type, expected, dst->low, now.n, NULL) == now.n);
        REQUIRE(array_canaries_live(dst));
        check_inputs(B, C);
    }
}

static void widen(struct input *input)
{
    const size_t step = 1 + take_byte(input) % 2;
    now.type = now.type == DT_F16 ? DT_F16 : DT_BF16;
    make_row(A, now.type, (now.n - 1) * step + 1, now.fill);
    make_row(OUT, DT_F32, now.n, FILL_PLAIN);
    for (size_t k = 0; set_at(k) != NULL; k++) {
        array_restore(&arrays[OUT]);
        set_at(k)->kernels->widen[now.type](arrays[OUT].address, arrays[A].address, step, now.n);
        for (size_t i = 0; i < now.n; i++)
            REQUIRE(same(dtype_load(now.type, arrays[A].kept, i * step),
                         dtype_load(DT_F32, arrays[OUT].low, i)));
        REQUIRE(array_canaries_live(&arrays[OUT]));
        check_inputs(A, A);
    }
}

/* ---- powers: OUT and OUT2 the table, A the step ----------------------------------------------- */

static void powers(struct input *input)
{
    enum { ROWS_MAX = 8, PAIRS_MAX = 32 };
    static unsigned char first[3][SPAN_MAX];
    const size_t pairs = (now.n - 1) % PAIRS_MAX + 1, count = 1 + take_byte(input) % ROWS_MAX;
    const size_t row_stride = pairs + take_byte(input) % 3;
    make_row(OUT, DT_F64, (count - 1) * row_stride + pairs, FILL_PLAIN);
    make_row(OUT2, DT_F64, (count - 1) * row_stride + pairs, FILL_PLAIN);
    make_row(A, DT_F64, 4 * pairs, FILL_PLAIN);
    double *const step = arrays[A].address;
    for (size_t i = 0; i < pairs; i++) {
        const double angle = step[i];
        step[i] = cos(angle), step[pairs + i] = ldexp(cos(angle + 1.0), -56);
        step[2 * pairs + i] = sin(angle), step[3 * pairs + i] = ldexp(sin(angle + 1.0), -56);
    }
    array_keep(&arrays[A]);
    for (size_t k = 0; set_at(k) != NULL; k++) {
        for (int i = A; i <= OUT2; i++)
            if (i == A || i >= OUT)
                array_restore(&arrays[i]);
        struct rope_powers_args args = {.table_cos = arrays[OUT].address,
                                        .table_sin = arrays[OUT2].address,
                                        .row_stride = row_stride,
                                        .rows = count,
                                        .pairs = pairs,
                                        .re_hi = step,
                                        .re_lo = step + pairs,
                                        .im_hi = step + 2 * pairs,
                                        .im_lo = step + 3 * pairs};
        set_at(k)->kernels->powers(&args);
        const int which[3] = {OUT, OUT2, A};
        for (int i = 0; i < 3; i++) {
            const struct array *const array = &arrays[which[i]];
            REQUIRE(array_canaries_live(array));
            if (k == 0)
                memcpy(first[i], array->low, array->size);
            else
                REQUIRE(memcmp(first[i], array->low, array->size) == 0);
        }
    }
    const double *const table[2] = {arrays[OUT].address, arrays[OUT2].address};
    const double *const was = (const double *)(const void *)arrays[A].kept;
    for (size_t i = 0; i < pairs; i++) {
        const long double re = (long double)was[i] + (long double)was[pairs + i];
        const long double im = (long double)was[2 * pairs + i] + (long double)was[3 * pairs + i];
        long double c = 1.0L, s = 0.0L;
        for (size_t row = 0; row < count; row++) {
            REQUIRE(fabsl((long double)table[0][row * row_stride + i] - c) < 1.2e-16L);
            REQUIRE(fabsl((long double)table[1][row * row_stride + i] - s) < 1.2e-16L);
            const long double next = c * re - s * im;
            s = s * re + c * im;
            c = next;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    const unsigned slot = take_byte(&input), kind = take_byte(&input), n = take_byte(&input);
    now.type = (enum dtype)(kind % DTYPES);
    now.fill = (enum fill)(kind / 4 % FILLS);
    now.side = kind & 128 ? AT_START : AT_END;
    now.n = 1 + (n < 0xe0 ? n % 70 : (n - 0xe0) * 8 % RK_MAX_PAIRS);
    now.seed = take_word(&input);
    switch (slot % 9) {
    case 0:
        rows(&input);
        break;
    case 1:
        direct(&input, 0);
        break;
    case 2:
        direct(&input, 1);
        break;
    case 3:
        add(&input);
        break;
    case 4:
        widen(&input);
        break;
    case 5:
        powers(&input);
        break;
    case 8:
        run(&input);
        break;
    default:
        rotate(&input);
        break;
    }
    return 0;
}
