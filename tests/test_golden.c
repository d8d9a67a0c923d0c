/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs of other implementations against this library, as tests/golden/README.md describes them:
 * rotations from their own rows bit for bit, rows and rotations from positions within the bounds
 * that their rounding explains.  Uses the public interface only; the data are linked into the
 * program, so that it runs on an emulated machine without files.
 */
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Links a file into the program, with a NUL behind it. */
#define EMBED(name, file)                                                      \
    __asm__(".pushsection .rodata\n.balign 16\n.globl " #name "\n" #name ":\n" \
            ".incbin \"" file "\"\n.byte 0\n.popsection\n");                   \
    extern const char name[]

EMBED(golden_onnx_text, ROPE_TEST_DATA "/onnx.txt");
EMBED(golden_onnx_data, ROPE_TEST_DATA "/onnx.bin");
EMBED(golden_ggml_text, ROPE_TEST_DATA "/ggml.txt");
EMBED(golden_ggml_data, ROPE_TEST_DATA "/ggml.bin");
EMBED(golden_modules_text, ROPE_TEST_DATA "/modules.txt");
EMBED(golden_modules_data, ROPE_TEST_DATA "/modules.bin");
EMBED(golden_huggingface_text, ROPE_TEST_DATA "/huggingface.txt");
EMBED(golden_huggingface_data, ROPE_TEST_DATA "/huggingface.bin");

/* ---- The cases ---- */

struct array {
    rope_dtype dtype;
    const void *data; /* NULL: the case has none */
    size_t count;
};

struct golden {
    char id[64];
    int head_major; /* [batch, head, token, head_dim], else [batch, token, head, head_dim] */
    size_t batch, tokens, rotary_dim;
    size_t heads[2], head_dim[2], rotary_offset[2]; /* q, k */
    rope_pairing pairing;
    rope_pairing_out pairing_out;
    rope_direction direction;
    int signed_rows; /* sin carries the sign of the direction already */
    struct array x[2], out[2];
    char row_of[8];
    struct array cos, sin, index;
    int eager, fused, near; /* arithmetic that gives out from cos and sin */
    rope_dtype row_type;
    rope_scheme scheme; /* -1: the frequencies are not of this interface */
    double theta, factor, attention;
    struct array frequencies, positions;
    struct array exact_cos, exact_sin, row_bound;
    double out_error;
    struct array inv_freq, inv_freq_f64;
    double inv_freq_error;
    double angle_ulp;
    struct array angle_positions;
};

static enum dtype type_of(rope_dtype dtype)
{
    return (enum dtype)(dtype - 1);
}

static double load(const struct array *array, size_t index)
{
    int64_t wide;
    int32_t narrow;
    switch (array->dtype) {
    case ROPE_I64:
        memcpy(&wide, (const char *)array->data + index * sizeof wide, sizeof wide);
        return (double)wide;
    case ROPE_I32:
        memcpy(&narrow, (const char *)array->data + index * sizeof narrow, sizeof narrow);
        return (double)narrow;
    default:
        return dtype_load(type_of(array->dtype), array->data, index);
    }
}

/* The value of " key=" in a line, up to the next blank; "" if it is not there. */
static void field(const char *line, const char *key, char *value, size_t size)
{
    const char *end = strchr(line, '\n');
    const size_t length = strlen(key);
    value[0] = 0;
    for (const char *at = line; (at = strchr(at, ' ')) && at < end;) {
        at++;
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            const size_t n = strcspn(at + length + 1, " \n");
            assert_true(n < size);
            memcpy(value, at + length + 1, n);
            value[n] = 0;
            return;
        }
    }
}

static double field_number(const char *line, const char *key, double otherwise)
{
    char value[64];
    field(line, key, value, sizeof value);
    return value[0] ? strtod(value, NULL) : otherwise;
}

static size_t field_size(const char *line, const char *key, size_t otherwise)
{
    return (size_t)field_number(line, key, (double)otherwise);
}

static rope_dtype dtype_named(const char *name)
{
    static const char *const names[] = {"", "f32", "f64", "f16", "bf16", "i32", "i64"};
    for (rope_dtype dtype = ROPE_F32; dtype <= ROPE_I64; dtype++)
        if (strcmp(name, names[dtype]) == 0)
            return dtype;
    assert_string_equal(name, "");
    return 0;
}

/* dtype:offset:count */
static struct array field_array(const char *line, const char *key, const char *data)
{
    char value[64];
    struct array array = {0, NULL, 0};
    field(line, key, value, sizeof value);
    if (value[0]) {
        char *colon = strchr(value, ':');
        *colon = 0;
        array.dtype = dtype_named(value);
        array.data = data + strtoul(colon + 1, &colon, 10);
        array.count = strtoul(colon + 1, NULL, 10);
    }
    return array;
}

