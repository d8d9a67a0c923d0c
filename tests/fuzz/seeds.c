/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the seeds of the targets whose inputs are structs or binary files:  fuzz_seeds DIRECTORY
 * makes DIRECTORY/<target>/<name>.  Renews tests/fuzz/corpus after a change of a target's format;
 * configurations and findings there are files of their own.
 */
#include "rope/rope.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Pointers of an image: anything but NULL is replaced by memory; dst == src is in place. */
static void *const here = (void *)1, *const there = (void *)2;

static const char *directory;
static FILE *file;

static void begin(const char *target, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, target);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", directory, target, name);
    file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
}

static void put(const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, file) != size)
        exit(1);
}

static void put_bytes(int count, ...)
{
    va_list bytes;
    va_start(bytes, count);
    for (int i = 0; i < count; i++)
        fputc(va_arg(bytes, int), file);
    va_end(bytes);
}

static void put_u32(uint32_t value)
{
    put(&value, sizeof value);
}

static void put_u64(uint64_t value)
{
    put(&value, sizeof value);
}

static void end(void)
{
    if (fclose(file) != 0)
        exit(1);
}

/* ---- spec: position, changes, spec, lists, the changes ---------------------------------------- */

static void begin_spec(const char *name, const rope_spec *spec, unsigned changes)
{
    begin("spec", name);
    put_u32(4711);
    put_bytes(1, (int)changes);
    put(spec, sizeof *spec);
}

static void put_list(const double *values, size_t count)
{
    put_bytes(1, 1);
    put(values, count * sizeof *values);
}

/* A field of the spec becomes another: up to three bytes of it, at an even offset each. */
static void put_change(size_t offset, unsigned byte)
{
    put_bytes(3, (int)((offset - 4) / 2), (int)(offset & 1), (int)byte);
}

