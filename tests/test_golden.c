/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs of other implementations against this library, as tests/golden/README.md describes them:
 * rotations from their own rows bit for bit, rows and rotations from positions within the bounds
 * that their rounding explains.  Uses the public interface only; the data are linked into the
 * program, so that it runs on an emulated machine without files.
 */
#include "golden.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* clang-format off */
#define FILES(X) \
    X(onnx) X(ggml1) X(ggml2) X(modules1) X(modules2) X(modules3) \
    X(huggingface1) X(huggingface2) X(huggingface3) X(huggingface4) X(huggingface5) X(huggingface6)
/* clang-format on */

#define EMBED_PAIR(name)                                          \
    EMBED(golden_##name##_text, ROPE_TEST_DATA "/" #name ".txt"); \
    EMBED(golden_##name##_data, ROPE_TEST_DATA "/" #name ".bin");
FILES(EMBED_PAIR)

static const struct file {
    const char *name, *text, *data;
} files[] = {
#define FILE_ENTRY(name) {#name, golden_##name##_text, golden_##name##_data},
    FILES(FILE_ENTRY)};

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
    size_t chunk; /* half-split in chunks of so many elements */
    rope_pairing_out pairing_out;
    rope_direction direction;
    int signed_rows; /* sin carries the sign of the direction already */
    int part;        /* the case is for component 0 or 1 of the pairs alone; -1: for both */
    struct array x[2], out[2];
    char row_of[8];
    struct array cos, sin, index;
    int eager, fused, unfused, near; /* arithmetic that gives out from cos and sin */
    double scale;                    /* near: the largest magnitude of the rows */
    rope_dtype row_type;
    struct array row_cos, row_sin; /* without the magnitude of xPos */
    rope_scheme scheme;            /* -1: the case has nothing but rows */
    struct array numbers[4];       /* short_factor, long_factor, divisors, frequencies */
    struct array sections, pair_axis;
    double magnitude; /* m */
    double freq_rel;  /* how far rounding may have moved the parameters */
    struct array positions;
    struct array exact_cos, exact_sin, row_bound;
    int exact_rows; /* cos and sin are the true ones, rounded once */
    double out_error;
    struct array inv_freq, inv_freq_f64;
    double inv_freq_error;
    double inv_freq_scale; /* the factor is not in inv_freq */
    double angle_ulp;
    struct array angle_positions;
    const char *line;
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

/* The value of " key=" in a line; "" if it is not there. */
static void field(const char *line, const char *key, char *value, size_t size)
{
    const char *found = golden_field(line, key);
    const size_t length = found != NULL ? strcspn(found, " \n") : 0;
    assert_true(length < size);
    if (found != NULL)
        memcpy(value, found, length);
    value[length] = 0;
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

static rope_scheme scheme_of(const char *line)
{
    static const struct {
        const char *name;
        rope_scheme scheme;
    } schemes[] = {
        {"default", ROPE_SCHEME_DEFAULT},     {"linear", ROPE_SCHEME_LINEAR},
        {"custom", ROPE_SCHEME_CUSTOM},       {"ntk", ROPE_SCHEME_NTK},
        {"ntk_mixed", ROPE_SCHEME_NTK_MIXED}, {"dynamic_ntk", ROPE_SCHEME_DYNAMIC_NTK},
        {"yarn", ROPE_SCHEME_YARN},           {"longrope", ROPE_SCHEME_LONGROPE},
        {"llama3", ROPE_SCHEME_LLAMA3},       {"proportional", ROPE_SCHEME_PROPORTIONAL}};
    char value[64];
    field(line, "scheme", value, sizeof value);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strcmp(value, schemes[i].name) == 0)
            return schemes[i].scheme;
    assert_string_equal(value, "");
    return -1;
}

static rope_axis_layout layout_of(const char *line)
{
    static const char *const names[] = {
        "",      "sections", "interleaved", "ggml_mrope", "ggml_imrope",
        "ernie", "cyclic",   "restart",     "pixtral",    "ggml_vision"};
    char value[64];
    field(line, "layout", value, sizeof value);
    for (rope_axis_layout layout = ROPE_AXES_ONE; layout <= ROPE_AXES_GGML_VISION; layout++)
        if (strcmp(value, names[layout]) == 0)
            return layout;
    fail_msg("unknown layout %s", value);
    return ROPE_AXES_ONE;
}

static struct golden golden_parse(const char *line, const char *data)
{
    static const char *const lists[] = {"short_factor", "long_factor", "divisors", "frequencies"};
    struct golden golden;
    char name[16];
    golden.line = line;
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
    golden.chunk = field_size(line, "chunk", 0);
    golden.pairing_out = field_is(line, "pairing_out", "half") ? ROPE_OUT_HALF : ROPE_OUT_SAME;
    golden.direction = field_is(line, "direction", "transpose") ? ROPE_TRANSPOSE : ROPE_FORWARD;
    golden.signed_rows = field_is(line, "signed_rows", "1");
    golden.part = (int)field_number(line, "part", -1);
    golden.x[0] = field_array(line, "x", data);
    golden.x[1] = field_array(line, "k", data);
    golden.out[0] = field_array(line, "out", data);
    golden.out[1] = field_array(line, "k_out", data);
    field(line, "row_of", golden.row_of, sizeof golden.row_of);
    golden.cos = golden.row_cos = field_array(line, "cos", data);
    golden.sin = golden.row_sin = field_array(line, "sin", data);
    if (field_array(line, "plain_cos", data).data) {
        golden.row_cos = field_array(line, "plain_cos", data);
        golden.row_sin = field_array(line, "plain_sin", data);
    }
    golden.index = field_array(line, "index", data);
    golden.eager = field_is(line, "bits", "eager");
    golden.unfused = field_is(line, "bits", "unfused");
    golden.fused = field_is(line, "bits", golden.unfused ? ",fused" : "fused");
    golden.near = field_is(line, "bits", "near");
    golden.scale = field_number(line, "scale", 1);
    field(line, "row_type", name, sizeof name);
    golden.row_type = dtype_named(name);
    golden.scheme = scheme_of(line);
    for (size_t list = 0; list < 4; list++)
        golden.numbers[list] = field_array(line, lists[list], data);
    golden.pair_axis = field_array(line, "pair_axis", data);
    golden.magnitude = field_number(line, "magnitude", 1);
    golden.freq_rel = field_number(line, "freq_rel", 0);
    golden.positions = field_array(line, "pos", data);
    golden.exact_cos = field_array(line, "exact_cos", data);
    golden.exact_sin = field_array(line, "exact_sin", data);
    golden.row_bound = field_array(line, "row_bound", data);
    golden.exact_rows = field_is(line, "exact_rows", "1");
    golden.out_error = field_number(line, "out_error", NAN);
    golden.inv_freq = field_array(line, "inv_freq", data);
    golden.inv_freq_f64 = field_array(line, "f64_freq", data);
    golden.inv_freq_error = field_number(line, "inv_freq_error", 0);
    golden.inv_freq_scale = field_number(line, "inv_freq_scale", 1);
    golden.angle_ulp = field_number(line, "angle_ulp", 0);
    golden.angle_positions = field_array(line, "angle_pos", data);
    return golden;
}

/*
 * Calls check for every case of the files whose name starts so; `expected` of them must have
 * something to check.  In an emulator it is called for every eighth case: what it checks there is
 * the arithmetic of another set.
 */
static void golden_all(const char *group, int (*check)(const struct golden *), int expected)
{
    int checked = 0, number = 0;
    for (size_t file = 0; file < sizeof files / sizeof *files; file++) {
        if (strncmp(files[file].name, group, strlen(group)) != 0)
            continue;
        for (const char *line = files[file].text; *line; line = strchr(line, '\n') + 1) {
            if (strncmp(line, "case ", 5) != 0 || (test_reduced() && number++ % 8 != 0))
                continue;
            const struct golden golden = golden_parse(line, files[file].data);
            checked += check(&golden);
        }
    }
    if (!test_reduced())
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

static size_t dtype_width(rope_dtype dtype)
{
    return dtype == ROPE_I32   ? sizeof(int32_t)
           : dtype == ROPE_I64 ? sizeof(int64_t)
                               : dtype_size(type_of(dtype));
}

static size_t bytes_of(const struct array *array)
{
    return array->count * dtype_width(array->dtype);
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

static size_t place(const struct golden *golden, rope_pairing pairing, size_t pair, size_t part)
{
    const size_t half = (golden->chunk ? golden->chunk : golden->rotary_dim) / 2;
    return pairing == ROPE_HALF ? pair / half * 2 * half + pair % half + part * half
                                : 2 * pair + part;
}

/* The largest allowed distance of an element from out: slack (|x| + |y|) + constant, and half an ulp
 * of a 16-bit type.  by_row, if it is not NULL, has an own slack for each [token, pair]. */
struct allowance {
    double slack, constant;
    const double *by_row;
};

/*
 * Compares dst with out within an allowance inside the rotated slice, the same bits outside of it;
 * with an allowance of 0 the same bits everywhere.
 */
static void compare_out(const struct golden *golden, int which, const rope_tensor *tensor,
                        const char *how, const struct allowance *allowance)
{
    const struct array *x = &golden->x[which], *out = &golden->out[which];
    const enum dtype type = type_of(x->dtype);
    const size_t pairs = golden->rotary_dim / 2, width = golden->head_dim[which];
    const size_t heads = golden->heads[which], tokens = golden->tokens;
    const rope_pairing pairing_out =
        golden->pairing_out == ROPE_OUT_HALF ? ROPE_HALF : golden->pairing;
    const int exact =
        !(allowance->slack > 0 || allowance->constant > 0 || allowance->by_row != NULL);
    unsigned char *done = calloc(x->count, 1);
    assert_non_null(done);
    for (size_t head = 0; head < x->count / width; head++) {
        const size_t slice = head * width + golden->rotary_offset[which];
        const size_t token = golden->head_major ? head % tokens : head / heads % tokens;
        for (size_t pair = 0; pair < pairs; pair++) {
            const double size = fabs(load(x, slice + place(golden, golden->pairing, pair, 0))) +
                                fabs(load(x, slice + place(golden, golden->pairing, pair, 1)));
            const double slack = allowance->slack +
                                 (allowance->by_row ? allowance->by_row[token * pairs + pair] : 0);
            for (int part = 0; part < 2; part++) {
                const size_t at = slice + place(golden, pairing_out, pair, (size_t)part);
                const double want = load(out, at), got = dtype_load(type, tensor->dst, at);
                const double half_ulp = type == DT_F32 ? 0 : dtype_ulp(type, want) / 2;
                done[at] = !exact || (golden->part >= 0 && golden->part != part);
                if (!exact && (golden->part < 0 || golden->part == part) &&
                    !(fabs(got - want) <= slack * size + allowance->constant + half_ulp))
                    fail_msg("%s, %s: element %zu is %.9g, not %.9g", golden->id, how, at, got,
                             want);
            }
        }
    }
    for (size_t at = 0; at < x->count; at++)
        if (!done[at] && dtype_bits(type, tensor->dst, at) != dtype_bits(type, out->data, at))
            fail_msg("%s, %s: element %zu is %.9g, not the bits of %.9g", golden->id, how, at,
                     dtype_load(type, tensor->dst, at), load(out, at));
    free(done);
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

/* What a rotation by rows needs of a plan: nothing, but for chunks. */
static rope_plan *chunk_plan(const struct golden *golden)
{
    rope_plan *plan = NULL;
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = golden->head_dim[0];
    spec.rotary_dim = golden->rotary_dim;
    spec.rotary_offset = golden->rotary_offset[0];
    spec.angle = ROPE_ANGLE_F32; /* makes no tables */
    spec.pairing_chunk = golden->chunk;
    if (golden->chunk)
        assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    return plan;
}

static void rotate_by_rows(const struct golden *golden, rope_rows_layout layout, int in_place,
                           rope_arith arith, double slack)
{
    static const char *const names[] = {"fused", "eager", "unfused"};
    const struct allowance allowance = {slack, 0, NULL};
    char how[80], message[200] = "";
    void *memory;
    rope_tensor q, k;
    rope_plan *plan = chunk_plan(golden);
    rope_rows rows = rows_make(golden, layout, &memory);
    rope_positions numbers = ROPE_POSITIONS_INIT;
    rope_job job = ROPE_JOB_INIT;
    snprintf(how, sizeof how, "rows %s, %s, %s", layout_names[layout],
             in_place ? "in place" : "out of place", names[arith]);
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
    job.pairing_out = golden->pairing_out;
    if (!plan) {
        job.pairing = golden->pairing;
        job.rotary_dim = golden->rotary_dim;
    }
    job.arith = arith;
    job.row_dtype = golden->row_type;
    job.message = message;
    job.message_size = sizeof message;
    if (rope_rotate(plan, &job) != ROPE_OK)
        fail_msg("%s, %s: %s", golden->id, how, message);
    compare_out(golden, 0, &q, how, &allowance);
    if (golden->x[1].data)
        compare_out(golden, 1, &k, how, &allowance);
    free(q.dst);
    free(k.dst);
    free(memory);
    rope_plan_destroy(plan);
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
    const double slack = ties_slack(golden);
    assert_true(golden->eager || golden->fused || golden->unfused || golden->near);
    for (rope_rows_layout layout = ROPE_ROWS_PACKED; layout <= ROPE_ROWS_DUP_PAIRS; layout++) {
        for (int in_place = 0; in_place < (golden->pairing_out == ROPE_OUT_SAME ? 2 : 1);
             in_place++) {
            if (golden->eager)
                rotate_by_rows(golden, layout, in_place, ROPE_ARITH_EAGER, slack);
            if (golden->fused)
                rotate_by_rows(golden, layout, in_place, ROPE_ARITH_FUSED, slack);
            if (golden->unfused)
                rotate_by_rows(golden, layout, in_place, ROPE_ARITH_UNFUSED, slack);
            if (golden->near)
                rotate_by_rows(golden, layout, in_place, ROPE_ARITH_FUSED,
                               0x1p-22 * golden->scale + slack);
        }
    }
    return 1;
}

/* ---- From positions ---- */

static size_t axes_of(const struct golden *golden)
{
    return field_size(golden->line, "axes", 1);
}

/* The plan that the case's parameters mean, by the named layout of axes where it has one. */
static rope_plan *plan_make(const struct golden *golden)
{
    const char *line = golden->line;
    char message[200] = "", text[64];
    int32_t sections[ROPE_AXES_MAX];
    rope_plan *plan;
    rope_spec spec = ROPE_SPEC_INIT;
    spec.scheme = golden->scheme;
    spec.head_dim = golden->head_dim[0];
    spec.rotary_dim = golden->rotary_dim;
    spec.rotary_offset = golden->rotary_offset[0];
    spec.pairing = golden->pairing;
    spec.pairing_chunk = golden->chunk;
    spec.theta = field_number(line, "theta", 0);
    spec.factor = field_number(line, "factor", 0);
    spec.attention_factor = field_number(line, "attention_factor", 0);
    spec.length = field_size(line, "length", 0);
    spec.max_length = field_size(line, "max_length", 0);
    spec.original_length = field_size(line, "original_length", 0);
    spec.ntk_exponent = field_number(line, "ntk_exponent", 0);
    spec.beta_fast = field_number(line, "beta_fast", 0);
    spec.beta_slow = field_number(line, "beta_slow", 0);
    spec.mscale = field_number(line, "mscale", 0);
    spec.mscale_all_dim = field_number(line, "mscale_all_dim", 0);
    spec.low_freq_factor = field_number(line, "low_freq_factor", 0);
    spec.high_freq_factor = field_number(line, "high_freq_factor", 0);
    spec.active_pairs = field_size(line, "active_pairs", 0);
    spec.no_truncate = (uint32_t)field_size(line, "no_truncate", 0);
    spec.short_factor = golden->numbers[0].data;
    spec.long_factor = golden->numbers[1].data;
    spec.factor_count = golden->numbers[0].count;
    spec.divisors = golden->numbers[2].data;
    spec.divisor_count = golden->numbers[2].count;
    spec.inv_freq = golden->numbers[3].data;
    spec.inv_freq_count = golden->numbers[3].count;
    if (golden->pair_axis.data) {
        spec.axis_layout = layout_of(line);
        field(line, "sections", text, sizeof text);
        for (char *at = text; *at; at += *at == ',')
            sections[spec.section_count++] = (int32_t)strtol(at, &at, 10);
        if (spec.section_count)
            spec.sections = sections;
        spec.axes = axes_of(golden);
        if (spec.axis_layout == ROPE_AXES_ONE)
            spec.pair_axis = golden->pair_axis.data;
    }
    spec.message = message;
    spec.message_size = sizeof message;
    if (rope_plan_create(&spec, &plan) != ROPE_OK)
        fail_msg("%s: %s", golden->id, message);
    return plan;
}

/* Descriptors of the positions [axis, token] of the case. */
static void positions_make(const struct golden *golden, const struct array *at,
                           rope_positions positions[ROPE_AXES_MAX])
{
    static const rope_positions init = ROPE_POSITIONS_INIT;
    const size_t axes = axes_of(golden);
    assert_int_equal(at->count, golden->tokens * axes);
    for (size_t axis = 0; axis < axes; axis++) {
        positions[axis] = init;
        positions[axis].dtype = at->dtype;
        positions[axis].data =
            (const char *)at->data + axis * golden->tokens * dtype_width(at->dtype);
    }
}

/* The position that entry [token, pair] of a row belongs to. */
static double position_of(const struct golden *golden, size_t entry)
{
    const size_t pairs = golden->rotary_dim / 2;
    const size_t axis =
        golden->pair_axis.data ? (size_t)load(&golden->pair_axis, entry % pairs) : 0;
    return load(&golden->positions, axis * golden->tokens + entry / pairs);
}

/* Rows for the golden positions; the caller frees the two arrays [tokens, pairs]. */
static void rows_from_positions(const struct golden *golden, const rope_plan *plan,
                                const struct array *at, rope_dtype dtype, void *array[2])
{
    const size_t bytes = golden->tokens * golden->rotary_dim / 2 * dtype_size(type_of(dtype));
    rope_positions positions[ROPE_AXES_MAX];
    rope_rows rows = ROPE_ROWS_INIT;
    array[0] = malloc(bytes);
    array[1] = malloc(bytes);
    assert_non_null(array[0]);
    assert_non_null(array[1]);
    positions_make(golden, at, positions);
    rows.dtype = dtype;
    rows.layout = ROPE_ROWS_SEPARATE;
    rows.direction = golden->signed_rows ? golden->direction : ROPE_FORWARD;
    rows.cos = array[0];
    rows.sin = array[1];
    rows.count = golden->tokens;
    assert_int_equal(rope_cos_sin(plan, positions, golden->tokens, &rows), ROPE_OK);
}

static double *frequencies_of(const rope_plan *plan, size_t pairs)
{
    double *frequency = malloc(pairs * sizeof *frequency);
    assert_non_null(frequency);
    assert_int_equal(rope_plan_inv_freq(plan, frequency, NULL, pairs), ROPE_OK);
    return frequency;
}

/* Rows of every type against the true values, and f32 rows against the reference's. */
static int check_exact_rows(const struct golden *golden)
{
    static const rope_dtype dtypes[] = {ROPE_F32, ROPE_F64, ROPE_F16, ROPE_BF16};
    const size_t pairs = golden->rotary_dim / 2;
    const double m = golden->magnitude;
    if (!golden->exact_cos.data)
        return 0;
    assert_int_equal(golden->exact_cos.count, golden->row_cos.count);
    rope_plan *plan = plan_make(golden);
    double *frequency = frequencies_of(plan, pairs);
    for (size_t which = 0; which < 4; which++) {
        const enum dtype type = type_of(dtypes[which]);
        void *array[2];
        rows_from_positions(golden, plan, &golden->positions, dtypes[which], array);
        for (size_t at = 0; at < golden->exact_cos.count; at++) {
            const double position = position_of(golden, at);
            for (int part = 0; part < 2; part++) {
                const double truth = load(part ? &golden->exact_sin : &golden->exact_cos, at);
                const double got = dtype_load(type, array[part], at);
                /* the parameters, m and the true value were themselves rounded to f64 */
                double allowed = fabs(position * frequency[at % pairs]) * golden->freq_rel * m;
                if (m != 1)
                    allowed += dtype_ulp(DT_F64, truth);
                if (type == DT_F64)
                    allowed += fmax(dtype_ulp(DT_F64, truth),
                                    (fabs(position) < 0x1p20 ? 4e-16 : 8e-16) * m) +
                               dtype_ulp(DT_F64, truth) / 2;
                if (!(dtype_round(type, truth - allowed) <= got &&
                      got <= dtype_round(type, truth + allowed)))
                    fail_msg("%s: %s %s at position %.9g, entry %zu, is %.17g, not %.17g +- %.2g",
                             golden->id, dtype_name(type), part ? "sin" : "cos", position, at, got,
                             truth, allowed);
                const double theirs = load(part ? &golden->row_sin : &golden->row_cos, at);
                const double distance = load(&golden->row_bound, at) + 0x1p-24 * m;
                if (type == DT_F32 &&
                    !(golden->exact_rows ? got == theirs : fabs(got - theirs) <= distance))
                    fail_msg("%s: %s at position %.9g, entry %zu, is %.9g, theirs %.9g +- %.2g",
                             golden->id, part ? "sin" : "cos", position, at, got, theirs, distance);
            }
        }
        free(array[0]);
        free(array[1]);
    }
    free(frequency);
    rope_plan_destroy(plan);
    return 1;
}

/*
 * How far the reference's rows [token, pair] may be from the true ones, where nothing but its f32
 * frequencies is known: |p| |f32 frequency - f| + |p f| 2^-24 + roundings.
 */
static double *distances_of(const struct golden *golden, const double *frequency)
{
    const size_t pairs = golden->rotary_dim / 2, count = golden->tokens * pairs;
    double *distance = malloc(count * sizeof *distance);
    assert_non_null(distance);
    for (size_t at = 0; at < count; at++) {
        const double position = fabs(position_of(golden, at));
        const double f = frequency[at % pairs];
        /* 2 pi p, where positions are that, is rounded to f32 twice more */
        const double roundings = golden->angle_positions.data ? 3 : 1;
        distance[at] =
            golden->magnitude * (golden->exact_rows
                                     ? 0x1p-24
                                     : position * fabs(load(&golden->inv_freq, at % pairs) - f) +
                                           position * f * 0x1p-24 * roundings + 0x1p-22);
    }
    return distance;
}

/* Rotation from positions: as far from the reference as the reference is from the truth. */
static int check_end_to_end(const struct golden *golden)
{
    const int known = golden->inv_freq_f64.data != NULL;
    if (golden->scheme < 0 || (isnan(golden->out_error) && !known))
        return 0;
    char message[200] = "";
    rope_plan *plan = plan_make(golden);
    rope_tensor q, k;
    rope_positions positions[ROPE_AXES_MAX];
    rope_job job = ROPE_JOB_INIT;
    positions_make(golden, &golden->positions, positions);
    job.batch = golden->batch;
    job.tokens = golden->tokens;
    job.q = tensor_make(golden, 0, 0, &q);
    job.k = tensor_make(golden, 1, 0, &k);
    job.positions = positions;
    job.direction = golden->direction;
    job.pairing_out = golden->pairing_out;
    job.message = message;
    job.message_size = sizeof message;
    if (rope_rotate(plan, &job) != ROPE_OK)
        fail_msg("%s: %s", golden->id, message);
    struct allowance allowance = {0x1p-22 * golden->magnitude, 0, NULL};
    double *distance = NULL;
    if (known) {
        double *frequency = frequencies_of(plan, golden->rotary_dim / 2);
        allowance.by_row = distance = distances_of(golden, frequency);
        free(frequency);
        /* the reference rounds rows, products and sum to 16 bits, half an ulp of each */
        const rope_dtype dtype = golden->x[0].dtype;
        if (dtype != ROPE_F32)
            allowance.slack += 4 * (dtype == ROPE_BF16 ? 0x1p-9 : 0x1p-12) * golden->magnitude;
    } else {
        allowance.constant = golden->out_error * 1.001; /* it has four digits */
    }
    compare_out(golden, 0, &q, "end to end", &allowance);
    if (golden->x[1].data)
        compare_out(golden, 1, &k, "end to end", &allowance);
    free(distance);
    free(q.dst);
    free(k.dst);
    rope_plan_destroy(plan);
    return 1;
}

/* Frequencies and m against those of the reference, and its rows within what its f32 angles explain. */
static int check_frequencies(const struct golden *golden)
{
    const struct array *theirs =
        golden->inv_freq_f64.data ? &golden->inv_freq_f64 : &golden->inv_freq;
    const size_t pairs = golden->rotary_dim / 2;
    if (golden->scheme < 0 || !theirs->data)
        return 0;
    rope_info info = ROPE_INFO_INIT;
    rope_plan *plan = plan_make(golden);
    double *frequency = frequencies_of(plan, pairs);
    assert_int_equal(theirs->count, pairs);
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    if (!(fabs(info.attention_factor / golden->magnitude - 1) <= 4e-16))
        fail_msg("%s: attention factor is %.17g, theirs %.17g", golden->id, info.attention_factor,
                 golden->magnitude);
    for (size_t pair = 0; pair < pairs; pair++) {
        const double want = load(theirs, pair);
        const double got = frequency[pair] * golden->inv_freq_scale;
        if (!(fabs(got - want) <= (golden->inv_freq_error * 1.001 + 0x1p-52) * fabs(want)))
            fail_msg("%s: frequency %zu is %.17g, theirs %.17g", golden->id, pair, got, want);
    }
    if (golden->inv_freq_f64.data) {
        void *array[2];
        double *distance = distances_of(golden, frequency);
        rows_from_positions(golden, plan, &golden->positions, ROPE_F32, array);
        for (size_t at = 0; at < golden->row_cos.count; at++) {
            for (int part = 0; part < 2; part++) {
                const double got = dtype_load(DT_F32, array[part], at);
                const double want = load(part ? &golden->row_sin : &golden->row_cos, at);
                if (!(golden->exact_rows ? got == want : fabs(got - want) <= distance[at]))
                    fail_msg("%s: %s at position %.9g, entry %zu, is %.9g, theirs %.9g +- %.2g",
                             golden->id, part ? "sin" : "cos", position_of(golden, at), at, got,
                             want, distance[at]);
            }
        }
        free(distance);
        free(array[0]);
        free(array[1]);
    }
    free(frequency);
    rope_plan_destroy(plan);
    return 1;
}

/* ROPE_ANGLE_F32 with the reference's own f32 frequencies: its rows to an ulp, or two with m. */
static int check_f32_angles(const struct golden *golden)
{
    if (!(golden->angle_ulp > 0))
        return 0;
    const uint64_t allowed = golden->magnitude == 1 ? 1 : 2;
    double *frequency = malloc(golden->inv_freq.count * sizeof *frequency);
    assert_non_null(frequency);
    for (size_t pair = 0; pair < golden->inv_freq.count; pair++)
        frequency[pair] = load(&golden->inv_freq, pair);
    rope_plan *plan;
    rope_spec spec = ROPE_SPEC_INIT;
    spec.scheme = ROPE_SCHEME_CUSTOM;
    spec.angle = ROPE_ANGLE_F32;
    spec.head_dim = golden->rotary_dim;
    spec.attention_factor = golden->magnitude;
    spec.inv_freq = frequency;
    spec.inv_freq_count = golden->inv_freq.count;
    spec.axes = axes_of(golden);
    spec.pair_axis = golden->pair_axis.data;
    assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    void *array[2];
    rows_from_positions(
        golden, plan, golden->angle_positions.data ? &golden->angle_positions : &golden->positions,
        ROPE_F32, array);
    for (size_t at = 0; at < golden->row_cos.count; at++) {
        for (int part = 0; part < 2; part++) {
            const double got = dtype_load(DT_F32, array[part], at);
            const double want = load(part ? &golden->row_sin : &golden->row_cos, at);
            if (dtype_ulps(DT_F32, got, want) > allowed)
                fail_msg("%s: %s, entry %zu, is %.9g, theirs %.9g, more than %d ulp away",
                         golden->id, part ? "sin" : "cos", at, got, want, (int)allowed);
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
 * ggml 0.25.3, through the plan.  Not here: fewer positions than tokens or than axes (a pointer has no
 * length), and its mode numbers.
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

static void ggml_refusals_of_lists(void **state)
{
    static const double divisors[4] = {1, 0, 1, 1};
    static const int32_t none[4] = {0}, twenty[4] = {8, 6, 6, 0}, six[4] = {2, 2, 2, 0};
    static const int32_t negative[4] = {3, -1, 2, 0}, fewer[4] = {1, 1, 1, 0};
    static const struct {
        const char *input;
        rope_status status;
        const double *divisors;
        size_t divisor_count;
        const int32_t *sections;
        rope_scheme scheme;
        double factor;
        size_t original_length;
    } cases[] = {
        {"3 of 4 freq_factors: aborts", ROPE_ERR_VALUE, divisors + 1, 3, NULL, 0, 0, 0},
        {"freq_factors with a zero: NaN", ROPE_ERR_VALUE, divisors, 4, NULL, 0, 0, 0},
        {"mrope, all sections zero: aborts", ROPE_ERR_VALUE, NULL, 0, none, 0, 0, 0},
        {"mrope, sections of 20 of 4: aborts", ROPE_ERR_VALUE, NULL, 0, twenty, 0, 0, 0},
        {"mrope, sections of 6 of 4: silent", ROPE_ERR_VALUE, NULL, 0, six, 0, 0, 0},
        {"mrope, a negative section", ROPE_ERR_VALUE, NULL, 0, negative, 0, 0, 0},
        {"mrope, sections of 3 of 4: valid", ROPE_OK, NULL, 0, fewer, 0, 0, 0},
        {"freq_scale 0 with yarn: Inf or NaN", ROPE_ERR_VALUE, NULL, 0, NULL, ROPE_SCHEME_YARN,
         (double)INFINITY, 4096},
        {"yarn with n_ctx_orig 0: silent", ROPE_ERR_VALUE, NULL, 0, NULL, ROPE_SCHEME_YARN, 4, 0},
    };
    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
        char message[200] = "";
        rope_plan *plan = (rope_plan *)message;
        rope_spec spec = ROPE_SPEC_INIT;
        spec.head_dim = 8;
        spec.scheme = cases[index].scheme;
        spec.factor = cases[index].factor;
        spec.original_length = cases[index].original_length;
        spec.divisors = cases[index].divisors;
        spec.divisor_count = cases[index].divisor_count;
        if (cases[index].sections) {
            spec.axis_layout = ROPE_AXES_GGML_MROPE;
            spec.sections = cases[index].sections;
            spec.section_count = 4;
        }
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

#define GOLDEN_TEST(group, question, cases)          \
    static void group##_##question(void **state)     \
    {                                                \
        (void)state;                                 \
        golden_all(#group, check_##question, cases); \
    }

GOLDEN_TEST(onnx, rotation, 76)
GOLDEN_TEST(ggml, rotation, 69)
GOLDEN_TEST(ggml, exact_rows, 67)
GOLDEN_TEST(ggml, end_to_end, 67)
GOLDEN_TEST(modules, rotation, 99)
GOLDEN_TEST(modules, exact_rows, 97)
GOLDEN_TEST(modules, end_to_end, 88)
GOLDEN_TEST(modules, frequencies, 69)
GOLDEN_TEST(modules, f32_angles, 61)
GOLDEN_TEST(huggingface, rotation, 144)
GOLDEN_TEST(huggingface, frequencies, 144)
GOLDEN_TEST(huggingface, f32_angles, 79)
GOLDEN_TEST(huggingface, end_to_end, 144)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(onnx_rotation),           cmocka_unit_test(ggml_rotation),
        cmocka_unit_test(ggml_exact_rows),         cmocka_unit_test(ggml_end_to_end),
        cmocka_unit_test(modules_rotation),        cmocka_unit_test(modules_exact_rows),
        cmocka_unit_test(modules_end_to_end),      cmocka_unit_test(modules_frequencies),
        cmocka_unit_test(modules_f32_angles),      cmocka_unit_test(huggingface_rotation),
        cmocka_unit_test(huggingface_frequencies), cmocka_unit_test(huggingface_f32_angles),
        cmocka_unit_test(huggingface_end_to_end),  cmocka_unit_test(onnx_refusals),
        cmocka_unit_test(ggml_refusals),           cmocka_unit_test(ggml_refusals_of_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