static int field_is(const char *line, const char *key, const char *expected)
{
    char value[64];
    field(line, key, value, sizeof value);
    return strstr(value, expected) != NULL;
}

static struct golden golden_parse(const char *line, const char *data)
{
    struct golden golden;
    char name[16];
    field(line, "id", golden.id, sizeof golden.id);
    golden.head_major = field_is(line, "order", "bhtd");
    golden.batch = field_size(line, "batch", 0);
    golden.tokens = field_size(line, "tokens", 0);
    golden.rotary_dim = field_size(line, "rotary_dim", 0);
    golden.heads[0] = field_size(line, "heads", 0);
    golden.heads[1] = field_size(line, "k_heads", 0);
    golden.head_dim[0] = field_size(line, "head_dim", 0);
    golden.head_dim[1] = field_size(line, "k_head_dim", golden.head_dim[0]);
    golden.rotary_offset[0] = field_size(line, "rotary_offset", 0);
    golden.rotary_offset[1] = field_size(line, "k_rotary_offset", golden.rotary_offset[0]);
    golden.pairing = field_is(line, "pairing", "interleaved") ? ROPE_INTERLEAVED : ROPE_HALF;
    golden.pairing_out = field_is(line, "pairing_out", "half") ? ROPE_OUT_HALF : ROPE_OUT_SAME;
    golden.direction = field_is(line, "direction", "transpose") ? ROPE_TRANSPOSE : ROPE_FORWARD;
    golden.signed_rows = field_is(line, "signed_rows", "1");
    golden.x[0] = field_array(line, "x", data);
    golden.x[1] = field_array(line, "k", data);
    golden.out[0] = field_array(line, "out", data);
    golden.out[1] = field_array(line, "k_out", data);
    field(line, "row_of", golden.row_of, sizeof golden.row_of);
    golden.cos = field_array(line, "cos", data);
    golden.sin = field_array(line, "sin", data);
    golden.index = field_array(line, "index", data);
    golden.eager = field_is(line, "bits", "eager");
    golden.fused = field_is(line, "bits", "fused");
    golden.near = field_is(line, "bits", "near");
    field(line, "row_type", name, sizeof name);
    golden.row_type = dtype_named(name);
    golden.scheme = field_is(line, "scheme", "default")  ? ROPE_SCHEME_DEFAULT
                    : field_is(line, "scheme", "linear") ? ROPE_SCHEME_LINEAR
                    : field_is(line, "scheme", "custom") ? ROPE_SCHEME_CUSTOM
                                                         : -1;
    golden.theta = field_number(line, "theta", 0);
    golden.factor = field_number(line, "factor", 0);
    golden.attention = field_number(line, "attention", 1);
    golden.frequencies = field_array(line, "frequencies", data);
    golden.positions = field_array(line, "pos", data);
    golden.exact_cos = field_array(line, "exact_cos", data);
    golden.exact_sin = field_array(line, "exact_sin", data);
    golden.row_bound = field_array(line, "row_bound", data);
    golden.out_error = field_number(line, "out_error", NAN);
    golden.inv_freq = field_array(line, "inv_freq", data);
    golden.inv_freq_f64 = field_array(line, "f64_freq", data);
    golden.inv_freq_error = field_number(line, "inv_freq_error", 0);
    golden.angle_ulp = field_number(line, "angle_ulp", 0);
    golden.angle_positions = field_array(line, "angle_pos", data);
    return golden;
}

/* Calls check for every case of a text; `expected` of them must have something to check. */
static void golden_all(const char *text, const char *data, int (*check)(const struct golden *),
                       int expected)
{
    int checked = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (strncmp(line, "case ", 5) == 0) {
            const struct golden golden = golden_parse(line, data);
            checked += check(&golden);
        }
    }
    assert_int_equal(checked, expected);
}

/* ---- Jobs ---- */

struct strides {
    ptrdiff_t batch, token, head;
};

static struct strides strides_of(const struct golden *golden, int which)
{
    const ptrdiff_t heads = (ptrdiff_t)golden->heads[which];
    const ptrdiff_t tokens = (ptrdiff_t)golden->tokens;
    const ptrdiff_t width = (ptrdiff_t)golden->head_dim[which];
    const struct strides head_major = {heads * tokens * width, width, tokens * width};
    const struct strides token_major = {heads * tokens * width, heads * width, width};
    return golden->head_major ? head_major : token_major;
}

static size_t bytes_of(const struct array *array)
{
    return array->count * dtype_size(type_of(array->dtype));
}