static void spec_seeds(void)
{
    static const double list[4] = {1.0, 0.5, 0.25, 0.125}, longer[4] = {1.0, 4.0, 16.0, 64.0};
    static const double large[4] = {0x1p21, 1.0, 1.0, 1.0};
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = 8;
    spec.message = here, spec.message_size = 200;
    const rope_spec plain = spec;

    begin_spec("default", &spec, 0);
    end();
    spec.struct_size = offsetof(rope_spec, length); /* of the first version */
    begin_spec("short-struct", &spec, 0);
    end();
    spec = plain, spec.struct_size += 8;
    begin_spec("long-struct", &spec, 0);
    put_u64(0);
    end();
    spec = plain, spec.theta = 500000.0, spec.pairing = ROPE_INTERLEAVED, spec.rotary_offset = 4;
    spec.head_dim = 4096, spec.rotary_dim = 64, spec.angle = ROPE_ANGLE_F32;
    begin_spec("offset", &spec, 0);
    end();
    spec = plain, spec.scheme = ROPE_SCHEME_LINEAR, spec.factor = 4.0;
    begin_spec("linear-between", &spec, 1); /* the factor becomes 8 */
    put_change(offsetof(rope_spec, factor) + 6, 0x20);
    end();
    spec = plain, spec.scheme = ROPE_SCHEME_CUSTOM, spec.inv_freq = here, spec.inv_freq_count = 4;
    begin_spec("custom", &spec, 0);
    put_list(list, 4);
    end();
    spec = plain, spec.scheme = ROPE_SCHEME_NTK, spec.factor = 2.0;
    begin_spec("ntk", &spec, 0);
    end();
    spec.scheme = ROPE_SCHEME_NTK_MIXED, spec.ntk_exponent = 0.5;
    begin_spec("ntk-mixed", &spec, 0);
    end();
    spec = plain, spec.scheme = ROPE_SCHEME_DYNAMIC_NTK, spec.factor = 2.0;
    spec.length = 4096, spec.max_length = 2048;
    begin_spec("dynamic-ntk", &spec, 1); /* the length becomes 0 */
    put_change(offsetof(rope_spec, length) + 1, 0);
    end();
    spec = plain, spec.scheme = ROPE_SCHEME_YARN, spec.factor = 4.0, spec.original_length = 4096;
    spec.mscale = 1.0, spec.mscale_all_dim = 0.707, spec.mscale_log = 0.07, spec.no_truncate = 1;
    spec.beta_fast = 32.0, spec.beta_slow = 1.0;
    begin_spec("yarn", &spec, 0);
    end();
    spec = plain, spec.scheme = ROPE_SCHEME_LONGROPE, spec.original_length = 4096;
    spec.max_length = 131072, spec.length = 8192;
    spec.short_factor = spec.long_factor = here, spec.factor_count = 4;
    begin_spec("longrope", &spec, 1); /* to the short list */
    put_list(list, 4);
    put_list(longer, 4);
    put_change(offsetof(rope_spec, length) + 1, 0);
    put_list(list, 4);
    put_list(longer, 4);
    end();
    spec = plain, spec.scheme = ROPE_SCHEME_LLAMA3, spec.factor = 8.0;
    spec.original_length = 8192, spec.low_freq_factor = 1.0, spec.high_freq_factor = 4.0;
    begin_spec("llama3", &spec, 0);
    end();
    spec = plain, spec.scheme = ROPE_SCHEME_PROPORTIONAL, spec.active_pairs = 2;
    begin_spec("proportional", &spec, 0);
    end();
    spec = plain, spec.scheme = ROPE_SCHEME_SINUSOID, spec.shift = 0.5, spec.position_scale = 2.0;
    begin_spec("sinusoid", &spec, 0);
    end();
    spec = plain, spec.divisors = here, spec.divisor_count = 4;
    begin_spec("divisors", &spec, 0);
    put_list(longer, 4);
    end();
    spec = plain, spec.xpos_base = 512.0, spec.xpos_gamma = 0.4;
    begin_spec("xpos", &spec, 0);
    end();
    spec = plain, spec.pairing_chunk = 4, spec.axis_layout = ROPE_AXES_PIXTRAL;
    begin_spec("pixtral-chunk", &spec, 0);
    end();
    spec = plain, spec.axes = 2, spec.pair_axis = spec.pair_freq = here;
    begin_spec("own-axes", &spec, 0);
    put_bytes(8, 0, 1, 0, 1, 3, 2, 1, 0);
    end();
    spec = plain, spec.axes = 2, spec.pair_axis = here;
    begin_spec("axis-out-of-range", &spec, 0);
    put_bytes(4, 0, 1, 2, 0);
    end();
    spec = plain, spec.rotary_dim = 10;
    begin_spec("too-wide", &spec, 0);
    end();
    spec = plain, spec.scheme = ROPE_SCHEME_CUSTOM, spec.inv_freq = here, spec.inv_freq_count = 4;
    begin_spec("frequency-too-large", &spec, 0);
    put_list(large, 4);
    end();
    for (rope_axis_layout layout = ROPE_AXES_SECTIONS; layout <= ROPE_AXES_GGML_VISION; layout++) {
        char name[32];
        spec = plain, spec.axis_layout = layout, spec.sections = here;
        spec.head_dim = 16, spec.section_count = 3;
        snprintf(name, sizeof name, "axes-%d", (int)layout);
        const int is_ggml = layout == ROPE_AXES_GGML_MROPE || layout == ROPE_AXES_GGML_IMROPE ||
                            layout == ROPE_AXES_GGML_VISION;
        if (layout == ROPE_AXES_PIXTRAL)
            continue;
        spec.section_count = is_ggml ? 4 : 3;
        begin_spec(name, &spec, 0);
        if (layout == ROPE_AXES_ERNIE)
            put_bytes(3, 3, 3, 2);
        else
            put_bytes(4, 4, 2, 2, 0);
        end();
    }
}

/* ---- job: way, plan, call, part, parts, job, tensors, rows, positions, seed, kinds ------------- */

struct job_seed {
    const char *name;
    int way, plan, call;
    rope_job job;
    rope_tensor q, k;
    rope_rows rows;
    rope_positions positions;
    int axes, kinds;
};