/* q, k or NULL as a tensor that goes to a new buffer, filled with x if in place, else with 0xff. */
static const rope_tensor *tensor_make(const struct golden *golden, int which, int in_place,
                                      rope_tensor *tensor)
{
    static const rope_tensor init = ROPE_TENSOR_INIT;
    const struct array *x = &golden->x[which];
    const struct strides strides = strides_of(golden, which);
    *tensor = init;
    if (!x->data)
        return NULL;
    assert_int_equal(x->count, golden->out[which].count);
    assert_int_equal(x->count, golden->batch * golden->tokens * golden->heads[which] *
                                   golden->head_dim[which]);
    tensor->dst = malloc(bytes_of(x));
    assert_non_null(tensor->dst);
    memset(tensor->dst, 0xff, bytes_of(x));
    if (in_place)
        memcpy(tensor->dst, x->data, bytes_of(x));
    tensor->dtype = x->dtype;
    tensor->src = in_place ? tensor->dst : x->data;
    tensor->heads = golden->heads[which];
    tensor->head_dim = golden->head_dim[which];
    tensor->rotary_offset = golden->rotary_offset[which];
    tensor->src_stride_batch = tensor->dst_stride_batch = strides.batch;
    tensor->src_stride_token = tensor->dst_stride_token = strides.token;
    tensor->src_stride_head = tensor->dst_stride_head = strides.head;
    return tensor;
}

static size_t place(rope_pairing pairing, size_t pairs, size_t pair, size_t part)
{
    return pairing == ROPE_HALF ? pair + part * pairs : 2 * pair + part;
}

/*
 * Compares dst with out: within slack (|x| + |y|) + constant + half an ulp of a 16-bit type inside
 * the rotated slice, the same bits outside of it; with slack and constant 0 the same bits
 * everywhere.
 */
static void compare_out(const struct golden *golden, int which, const rope_tensor *tensor,
                        const char *how, double slack, double constant)
{
    const struct array *x = &golden->x[which], *out = &golden->out[which];
    const enum dtype type = type_of(x->dtype);
    const size_t pairs = golden->rotary_dim / 2, width = golden->head_dim[which];
    const rope_pairing pairing_out =
        golden->pairing_out == ROPE_OUT_HALF ? ROPE_HALF : golden->pairing;
    unsigned char *inside = calloc(x->count, 1);
    assert_non_null(inside);
    for (size_t head = 0; (slack > 0 || constant > 0) && head < x->count / width; head++) {
        const size_t slice = head * width + golden->rotary_offset[which];
        for (size_t pair = 0; pair < pairs; pair++) {
            const double size = fabs(load(x, slice + place(golden->pairing, pairs, pair, 0))) +
                                fabs(load(x, slice + place(golden->pairing, pairs, pair, 1)));
            for (size_t part = 0; part < 2; part++) {
                const size_t at = slice + place(pairing_out, pairs, pair, part);
                const double want = load(out, at), got = dtype_load(type, tensor->dst, at);
                const double half_ulp = type == DT_F32 ? 0 : dtype_ulp(type, want) / 2;
                inside[at] = 1;
                if (!(fabs(got - want) <= slack * size + constant + half_ulp))
                    fail_msg("%s, %s: element %zu is %.9g, not %.9g", golden->id, how, at, got,
                             want);
            }
        }
    }
    for (size_t at = 0; at < x->count; at++)
        if (!inside[at] && dtype_bits(type, tensor->dst, at) != dtype_bits(type, out->data, at))
            fail_msg("%s, %s: element %zu is %.9g, not the bits of %.9g", golden->id, how, at,
                     dtype_load(type, tensor->dst, at), load(out, at));
    free(inside);
}

static const char *const layout_names[] = {"[cos | sin]", "separate", "pairs", "half duplicated",
                                           "pairs duplicated"};

/* The golden rows in another layout; the caller frees *memory. */
static rope_rows rows_make(const struct golden *golden, rope_rows_layout layout, void **memory)
{
    const enum dtype type = type_of(golden->cos.dtype);
    const size_t pairs = golden->rotary_dim / 2, size = dtype_size(type);
    const size_t count = golden->cos.count / pairs;
    char *array[2];
    assert_int_equal(golden->cos.count, golden->sin.count);
    *memory = malloc(4 * golden->cos.count * size);
    assert_non_null(*memory);
    array[0] = *memory;
    array[1] = array[0] + 2 * golden->cos.count * size;
    for (size_t row = 0; row < count; row++) {
        for (size_t pair = 0; pair < pairs; pair++) {
            for (size_t part = 0; part < 2; part++) {
                const struct array *from = part ? &golden->sin : &golden->cos;
                const char *entry = (const char *)from->data + (row * pairs + pair) * size;
                char *const d = array[part] + row * 2 * pairs * size;
                char *const one = array[0] + row * 2 * pairs * size;
                switch (layout) {
                case ROPE_ROWS_PACKED:
                    memcpy(one + (part * pairs + pair) * size, entry, size);
                    break;
                case ROPE_ROWS_SEPARATE:
                    memcpy(array[part] + (row * pairs + pair) * size, entry, size);
                    break;
                case ROPE_ROWS_PAIRS:
                    memcpy(one + (2 * pair + part) * size, entry, size);
                    break;
                case ROPE_ROWS_DUP_HALF:
                    memcpy(d + pair * size, entry, size);
                    memcpy(d + (pairs + pair) * size, entry, size);
                    break;
                default:
                    memcpy(d + 2 * pair * size, entry, size);
                    memcpy(d + (2 * pair + 1) * size, entry, size);
                }
            }
        }
    }
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = golden->cos.dtype;
    rows.layout = layout;
    rows.cos = array[0];
    rows.sin = layout == ROPE_ROWS_PACKED || layout == ROPE_ROWS_PAIRS ? NULL : array[1];
    rows.count = count;
    return rows;
}

static void rotate_by_rows(const struct golden *golden, rope_rows_layout layout, int in_place,
                           rope_arith arith, double slack)
{
    char how[80], message[200] = "";
    void *memory;
    rope_tensor q, k;
    rope_rows rows = rows_make(golden, layout, &memory);
    rope_positions numbers = ROPE_POSITIONS_INIT;
    rope_job job = ROPE_JOB_INIT;
    snprintf(how, sizeof how, "rows %s, %s, %s", layout_names[layout],
             in_place ? "in place" : "out of place", arith == ROPE_ARITH_EAGER ? "eager" : "fused");
    job.batch = golden->batch;
    job.tokens = golden->tokens;
    job.q = tensor_make(golden, 0, in_place, &q);
    job.k = tensor_make(golden, 1, in_place, &k);
    job.rows = &rows;
    if (strcmp(golden->row_of, "id") == 0) {
        numbers.dtype = golden->index.dtype;
        numbers.data = golden->index.data;
        numbers.stride_batch = (ptrdiff_t)golden->tokens;
        job.positions = &numbers;
    } else if (strcmp(golden->row_of, "offset") == 0) {
        numbers.start = (int64_t)load(&golden->index, 0);
        job.positions = &numbers;
    } else if (strcmp(golden->row_of, "batch") == 0) {
        rows.count = golden->tokens;
        rows.stride_batch = (ptrdiff_t)(golden->tokens * golden->rotary_dim /
                                        (layout == ROPE_ROWS_SEPARATE ? 2 : 1));
    } else {
        assert_string_equal(golden->row_of, "token");
    }
    job.direction = golden->signed_rows ? ROPE_FORWARD : golden->direction;
    job.pairing = golden->pairing;
    job.pairing_out = golden->pairing_out;
    job.rotary_dim = golden->rotary_dim;
    job.arith = arith;
    job.row_dtype = golden->row_type;
    job.message = message;
    job.message_size = sizeof message;
    if (rope_rotate(NULL, &job) != ROPE_OK)
        fail_msg("%s, %s: %s", golden->id, how, message);
    compare_out(golden, 0, &q, how, slack, 0);
    if (golden->x[1].data)
        compare_out(golden, 1, &k, how, slack, 0);
    free(q.dst);
    free(k.dst);
    free(memory);
}

/*
 * What equality of bits is relaxed to: nothing, except that an emulator which rounds ties of f16
 * wrongly may be off by an ulp in each of the three roundings.
 */
static double ties_slack(const struct golden *golden)
{
    const rope_isa isa = rope_active_isa();
    return golden->x[0].dtype == ROPE_F16 && (isa == ROPE_ISA_AVX2 || isa == ROPE_ISA_AVX512) &&
                   test_f16_ties_probe()
               ? 0x1p-9
               : 0;
}

/* Rotation from the reference's own rows, in every layout of rows, in place and not. */
static int check_rotation(const struct golden *golden)
{
    if (!golden->x[0].data)
        return 0;
    assert_true(golden->eager || golden->fused || golden->near);
    for (rope_rows_layout layout = ROPE_ROWS_PACKED; layout <= ROPE_ROWS_DUP_PAIRS; layout++) {
        for (int in_place = 0; in_place < (golden->pairing_out == ROPE_OUT_SAME ? 2 : 1);
             in_place++) {
            if (golden->eager)
                rotate_by_rows(golden, layout, in_place, ROPE_ARITH_EAGER, ties_slack(golden));
            if (golden->fused)
                rotate_by_rows(golden, layout, in_place, ROPE_ARITH_FUSED, ties_slack(golden));
            if (golden->near)
                rotate_by_rows(golden, layout, in_place, ROPE_ARITH_FUSED,
                               0x1p-22 + ties_slack(golden));
        }
    }
    return 1;
}