static struct job_seed job_seed(const char *name)
{
    struct job_seed seed = {.name = name,
                            .job = ROPE_JOB_INIT,
                            .q = ROPE_TENSOR_INIT,
                            .k = ROPE_TENSOR_INIT,
                            .rows = ROPE_ROWS_INIT,
                            .positions = ROPE_POSITIONS_INIT,
                            .axes = 1};
    seed.job.tokens = 3;
    seed.job.q = here, seed.job.k = here;
    seed.job.message = here, seed.job.message_size = 200;
    seed.q.dtype = seed.k.dtype = ROPE_F32;
    seed.q.src = seed.k.src = here;
    seed.q.dst = seed.k.dst = here;
    seed.q.heads = 2, seed.k.heads = 1;
    seed.positions.start = 1000;
    seed.rows.dtype = ROPE_F32, seed.rows.cos = here, seed.rows.count = 8;
    return seed;
}

static void put_job(const struct job_seed *seed)
{
    begin("job", seed->name);
    put_bytes(5, seed->way, seed->plan, seed->call, 1, 3);
    put(&seed->job, sizeof seed->job);
    if (seed->job.q != NULL)
        put(&seed->q, sizeof seed->q);
    if (seed->job.k != NULL)
        put(&seed->k, sizeof seed->k);
    if (seed->job.rows != NULL)
        put(&seed->rows, sizeof seed->rows);
    for (int axis = 0; seed->job.positions != NULL && axis < seed->axes; axis++)
        put(&seed->positions, sizeof seed->positions);
    put_u64(12345);
    put_bytes(1, seed->kinds);
    for (int axis = 0; axis < seed->axes; axis++) { /* of fuzz_fill_positions */
        put_u64(1);
        for (int i = 0; i < 16; i++)
            put_bytes(1, i % 7 + axis);
    }
    put_bytes(8, 0, 1, 0, 2, 0, 3, 0, 4);
    put_bytes(8, 0, 16, 0, 24, 0, 32, 0, 40); /* places in one buffer */
    end();
}