/* ---- From positions ---- */

static rope_plan *plan_make(const struct golden *golden)
{
    char message[200] = "";
    rope_plan *plan;
    rope_spec spec = ROPE_SPEC_INIT;
    spec.scheme = golden->scheme;
    spec.head_dim = golden->head_dim[0];
    spec.rotary_dim = golden->rotary_dim;
    spec.rotary_offset = golden->rotary_offset[0];
    spec.pairing = golden->pairing;
    spec.theta = golden->theta;
    spec.factor = golden->factor;
    spec.attention_factor = golden->attention;
    spec.inv_freq = golden->frequencies.data;
    spec.inv_freq_count = golden->frequencies.count;
    spec.message = message;
    spec.message_size = sizeof message;
    if (rope_plan_create(&spec, &plan) != ROPE_OK)
        fail_msg("%s: %s", golden->id, message);
    return plan;
}

/* Rows for the golden positions; the caller frees the two arrays [tokens, pairs]. */
static void rows_from_positions(const struct golden *golden, const rope_plan *plan,
                                const struct array *at, rope_dtype dtype, void *array[2])
{
    const size_t bytes = golden->tokens * golden->rotary_dim / 2 * dtype_size(type_of(dtype));
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_rows rows = ROPE_ROWS_INIT;
    assert_int_equal(at->count, golden->tokens);
    array[0] = malloc(bytes);
    array[1] = malloc(bytes);
    assert_non_null(array[0]);
    assert_non_null(array[1]);
    positions.dtype = at->dtype;
    positions.data = at->data;
    rows.dtype = dtype;
    rows.layout = ROPE_ROWS_SEPARATE;
    rows.direction = golden->signed_rows ? golden->direction : ROPE_FORWARD;
    rows.cos = array[0];
    rows.sin = array[1];
    rows.count = golden->tokens;
    assert_int_equal(rope_cos_sin(plan, &positions, golden->tokens, &rows), ROPE_OK);
}

/* Rows of every type against the true values, and f32 rows against the reference's. */
static int check_exact_rows(const struct golden *golden)
{
    static const rope_dtype dtypes[] = {ROPE_F32, ROPE_F64, ROPE_F16, ROPE_BF16};
    if (!golden->exact_cos.data)
        return 0;
    rope_plan *plan = plan_make(golden);
    for (size_t which = 0; which < 4; which++) {
        const enum dtype type = type_of(dtypes[which]);
        void *array[2];
        rows_from_positions(golden, plan, &golden->positions, dtypes[which], array);
        for (size_t at = 0; at < golden->exact_cos.count; at++) {
            const double position = load(&golden->positions, at / (golden->rotary_dim / 2));
            for (int part = 0; part < 2; part++) {
                const double truth = load(part ? &golden->exact_sin : &golden->exact_cos, at);
                const double got = dtype_load(type, array[part], at);
                /* the true value was itself rounded to f64 */
                const double allowed =
                    type == DT_F64
                        ? fmax(dtype_ulp(DT_F64, truth),
                               (fabs(position) < 0x1p20 ? 4e-16 : 8e-16) * golden->attention) +
                              dtype_ulp(DT_F64, truth) / 2
                        : 0;
                const double want = dtype_round(type, truth);
                if (!(fabs(got - want) <= allowed))
                    fail_msg("%s: %s %s at position %.0f, entry %zu, is %.17g, not %.17g",
                             golden->id, dtype_name(type), part ? "sin" : "cos", position, at, got,
                             want);
                const double theirs = load(part ? &golden->sin : &golden->cos, at);
                const double distance = load(&golden->row_bound, at) + 0x1p-24 * golden->attention;
                if (type == DT_F32 && !(fabs(got - theirs) <= distance))
                    fail_msg("%s: %s at position %.0f, entry %zu, is %.9g, theirs %.9g +- %.2g",
                             golden->id, part ? "sin" : "cos", position, at, got, theirs, distance);
            }
        }
        free(array[0]);
        free(array[1]);
    }
    rope_plan_destroy(plan);
    return 1;
}

/* Rotation from positions: as far from the reference as the reference is from the truth. */
static int check_end_to_end(const struct golden *golden)
{
    if (!golden->exact_cos.data)
        return 0;
    char message[200] = "";
    rope_plan *plan = plan_make(golden);
    rope_tensor q;
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_job job = ROPE_JOB_INIT;
    positions.dtype = golden->positions.dtype;
    positions.data = golden->positions.data;
    job.batch = golden->batch;
    job.tokens = golden->tokens;
    job.q = tensor_make(golden, 0, 0, &q);
    job.positions = &positions;
    job.direction = golden->direction;
    job.message = message;
    job.message_size = sizeof message;
    if (rope_rotate(plan, &job) != ROPE_OK)
        fail_msg("%s: %s", golden->id, message);
    /* out_error has four digits */
    compare_out(golden, 0, &q, "end to end", 0x1p-22 * golden->attention,
                golden->out_error * 1.001);
    free(q.dst);
    rope_plan_destroy(plan);
    return 1;
}

/* Frequencies against those of the reference, and its rows within what its f32 angles explain. */
static int check_frequencies(const struct golden *golden)
{
    const struct array *theirs =
        golden->inv_freq_f64.data ? &golden->inv_freq_f64 : &golden->inv_freq;
    const size_t pairs = golden->rotary_dim / 2;
    if (golden->scheme < 0 || !theirs->data)
        return 0;
    rope_plan *plan = plan_make(golden);
    double *frequency = malloc(pairs * sizeof *frequency);
    assert_non_null(frequency);
    assert_int_equal(theirs->count, pairs);
    assert_int_equal(rope_plan_inv_freq(plan, frequency, NULL, pairs), ROPE_OK);
    /* the modules of modules.txt divide the angle by a linear factor, not the frequency */
    const double factor = golden->factor > 0 && !golden->inv_freq_f64.data ? golden->factor : 1;
    for (size_t pair = 0; pair < pairs; pair++) {
        const double error = fabs(frequency[pair] * factor / load(theirs, pair) - 1);
        if (!(error <= golden->inv_freq_error * 1.001 + 0x1p-52))
            fail_msg("%s: frequency %zu is %.17g, theirs %.17g", golden->id, pair, frequency[pair],
                     load(theirs, pair));
    }
    if (golden->inv_freq_f64.data) {
        void *array[2];
        rows_from_positions(golden, plan, &golden->positions, ROPE_F32, array);
        for (size_t at = 0; at < golden->cos.count; at++) {
            const double position = fabs(load(&golden->positions, at / pairs));
            const double f = frequency[at % pairs];
            const double distance = position * fabs(load(&golden->inv_freq, at % pairs) - f) +
                                    position * f * 0x1p-24 + 0x1p-22 * golden->attention;
            for (int part = 0; part < 2; part++) {
                const double got = dtype_load(DT_F32, array[part], at);
                const double want = load(part ? &golden->sin : &golden->cos, at);
                if (!(fabs(got - want) <= distance))
                    fail_msg("%s: %s at position %.0f, entry %zu, is %.9g, theirs %.9g +- %.2g",
                             golden->id, part ? "sin" : "cos", position, at, got, want, distance);
            }
        }
        free(array[0]);
        free(array[1]);
    }
    free(frequency);
    rope_plan_destroy(plan);
    return 1;
}

/* ROPE_ANGLE_F32 with the reference's own f32 frequencies: its rows to an ulp or two. */
static int check_f32_angles(const struct golden *golden)
{
    if (!(golden->angle_ulp > 0))
        return 0;
    double *frequency = malloc(golden->inv_freq.count * sizeof *frequency);
    assert_non_null(frequency);
    for (size_t pair = 0; pair < golden->inv_freq.count; pair++)
        frequency[pair] = load(&golden->inv_freq, pair);
    rope_plan *plan;
    rope_spec spec = ROPE_SPEC_INIT;
    spec.scheme = ROPE_SCHEME_CUSTOM;
    spec.angle = ROPE_ANGLE_F32;
    spec.head_dim = golden->rotary_dim;
    spec.attention_factor = golden->attention;
    spec.inv_freq = frequency;
    spec.inv_freq_count = golden->inv_freq.count;
    assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    void *array[2];
    rows_from_positions(
        golden, plan, golden->angle_positions.data ? &golden->angle_positions : &golden->positions,
        ROPE_F32, array);
    for (size_t at = 0; at < golden->cos.count; at++) {
        for (int part = 0; part < 2; part++) {
            const double got = dtype_load(DT_F32, array[part], at);
            const double want = load(part ? &golden->sin : &golden->cos, at);
            if (dtype_ulps(DT_F32, got, want) > (uint64_t)golden->angle_ulp)
                fail_msg("%s: %s, entry %zu, is %.9g, theirs %.9g, more than %.0f ulp away",
                         golden->id, part ? "sin" : "cos", at, got, want, golden->angle_ulp);
        }
    }
    free(array[0]);
    free(array[1]);
    free(frequency);
    rope_plan_destroy(plan);
    return 1;
}

/* ---- Inputs that others refuse, abort on or take silently: errors before any write ---- */