static void job_seeds(void)
{
    static const rope_dtype dtypes[] = {ROPE_F32, ROPE_F64, ROPE_F16, ROPE_BF16};
    static const rope_dtype kinds[] = {ROPE_I32, ROPE_I64, ROPE_F32, ROPE_F64};
    static const int axes[] = {1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 8, 1, 1};
    char name[64];
    for (int plan = 0; plan < 16; plan++) { /* every plan, type and way */
        snprintf(name, sizeof name, "plan-%d", plan);
        struct job_seed seed = job_seed(name);
        seed.plan = plan, seed.way = plan / 4, seed.axes = axes[plan];
        seed.q.dtype = dtypes[plan % 4], seed.k.dtype = dtypes[(plan + plan / 4) % 4];
        seed.job.positions = here, seed.job.batch = 2;
        if (plan % 3 == 0 || plan == 2 || plan == 14) /* the last two with elements that rest */
            seed.q.dst = there;
        if (plan % 2 == 0)
            seed.positions.data = here, seed.positions.dtype = kinds[plan / 2 % 4],
            seed.positions.start = 0;
        put_job(&seed);
    }
    for (rope_rows_layout layout = 0; layout <= ROPE_ROWS_DUP_PAIRS; layout++) {
        for (rope_arith arith = 0; arith <= ROPE_ARITH_UNFUSED; arith++) {
            snprintf(name, sizeof name, "rows-%d-arith-%d", (int)layout, (int)arith);
            struct job_seed seed = job_seed(name);
            seed.job.rows = here, seed.job.arith = arith, seed.rows.layout = layout;
            seed.plan = arith == 0 ? 0xf0 : 1, seed.way = (int)layout;
            seed.job.rotary_dim = arith == 0 ? 6 : 0;
            seed.q.head_dim = seed.k.head_dim = 8;
            seed.q.dtype = dtypes[layout % 4], seed.k.dtype = dtypes[(layout + arith) % 4];
            seed.rows.dtype = dtypes[(layout + 2 * arith) % 4];
            if (layout != ROPE_ROWS_PACKED && layout != ROPE_ROWS_PAIRS)
                seed.rows.sin = here;
            if (arith == 1)
                seed.job.positions = here, seed.positions.data = here,
                seed.positions.dtype = ROPE_I32, seed.positions.start = 0,
                seed.job.flags = ROPE_SKIP_NEGATIVE;
            if (arith == 2)
                seed.job.direction = ROPE_TRANSPOSE, seed.job.row_dtype = ROPE_BF16;
            put_job(&seed);
        }
    }
    struct job_seed seed = job_seed("shift");
    seed.call = 2, seed.job.positions = here, seed.positions.data = here;
    seed.positions.stride_token = 0, seed.positions.dtype = ROPE_I64, seed.positions.start = 0;
    put_job(&seed);
    seed = job_seed("part"), seed.call = 1, seed.job.positions = here, seed.way = 1;
    put_job(&seed);
    seed = job_seed("scale"), seed.job.positions = here, seed.job.direction = ROPE_INVERSE;
    seed.q.scale = here, seed.q.scale_dtype = ROPE_F32, seed.k.scale = here;
    seed.k.scale_dtype = ROPE_F64, seed.way = 2;
    put_job(&seed);
    seed = job_seed("pairing-out"), seed.job.positions = here, seed.job.pairing_out = 2;
    seed.q.dst = seed.k.dst = there, seed.way = 3;
    put_job(&seed);
    seed = job_seed("strides"), seed.job.positions = here, seed.way = 3, seed.q.dst = there;
    seed.q.src_stride_token = -24, seed.q.src_stride_head = 8, seed.q.src_stride_batch = 100;
    seed.q.dst_stride_token = 8, seed.q.dst_stride_head = 40, seed.q.dst_stride_batch = -200;
    put_job(&seed);
    seed = job_seed("packed-qk"), seed.job.positions = here, seed.way = 3;
    seed.q.src_stride_token = seed.k.src_stride_token = 32;
    seed.q.src_stride_head = seed.k.src_stride_head = 8;
    put_job(&seed);
    seed = job_seed("too-few-rows"), seed.job.rows = here, seed.rows.count = 2, seed.plan = 1;
    put_job(&seed);
    seed = job_seed("negative-row"), seed.plan = 1;
    seed.job.rows = here, seed.job.positions = here;
    seed.positions.start = -1; /* 0xe0 is that of -1 in data */
    put_job(&seed);
    seed = job_seed("src-under-dst"), seed.job.positions = here, seed.way = 3;
    seed.q.dst = there, seed.job.k = NULL, seed.q.heads = 4, seed.job.tokens = 9;
    put_job(&seed);
    seed = job_seed("scale-of-zero"), seed.job.positions = here, seed.q.scale = here;
    seed.q.scale_dtype = ROPE_F32, seed.kinds = 64; /* any bits: not all are finite */
    seed.job.tokens = 1000, seed.job.k = NULL, seed.q.heads = 1, seed.plan = 11;
    seed.q.scale_stride_token = 1;
    put_job(&seed);
    seed = job_seed("giant"), seed.job.positions = here, seed.q.heads = (size_t)1 << 40;
    put_job(&seed);
    seed = job_seed("empty"), seed.job.positions = here, seed.job.tokens = 0;
    put_job(&seed);
}

/* ---- arrays: way; permutation, or plan, call, part, parts and sinusoid ------------------------- */

static void put_permutation(const char *name, const rope_permutation *permutation)
{
    begin("arrays", name);
    put_bytes(1, 4);
    put(permutation, sizeof *permutation);
    put_u64(99);
    end();
}