struct refusal {
    const char *input; /* and what the reference does */
    rope_status status;
    size_t head_dim, rotary_dim;
    int64_t start; /* of the row numbers */
    size_t tokens;
    int pairing;
};

/*
 * onnx 1.23.2's reference, onnxruntime 1.31.1's two operators; 10 rows.  Not here, because the
 * interface has no such input: rows of another width than rotary_dim, cos and sin of different
 * shapes, position ids of a wrong length, 3-D input without a number of heads.
 */
static void onnx_refusals(void **state)
{
    static const struct refusal refusals[] = {
        {"position equal to the number of rows: error in all", ROPE_ERR_ROW, 8, 8, 10, 1, 0},
        {"position -1: the reference takes the last row", ROPE_ERR_ROW, 8, 8, -1, 1, 0},
        {"position 2^40: error in all", ROPE_ERR_ROW, 8, 8, (int64_t)1 << 40, 1, 0},
        {"offset form: valid in com.microsoft", ROPE_OK, 8, 8, 7, 3, 0},
        {"offset + tokens beyond the rows: error", ROPE_ERR_ROW, 8, 8, 8, 3, 0},
        {"odd head_dim 9, 8 rotated: valid", ROPE_OK, 9, 8, 0, 3, 0},
        {"odd rotary dim 9: silent in onnxruntime", ROPE_ERR_VALUE, 9, 9, 0, 3, 0},
        {"odd rotary dim 9, interleaved: silent", ROPE_ERR_VALUE, 9, 9, 0, 3, ROPE_INTERLEAVED},
        {"odd rotary dim 5 of 8: silent in onnxruntime", ROPE_ERR_VALUE, 8, 5, 0, 3, 0},
        {"rotary dim 12 of 8: error in all", ROPE_ERR_VALUE, 8, 12, 0, 3, 0},
        {"no rotary dim", ROPE_ERR_VALUE, 8, 0, 0, 3, 0},
        {"zero tokens: valid", ROPE_OK, 8, 8, 0, 0, 0},
        {"NaN in a row that is not used: valid", ROPE_OK, 8, 8, 0, 9, 0},
    };
    (void)state;
    for (size_t index = 0; index < sizeof refusals / sizeof *refusals; index++) {
        const struct refusal *refusal = &refusals[index];
        char message[200] = "";
        float x[10 * 12], y[10 * 12], untouched[10 * 12], rows[2][10 * 6];
        memset(y, 0xff, sizeof y);
        memset(untouched, 0xff, sizeof untouched);
        for (size_t at = 0; at < 10 * 12; at++)
            x[at] = (float)at;
        for (size_t at = 0; at < 10 * 6; at++)
            rows[0][at] = rows[1][at] = 0.5f;
        for (size_t at = 9 * refusal->rotary_dim / 2; at < 10 * 6; at++)
            rows[0][at] = rows[1][at] = (float)NAN;
        rope_tensor q = ROPE_TENSOR_INIT;
        rope_positions numbers = ROPE_POSITIONS_INIT;
        rope_rows table = ROPE_ROWS_INIT;
        rope_job job = ROPE_JOB_INIT;
        q.dtype = ROPE_F32;
        q.src = x;
        q.dst = y;
        q.heads = 1;
        q.head_dim = refusal->head_dim;
        numbers.start = refusal->start;
        table.dtype = ROPE_F32;
        table.layout = ROPE_ROWS_SEPARATE;
        table.cos = rows[0];
        table.sin = rows[1];
        table.count = 10;
        job.tokens = refusal->tokens;
        job.q = &q;
        job.rows = &table;
        job.positions = &numbers;
        job.rotary_dim = refusal->rotary_dim;
        job.pairing = refusal->pairing;
        job.message = message;
        job.message_size = sizeof message;
        const rope_status status = rope_rotate(NULL, &job);
        if (status != refusal->status)
            fail_msg("%s: got \"%s\"", refusal->input, rope_status_string(status));
        if (status != ROPE_OK || refusal->tokens == 0)
            assert_memory_equal(y, untouched, sizeof y);
        if (status != ROPE_OK)
            assert_true(strlen(message) > 0);
        if (status == ROPE_OK && refusal->tokens == 9)
            for (size_t at = 0; at < 9 * 8; at++)
                assert_true(isfinite(y[at]));
    }
}

/*
 * ggml 0.25.3, through the plan.  Not here: fewer positions than tokens (a pointer has no length),
 * its mode numbers, and what belongs to schemes of later versions (sections, YaRN).
 */