static void permutation_seeds(void)
{
    rope_permutation p = ROPE_PERMUTATION_INIT;
    p.dtype = ROPE_BF16, p.to = ROPE_INTERLEAVED, p.matrices = 2, p.heads = 3, p.head_dim = 8;
    p.row_length = 5, p.src = p.dst = here, p.message = here, p.message_size = 200;
    put_permutation("permute-in-place", &p);
    p.dst = there, p.from = ROPE_INTERLEAVED, p.to = ROPE_HALF, p.rotary_offset = 2;
    p.rotary_dim = 4, p.dtype = ROPE_F32;
    put_permutation("permute-slice", &p);
    p.dtype = ROPE_F64, p.src_stride_matrix = -500, p.src_stride_head = 50;
    p.src_stride_row = 5, p.dst_stride_matrix = 5, p.dst_stride_head = 160;
    p.dst_stride_row = 20;
    put_permutation("permute-strides", &p);
    p.row_length = (size_t)1 << 40;
    put_permutation("permute-giant", &p);
    p = (rope_permutation)ROPE_PERMUTATION_INIT;
    p.dtype = ROPE_F16, p.to = ROPE_INTERLEAVED, p.heads = 1, p.head_dim = 6, p.row_length = 1300;
    p.src = p.dst = here;
    put_permutation("permute-long-rows", &p);
}

static void sinusoid_seeds(void)
{
    static const rope_dtype dtypes[] = {ROPE_F32, ROPE_F64, ROPE_F16, ROPE_BF16};
    static const int plans[] = {0, 1, 3, 4, 5, 7, 9, 10, 11, 14, 15, 13};
    static const int axes[] = {1, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 8};
    for (int i = 0; i < 12; i++) {
        char name[32];
        rope_sinusoid s = ROPE_SINUSOID_INIT;
        rope_positions positions = ROPE_POSITIONS_INIT;
        const int call = i % 3;
        s.dtype = dtypes[i % 4], s.batch = 2, s.tokens = 3, s.flags = (uint32_t)(i % 4);
        s.positions = here, s.src = call == 2 ? NULL : here, s.dst = i % 2 == 0 ? here : there;
        s.dim = plans[i] == 15 ? 7 : i % 5 == 0 ? 11 : 0;
        s.dropout = call == 2 ? 0.0 : 0.25, s.seed = 42, s.offset = (uint64_t)i;
        s.message = here, s.message_size = 200;
        if ((s.flags & ROPE_PADDING) != 0)
            s.padding = 3;
        if (i % 2 == 0)
            positions.data = here, positions.dtype = dtypes[i / 2 % 2], positions.stride_batch = 3;
        else
            positions.start = 2;
        snprintf(name, sizeof name, "sinusoid-%d", i);
        begin("arrays", name);
        put_bytes(5, i % 4, plans[i], call, 1, 3);
        put(&s, sizeof s);
        for (int axis = 0; axis < axes[i]; axis++)
            put(&positions, sizeof positions);
        put_u64(7);
        put_bytes(1, i % 3);
        put_u64(8);
        put_bytes(8, 1, 2, 3, 4, 3, 0xec, 0xed, 0);
        end();
    }
}

/* ---- positions: two choices, plan, tokens, rows, positions ------------------------------------ */

/* `special` and the next make the values at 1 and 2: see fuzz_fill_positions. */
static void put_positions(const char *name, int plan, int axes, const rope_positions *positions,
                          const rope_rows *rows, int special)
{
    begin("positions", name);
    put_bytes(4, 2, 2, plan, special == 0xe6 ? 3 : 5);
    put(rows, sizeof *rows);
    put_bytes(1, 0);
    for (int axis = 0; axis < axes; axis++)
        put(positions, sizeof *positions);
    for (int axis = 0; axis < axes; axis++) {
        put_u64(5);
        for (int i = 0; i < 16; i++)
            put_bytes(1, i == 1 || i == 2 ? special + axis + i - 1 : 7 * i);
    }
    end();
}

static void positions_seeds(void)
{
    static const rope_dtype kinds[] = {0, ROPE_I32, ROPE_I64, ROPE_F32, ROPE_F64};
    static const rope_dtype dtypes[] = {ROPE_F32, ROPE_F64, ROPE_F16, ROPE_BF16};
    char name[32];
    rope_rows rows = ROPE_ROWS_INIT;
    rows.cos = here, rows.count = 5, rows.message = here, rows.message_size = 200;
    rope_positions positions = ROPE_POSITIONS_INIT;
    for (int i = 0; i < 20; i++) { /* every type and layout */
        rows.dtype = dtypes[i % 4], rows.layout = i % 5, rows.direction = i % 4;
        rows.sin = rows.layout == ROPE_ROWS_PACKED || rows.layout == ROPE_ROWS_PAIRS ? NULL : here;
        positions.dtype = kinds[i % 5];
        positions.data = positions.dtype != 0 ? here : NULL;
        positions.start = i % 3 * 100000 - 100000, positions.step = i % 7 == 0 ? -3 : 0;
        const int plan = i % 16, several = plan == 4 || plan == 5;
        snprintf(name, sizeof name, "type-%d-layout-%d-%d", i % 5, i % 5, i % 4);
        put_positions(name, plan, plan == 13 ? 8 : several ? 3 : 1, &positions, &rows, 0xe0);
    }
    rows = (rope_rows)ROPE_ROWS_INIT;
    rows.dtype = ROPE_F32, rows.cos = here, rows.count = 5, rows.stride_row = -20;
    positions = (rope_positions)ROPE_POSITIONS_INIT;
    positions.start = (INT64_C(1) << 31) - 5; /* the last one that is in range, and one beyond */
    put_positions("up-to-the-end", 0, 1, &positions, &rows, 0xe0);
    positions.start++;
    put_positions("beyond-the-end", 0, 1, &positions, &rows, 0xe0);
    positions.start = 0, positions.step = INT64_C(1) << 62;
    positions.data = here, positions.dtype = ROPE_I64;
    put_positions("steps-that-wrap", 0, 1, &positions, &rows, 0xe6); /* 2 * 2^62 - 2^63 */
    positions.dtype = ROPE_F64;
    put_positions("steps-that-wrap-f64", 0, 1, &positions, &rows, 0xe6);
}

/* ---- kernels: slot, kind, length, seed, then what the slot asks for ---------------------------- */

static void kernels_seeds(void)
{
    static const char *const slots[9] = {"rows",   "direct", "direct-f32",      "add", "widen",
                                         "powers", "rotate", "rotate-in-place", "run"};
    for (int slot = 0; slot < 9; slot++)
        for (int type = 0; type < 4; type++) {
            char name[32];
            snprintf(name, sizeof name, "%s-%d", slots[slot], type);
            begin("kernels", name);
            put_bytes(3, slot, type | (type % 3) << 2 | (slot & 1) << 7, 9 * type + 7 * slot + 1);
            put_u64(1);
            if (slot == 6) /* shape, more, gaps, others, rows */
                put_bytes(5, 5 * type + 1, 0x25 + type, 0x55, 0x1e, 0x81 + type);
            else if (slot == 7)
                put_bytes(5, type == 1 ? 3 : 4 * type, 0x19, 0x41, 0, type);
            else
                put_bytes(6, 0x40 + type, 0x39, 0x30, 2, 0, 5);
            end();
        }
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void put_text(const char *text)
{
    put(text, strlen(text));
}

static void put_npy(const char *name, int version, const char *header, const void *data,
                    size_t size)
{
    begin("npy", name);
    put("\x93NUMPY", 6);
    put_bytes(2, version, 0);
    put_bytes(2, (int)(strlen(header) & 255), (int)(strlen(header) >> 8));
    if (version > 1)
        put_bytes(2, 0, 0);
    put_text(header);
    put(data, size);
    end();
}

static void npy_seeds(void)
{
    static const unsigned char data[64] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const struct {
        const char *name, *descr, *shape;
        size_t size;
    } arrays[] = {{"f2", "<f2", "(3,)", 6},
                  {"f4", "<f4", "(2, 3)", 24},
                  {"f8", "<f8", "(1, 2, 2)", 32},
                  {"u2", "<u2", "(2, 1, 3, 1)", 12},
                  {"i4", "<i4", "(5,)", 20},
                  {"i8", "<i8", "()", 8},
                  {"empty", "<f4", "(0, 7)", 0},
                  {"eight", "<f4", "(1,1,1,1,1,1,1,1)", 4},
                  {"big-endian", ">f4", "(3,)", 12},
                  {"short", "<f4", "(4,)", 12},
                  {"overflow", "<f8", "(4294967296, 4294967296, 4294967296)", 8},
                  {"larger-than-64-bits", "<f4", "(18446744073709551616,)", 4},
                  {"longer", "<f4", "(2,)", 12},
                  {"nine", "<f4", "(1,1,1,1,1,1,1,1,1)", 4},
                  {"number", "<f4", "(5)", 20}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        char header[200];
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }   \n", arrays[i].descr,
                 arrays[i].shape);
        put_npy(arrays[i].name, (int)(i % 3) + 1, header, data, arrays[i].size);
    }
    put_npy("other-order", 1, "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f4\"}", data,
            8);
    put_npy("fortran", 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", data, 8);
    put_npy("key-twice", 1, "{'descr': '<f4', 'descr': '<f4', 'shape': (2,), }", data, 8);
    begin("npy", "length-beyond-the-file");
    put("\x93NUMPY", 6);
    put_bytes(6, 2, 0, 255, 255, 255, 255);
    end();
}