static void ggml_refusals(void **state)
{
    static const double short_list[3] = {1, 0.5, 0.25};
    static const double infinite[4] = {1, (double)INFINITY, 0.25, 0.125}; /* 1 / divisor 0 */
    static const struct {
        const char *input;
        rope_status status;
        rope_scheme scheme;
        size_t rotary_dim, offset;
        double theta, factor;
        const double *inv_freq;
        size_t count;
        rope_pairing pairing;
    } cases[] = {
        {"odd n_dims 7 of 8: aborts", ROPE_ERR_VALUE, 0, 7, 0, 0, 0, NULL, 0, 0},
        {"n_dims 10 of 8: aborts", ROPE_ERR_VALUE, 0, 10, 0, 0, 0, NULL, 0, 0},
        {"n_dims 0, here the default: never ends", ROPE_OK, 0, 0, 0, 0, 0, NULL, 0, 0},
        {"unknown mode: aborts", ROPE_ERR_VALUE, 0, 8, 0, 0, 0, NULL, 0, 4},
        {"too few divisors: aborts", ROPE_ERR_VALUE, 2, 8, 0, 0, 0, short_list, 3, 0},
        {"divisor 0: NaN", ROPE_ERR_VALUE, 2, 8, 0, 0, 0, infinite, 4, 0},
        {"offset 2 + 8 of 8: aborts", ROPE_ERR_VALUE, 0, 8, 2, 0, 0, NULL, 0, 0},
        {"odd offset, here valid: aborts", ROPE_OK, 0, 4, 3, 0, 0, NULL, 0, 0},
        {"freq_base -1: NaN", ROPE_ERR_VALUE, 0, 8, 0, -1, 0, NULL, 0, 0},
        {"freq_base NaN", ROPE_ERR_VALUE, 0, 8, 0, (double)NAN, 0, NULL, 0, 0},
        {"freq_scale 0, as factor: copies", ROPE_ERR_VALUE, 1, 8, 0, 0, (double)INFINITY, NULL, 0,
         0},
        {"no factor", ROPE_ERR_VALUE, 1, 8, 0, 0, 0, NULL, 0, 0},
    };
    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
        char message[200] = "";
        rope_plan *plan = (rope_plan *)message;
        rope_spec spec = ROPE_SPEC_INIT;
        spec.scheme = cases[index].scheme;
        spec.head_dim = 8;
        spec.rotary_dim = cases[index].rotary_dim;
        spec.rotary_offset = cases[index].offset;
        spec.pairing = cases[index].pairing;
        spec.theta = cases[index].theta;
        spec.factor = cases[index].factor;
        spec.inv_freq = cases[index].inv_freq;
        spec.inv_freq_count = cases[index].count;
        spec.message = message;
        spec.message_size = sizeof message;
        const rope_status status = rope_plan_create(&spec, &plan);
        if (status != cases[index].status)
            fail_msg("%s: got \"%s\"", cases[index].input, rope_status_string(status));
        assert_true((status == ROPE_OK) == (plan != NULL));
        assert_true((status == ROPE_OK) == (message[0] == 0));
        rope_plan_destroy(plan);
    }
}

/* ---- The tests, one for each file and question ---- */

#define GOLDEN_TEST(file, question, cases)                                               \
    static void file##_##question(void **state)                                          \
    {                                                                                    \
        (void)state;                                                                     \
        golden_all(golden_##file##_text, golden_##file##_data, check_##question, cases); \
    }

GOLDEN_TEST(onnx, rotation, 76)
GOLDEN_TEST(ggml, rotation, 54)
GOLDEN_TEST(ggml, exact_rows, 40)
GOLDEN_TEST(ggml, end_to_end, 40)
GOLDEN_TEST(modules, rotation, 34)
GOLDEN_TEST(modules, exact_rows, 30)
GOLDEN_TEST(modules, end_to_end, 30)
GOLDEN_TEST(modules, frequencies, 23)
GOLDEN_TEST(modules, f32_angles, 17)
GOLDEN_TEST(huggingface, rotation, 30)
GOLDEN_TEST(huggingface, frequencies, 42)
GOLDEN_TEST(huggingface, f32_angles, 41)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(onnx_rotation),           cmocka_unit_test(ggml_rotation),
        cmocka_unit_test(ggml_exact_rows),         cmocka_unit_test(ggml_end_to_end),
        cmocka_unit_test(modules_rotation),        cmocka_unit_test(modules_exact_rows),
        cmocka_unit_test(modules_end_to_end),      cmocka_unit_test(modules_frequencies),
        cmocka_unit_test(modules_f32_angles),      cmocka_unit_test(huggingface_rotation),
        cmocka_unit_test(huggingface_frequencies), cmocka_unit_test(onnx_refusals),
        cmocka_unit_test(ggml_refusals),           cmocka_unit_test(huggingface_f32_angles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