static void put_safetensors(const char *name, const char *header, size_t data)
{
    begin("safetensors", name);
    put_u64(strlen(header));
    put_text(header);
    for (size_t i = 0; i < data; i++)
        put_bytes(1, (int)i);
    end();
}

static void safetensors_seeds(void)
{
    put_safetensors("nothing", "{}", 0);
    put_safetensors("one", "{\"w\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]}}",
                    12);
    put_safetensors(
        "metadata",
        "{\"__metadata__\":{\"format\":\"pt\",\"a\":\"\\u0041\"}, "
        "\"model.layers.0.self_attn.q_proj.weight\": {\"shape\":[4], \"dtype\":\"F32\", "
        "\"data_offsets\":[4,20]}, \"b\":{\"dtype\":\"F4\",\"shape\":[8],"
        "\"data_offsets\":[0,4],\"more\":[null,{\"x\":-1.5e3}]}}  ",
        20);
    put_safetensors("scalar-and-empty",
                    "{\"s\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},"
                    "\"e\":{\"dtype\":\"I8\",\"shape\":[0,5],\"data_offsets\":[8,8]}}",
                    8);
    put_safetensors("bytes-behind",
                    "{\"w\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 3);
    put_safetensors("shape-too-large",
                    "{\"w\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2);
    put_safetensors("overlap",
                    "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
                    "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
                    6);
    put_safetensors("hole", "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}", 4);
    put_safetensors("same-name",
                    "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                    "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
                    4);
    put_safetensors("overflow",
                    "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4],"
                    "\"data_offsets\":[0,0]}}",
                    0);
    put_safetensors("backwards", "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[4,2]}}",
                    4);
    put_safetensors("deep", "{\"__metadata__\":{\"a\":[[[[[[[[[[[[1,2],{}]]]]]]]]]]]}}", 0);
    put_safetensors("unfinished", "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offs", 4);
    begin("safetensors", "length-beyond-the-file");
    put_u64(UINT64_MAX);
    put_text("{}");
    end();
}

/* A key of GGUF and the number of its type, which its value must follow. */
enum { GGUF_U32 = 4, GGUF_F32 = 6, GGUF_STRING = 8, GGUF_ARRAY, GGUF_U64 };

static void put_key(const char *key, uint32_t type)
{
    put_u64(strlen(key));
    put_text(key);
    put_u32(type);
}

static void put_word(const char *key, const char *text)
{
    put_key(key, GGUF_STRING);
    put_u64(strlen(text));
    put_text(text);
}

static void put_count(const char *key, uint32_t value)
{
    put_key(key, GGUF_U32);
    put_u32(value);
}

static void put_single(const char *key, float value)
{
    put_key(key, GGUF_F32);
    put(&value, sizeof value);
}

static void begin_gguf(const char *name, uint32_t version, uint64_t tensors, uint64_t pairs)
{
    begin("gguf", name);
    put_text("GGUF");
    put_u32(version);
    put_u64(tensors);
    put_u64(pairs);
}

/* A tensor of four numbers, at an offset of the data. */
static void put_tensor(const char *name, uint64_t offset)
{
    put_u64(strlen(name));
    put_text(name);
    put_u32(1);
    put_u64(4);
    put_u32(0);
    put_u64(offset);
}

static void put_tensor_data(int tensors)
{
    const long at = ftell(file);
    for (long i = at; i % 32 != 0; i++)
        put_bytes(1, 0);
    for (int i = 0; i < 4 * tensors; i++) {
        const float value = (float)(i + 1);
        put(&value, sizeof value);
    }
}

static void gguf_seeds(void)
{
    begin_gguf("nothing", 3, 0, 0);
    end();
    begin_gguf("llama", 3, 1, 7);
    put_word("general.architecture", "llama");
    put_count("llama.block_count", 4);
    put_count("llama.embedding_length", 64);
    put_count("llama.attention.head_count", 8);
    put_single("llama.rope.freq_base", 500000.0f);
    put_key("tokenizer.ggml.tokens", GGUF_ARRAY);
    put_u32(GGUF_STRING);
    put_u64(2);
    put_u64(1);
    put_text("a");
    put_u64(0);
    put_key("general.file_size", GGUF_U64);
    put_u64(1);
    put_tensor("rope_freqs.weight", 0);
    put_tensor_data(1);
    end();
    begin_gguf("yarn", 2, 0, 7);
    put_word("general.architecture", "deepseek2");
    put_count("deepseek2.attention.key_length", 12);
    put_count("deepseek2.rope.dimension_count", 8);
    put_word("deepseek2.rope.scaling.type", "yarn");
    put_single("deepseek2.rope.scaling.factor", 40.0f);
    put_count("deepseek2.rope.scaling.original_context_length", 4096);
    put_single("deepseek2.rope.scaling.yarn_log_multiplier", 0.0707f);
    end();
    begin_gguf("sections", 3, 0, 3);
    put_word("general.architecture", "qwen2vl");
    put_count("qwen2vl.attention.key_length", 16);
    put_key("qwen2vl.rope.dimension_sections", GGUF_ARRAY);
    put_u32(GGUF_U32);
    put_u64(4);
    for (int i = 0; i < 4; i++)
        put_u32(i == 0 ? 4 : i < 3 ? 2 : 0);
    end();
    begin_gguf("longrope", 3, 2, 5);
    put_word("general.architecture", "phi3");
    put_count("phi3.attention.key_length", 8);
    put_count("phi3.context_length", 131072);
    put_count("phi3.rope.scaling.original_context_length", 4096);
    put_count("general.alignment", 32);
    put_tensor("rope_factors_long.weight", 0);
    put_tensor("rope_factors_short.weight", 16);
    put_tensor_data(2);
    end();
    begin_gguf("gemma3-windows", 3, 0, 4);
    put_word("general.architecture", "gemma3");
    put_count("gemma3.attention.key_length", 8);
    put_count("gemma3.block_count", 3);
    put_key("gemma3.attention.sliding_window_pattern", GGUF_ARRAY);
    put_u32(7);
    put_u64(3);
    put_bytes(3, 1, 1, 0);
    end();
    /* found by fuzzing: both were taken for whole */
    begin_gguf("list-longer-than-64-bits", 3, 0, 1);
    put_key("a", GGUF_ARRAY);
    put_u32(0);
    put_u64(UINT64_MAX);
    end();
    begin_gguf("list-that-wraps", 3, 0, 1);
    put_key("a", GGUF_ARRAY);
    put_u32(GGUF_U64);
    put_u64(UINT64_C(1) << 61);
    end();
    begin_gguf("tensor-outside", 3, 1, 0);
    put_tensor("rope_freqs.weight", UINT64_MAX - 63);
    put_tensor_data(1);
    end();
    begin_gguf("ends-within-a-long-string", 3, 0, 1);
    put_key("a", GGUF_STRING);
    put_u64(70000);
    put_text("b");
    end();
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: fuzz_seeds DIRECTORY\n", stderr);
        return 2;
    }
    directory = argv[1];
    mkdir(directory, 0777);
    spec_seeds();
    job_seeds();
    permutation_seeds();
    sinusoid_seeds();
    positions_seeds();
    kernels_seeds();
    npy_seeds();
    safetensors_seeds();
    gguf_seeds();
    return 0;
}
