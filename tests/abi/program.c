/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of 0.1: every function and every struct of that release, used as a stranger would.  It is
 * compiled with the headers of 0.1, kept beside it, and with the present ones, and linked with the present
 * libraries.  program.txt has what it printed with the libraries of 0.1:  program FILE  compares,
 * program  prints.  Must use nothing that came later.
 */
#include "rope/rope.h"
#ifdef PROGRAM_WITH_CONFIG
#include "rope/rope_config.h"
#endif

#if defined(PROGRAM_OF_0_1) && ROPE_VERSION_MAJOR != 0
#error "these are not the headers of 0.1"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *recorded;
static int failures;

/* One line of results. */
static void result(const char *name, uint64_t value)
{
    char line[96], wanted[96];
    snprintf(line, sizeof line, "%s %016" PRIx64 "\n", name, value);
    if (recorded == NULL) {
        fputs(line, stdout);
    } else if (fgets(wanted, sizeof wanted, recorded) == NULL || strcmp(line, wanted) != 0) {
        printf("got %swith 0.1 %s", line, wanted);
        failures++;
    }
}

/*
 * The same of data.  f64 rows are within 1 ulp, and the sines behind them SLEEF's: built without it, or on an
 * x86 CPU without FMA, the library may have others.
 */
static void result_of(rope_dtype dtype, const char *name, uint64_t value)
{
    char line[96];
    if (dtype == ROPE_F64)
        snprintf(line, sizeof line, "%s, f64", name);
    else
        snprintf(line, sizeof line, "%s", name);
#ifdef PROGRAM_WITHOUT_SLEEF
    if (dtype == ROPE_F64 && recorded != NULL) {
        if (fgets(line, sizeof line, recorded) == NULL)
            failures++;
        return;
    }
#endif
    result(line, value);
}

/* FNV-1a */
static uint64_t sum_of(const void *bytes, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return sum;
}

static uint64_t text_sum(const char *text)
{
    return sum_of(text, strlen(text));
}

static void require(const char *what, rope_status status)
{
    if (status == ROPE_OK)
        return;
    printf("%s: %s\n", what, rope_status_string(status));
    exit(1);
}

enum { TOKENS = 5, HEADS = 3, KEYS = 2, HEAD_DIM = 80, ROTARY_DIM = 64, PAIRS = ROTARY_DIM / 2 };
enum { QUERY = TOKENS * HEADS * HEAD_DIM, KEY = TOKENS * KEYS * HEAD_DIM };

/* Data of any dtype, the same in every run; 16-bit words become numbers of 1/2 to 2, both signs. */
static uint64_t data[2][QUERY], before[2][QUERY];
static const size_t sizes[] = {[ROPE_F32] = 4, [ROPE_F64] = 8, [ROPE_F16] = 2, [ROPE_BF16] = 2};

static void fill(rope_dtype dtype)
{
    static const uint64_t least[] = {[ROPE_F32] = 0x3f000000,
                                     [ROPE_F64] = 0x3fe0000000000000,
                                     [ROPE_F16] = 0x3800,
                                     [ROPE_BF16] = 0x3f00};
    static const uint64_t steps[] = {[ROPE_F32] = 0x00ffffff,
                                     [ROPE_F64] = 0x001fffffffffffff,
                                     [ROPE_F16] = 0x07ff,
                                     [ROPE_BF16] = 0x00ff};
    uint64_t state = 88172645463325252u;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < QUERY; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            const uint64_t word = (least[dtype] + (state >> 8 & steps[dtype])) |
                                  (state & 1) << (8 * sizes[dtype] - 1);
            const uint32_t half = (uint32_t)word;
            const uint16_t quarter = (uint16_t)word;
            memcpy((unsigned char *)before[side] + i * sizes[dtype],
                   sizes[dtype] == 8   ? (const void *)&word
                   : sizes[dtype] == 4 ? (const void *)&half
                                       : (const void *)&quarter,
                   sizes[dtype]);
        }
    memcpy(data, before, sizeof data);
}

static rope_plan *plan_of(rope_spec *spec)
{
    char message[200] = "";
    spec->message = message;
    spec->message_size = sizeof message;
    rope_plan *plan;
    const rope_status status = rope_plan_create(spec, &plan);
    if (status != ROPE_OK)
        puts(message);
    require("rope_plan_create", status);
    return plan;
}

/* ---- Plans ---- */

static void tell_plan(const char *name, rope_spec *spec)
{
    rope_plan *plan = plan_of(spec);
    rope_info info = ROPE_INFO_INIT;
    require("rope_plan_info", rope_plan_info(plan, &info));
    double numbers[4][PAIRS];
    require("rope_plan_inv_freq", rope_plan_inv_freq(plan, numbers[0], numbers[1], PAIRS));
    require("rope_plan_wavelengths", rope_plan_wavelengths(plan, numbers[2], PAIRS));
    const double told[] = {info.theta, info.factor, info.attention_factor, info.softmax_factor};
    const uint64_t counts[] = {(uint64_t)info.scheme,  info.head_dim,       info.rotary_dim,
                               info.rotary_offset,     info.axes,           info.is_long,
                               (uint64_t)info.pairing, (uint64_t)info.angle};
    memset(numbers[3], 0, sizeof numbers[3]);
    memcpy(numbers[3], told, sizeof told);
    memcpy(numbers[3] + 4, counts, sizeof counts);
    result(name, sum_of(numbers, sizeof numbers));

    static float rows[TOKENS][ROTARY_DIM];
    rope_positions positions[4];
    for (int axis = 0; axis < 4; axis++) {
        const rope_positions fresh = ROPE_POSITIONS_INIT;
        positions[axis] = fresh;
        positions[axis].start = 131067 - 1000 * axis;
    }
    rope_rows out = ROPE_ROWS_INIT;
    out.dtype = ROPE_F32;
    out.cos = rows;
    out.count = TOKENS;
    require("rope_cos_sin", rope_cos_sin(plan, positions, TOKENS, &out));
    result("  rows", sum_of(rows, sizeof rows));
    rope_plan_destroy(plan);
}

static rope_spec spec_of(void)
{
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = HEAD_DIM;
    spec.rotary_dim = ROTARY_DIM;
    spec.theta = 500000;
    return spec;
}

static void plans(void)
{
    static double list[PAIRS], longer[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        list[i] = 1.0 / (1 + i);
        longer[i] = 1.0 + i;
    }
    const int32_t sections[] = {16, 8, 8};
    rope_spec spec = spec_of();
    tell_plan("default", &spec);
    spec.pairing = ROPE_INTERLEAVED;
    spec.rotary_offset = 16;
    spec.divisors = longer;
    spec.divisor_count = PAIRS;
    tell_plan("divisors", &spec);
    spec = spec_of();
    spec.scheme = ROPE_SCHEME_LINEAR;
    spec.factor = 4;
    tell_plan("linear", &spec);
    spec = spec_of();
    spec.scheme = ROPE_SCHEME_CUSTOM;
    spec.theta = 0;
    spec.inv_freq = list;
    spec.inv_freq_count = PAIRS;
    spec.attention_factor = 1.25;
    tell_plan("custom", &spec);
    spec = spec_of();
    spec.scheme = ROPE_SCHEME_DYNAMIC_NTK;
    spec.factor = 4;
    spec.length = 10000;
    spec.max_length = 4096;
    tell_plan("dynamic", &spec);
    spec = spec_of();
    spec.scheme = ROPE_SCHEME_NTK_MIXED;
    spec.factor = 4;
    spec.ntk_exponent = 0.625;
    tell_plan("mixed", &spec);
    spec = spec_of();
    spec.scheme = ROPE_SCHEME_YARN;
    spec.factor = 40;
    spec.original_length = 4096;
    spec.mscale = 1;
    spec.mscale_all_dim = 1;
    tell_plan("yarn", &spec);
    spec = spec_of();
    spec.scheme = ROPE_SCHEME_LONGROPE;
    spec.factor = 32;
    spec.length = 5000;
    spec.original_length = 4096;
    spec.short_factor = longer;
    spec.long_factor = longer;
    spec.factor_count = PAIRS;
    tell_plan("longrope", &spec);
    spec = spec_of();
    spec.scheme = ROPE_SCHEME_LLAMA3;
    spec.factor = 8;
    spec.original_length = 8192;
    spec.low_freq_factor = 1;
    spec.high_freq_factor = 4;
    tell_plan("llama3", &spec);
    spec = spec_of();
    spec.axis_layout = ROPE_AXES_SECTIONS;
    spec.sections = sections;
    spec.section_count = 3;
    tell_plan("sections", &spec);
    spec = spec_of();
    spec.pairing_chunk = 32;
    spec.xpos_base = 512;
    tell_plan("xpos", &spec);
}

/* ---- Rotations ---- */

static void rotations(void)
{
    rope_spec spec = spec_of();
    rope_spec scaled = spec_of();
    scaled.scheme = ROPE_SCHEME_LINEAR;
    scaled.factor = 4;
    rope_plan *plan = plan_of(&spec);
    rope_plan *other = plan_of(&scaled);
    rope_plan *between;
    require("rope_plan_between", rope_plan_between(plan, other, &between));
    const int64_t numbers[TOKENS] = {0, 131071, -5, 77, 2147483647};
    const float factors[TOKENS] = {1, 2, 0.75f, 1, 1.125f};
    for (rope_dtype dtype = ROPE_F32; dtype <= ROPE_BF16; dtype++) {
        rope_positions positions = ROPE_POSITIONS_INIT;
        positions.dtype = ROPE_I64;
        positions.data = numbers;
        rope_tensor q = ROPE_TENSOR_INIT, k = ROPE_TENSOR_INIT;
        q.dtype = k.dtype = dtype;
        q.heads = HEADS;
        k.heads = KEYS;
        q.src = before[0];
        q.dst = data[0];
        k.src = k.dst = data[1];
        q.scale = factors;
        q.scale_dtype = ROPE_F32;
        rope_job job = ROPE_JOB_INIT;
        job.tokens = TOKENS;
        job.q = &q;
        job.k = &k;
        job.positions = &positions;
        for (rope_arith arith = ROPE_ARITH_FUSED; arith <= ROPE_ARITH_UNFUSED; arith++) {
            job.arith = arith;
            fill(dtype);
            require("rope_rotate", rope_rotate(plan, &job));
            result_of(dtype, "rotate", sum_of(data, sizeof data));
            fill(dtype);
            job.pairing_out = ROPE_OUT_INTERLEAVED;
            job.k = NULL;
            for (size_t part = 0; part < 3; part++)
                require("rope_rotate_part", rope_rotate_part(plan, &job, part, 3));
            result_of(dtype, "part", sum_of(data, sizeof data));
            job.pairing_out = ROPE_OUT_SAME;
            job.k = &k;
        }
        job.arith = ROPE_ARITH_FUSED;
        q.scale = NULL;
        q.scale_dtype = 0;
        fill(dtype);
        require("between", rope_rotate(between, &job));
        result_of(dtype, "between", sum_of(data, sizeof data));
        positions.data = NULL;
        positions.dtype = 0;
        positions.start = -3;
        fill(dtype);
        require("rope_shift", rope_shift(plan, &job));
        result_of(dtype, "shift", sum_of(data, sizeof data));

        /* by rows, without a plan */
        static double rows[2][TOKENS][ROTARY_DIM];
        rope_rows out = ROPE_ROWS_INIT;
        out.dtype = dtype;
        out.layout = ROPE_ROWS_DUP_HALF;
        out.cos = rows[0];
        out.sin = rows[1];
        out.count = TOKENS;
        memset(rows, 0, sizeof rows);
        require("rope_cos_sin", rope_cos_sin(plan, &positions, TOKENS, &out));
        result_of(dtype, "duplicated rows", sum_of(rows, sizeof rows));
        job.positions = NULL;
        job.rows = &out;
        job.rotary_dim = ROTARY_DIM;
        job.direction = ROPE_TRANSPOSE;
        q.head_dim = k.head_dim = HEAD_DIM;
        fill(dtype);
        require("by rows", rope_rotate(NULL, &job));
        result_of(dtype, "by rows", sum_of(data, sizeof data));
    }
    rope_plan_destroy(plan);
    rope_plan_destroy(other);
    rope_plan_destroy(between);
}

/* ---- Embeddings, weights, queries ---- */

static void besides(void)
{
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = ROTARY_DIM;
    rope_plan *plan = plan_of(&spec);
    rope_positions positions = ROPE_POSITIONS_INIT;
    positions.start = 4;
    for (rope_dtype dtype = ROPE_F32; dtype <= ROPE_BF16; dtype++) {
        rope_sinusoid sinusoid = ROPE_SINUSOID_INIT;
        sinusoid.dtype = dtype;
        sinusoid.tokens = TOKENS;
        sinusoid.positions = &positions;
        sinusoid.flags = ROPE_COS_FIRST;
        sinusoid.dst = data[0];
        fill(dtype);
        require("rope_sinusoid_table", rope_sinusoid_table(plan, &sinusoid));
        result_of(dtype, "table", sum_of(data, sizeof data));
        sinusoid.src = before[0];
        sinusoid.dropout = 0.25;
        sinusoid.seed = 42;
        fill(dtype);
        require("rope_sinusoid_add", rope_sinusoid_add(plan, &sinusoid));
        result_of(dtype, "add", sum_of(data, sizeof data));
        fill(dtype);
        for (size_t part = 0; part < 2; part++)
            require("rope_sinusoid_add_part", rope_sinusoid_add_part(plan, &sinusoid, part, 2));
        result_of(dtype, "add", sum_of(data, sizeof data));
        rope_permutation permutation = ROPE_PERMUTATION_INIT;
        permutation.dtype = dtype;
        permutation.to = ROPE_INTERLEAVED;
        permutation.heads = HEADS;
        permutation.head_dim = HEAD_DIM;
        permutation.rotary_dim = ROTARY_DIM;
        permutation.row_length = TOKENS;
        permutation.src = before[0];
        permutation.dst = data[0];
        fill(dtype);
        require("rope_permute", rope_permute(&permutation));
        result_of(dtype, "permute", sum_of(data, sizeof data));
    }
    rope_plan_destroy(plan);
    for (rope_status status = ROPE_OK; status >= ROPE_ERR_MEMORY; status--)
        result("status", text_sum(rope_status_string(status)));
    for (rope_isa isa = ROPE_ISA_NONE; isa <= ROPE_ISA_NEON; isa++)
        result("isa", text_sum(rope_isa_name(isa)));
    result("scalar", (uint64_t)rope_isa_available(ROPE_ISA_SCALAR));
    result("active", rope_isa_available(rope_active_isa()) != 0);
    result("version", rope_version() >= 100 && rope_version_string()[0] != '\0');
}

/* ---- librope-config ---- */

#ifdef PROGRAM_WITH_CONFIG
static void tell_config(rope_config *config)
{
    const size_t count = rope_config_entry_count(config);
    result("entries", count);
    for (size_t i = 0; i < count; i++) {
        rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
        require("rope_config_get_entry", rope_config_get_entry(config, i, &entry));
        const uint64_t told[] = {(uint64_t)entry.tower,
                                 entry.k_head_dim,
                                 entry.k_rotary_offset,
                                 (uint64_t)entry.pairing_out,
                                 (uint64_t)entry.direction,
                                 (uint64_t)entry.rounding,
                                 entry.flags,
                                 text_sum(entry.model_type),
                                 text_sum(entry.layer_type),
                                 text_sum(entry.path),
                                 entry.spec->head_dim,
                                 (uint64_t)entry.spec->scheme};
        result("entry", sum_of(told, sizeof told));
        result("  scale", sum_of(&entry.position_scale, sizeof entry.position_scale));
        result("  found", (uint64_t)rope_config_find(config, entry.tower, entry.layer_type));
    }
    rope_plan *made[8];
    char message[200] = "";
    require("rope_config_create_plans",
            rope_config_create_plans(config, made, count, message, sizeof message));
    for (size_t i = 0; i < count; i++) {
        rope_info info = ROPE_INFO_INIT;
        require("rope_plan_info", rope_plan_info(made[i], &info));
        double frequencies[256];
        require("frequencies", rope_plan_inv_freq(made[i], frequencies, NULL, info.rotary_dim / 2));
        result("frequencies", sum_of(frequencies, info.rotary_dim / 2 * sizeof *frequencies));
        rope_plan_destroy(made[i]);
    }
    result("layers", rope_config_layer_count(config));
    for (size_t layer = 0; layer < 4; layer++) {
        result("layer", (uint64_t)rope_config_layer(config, layer));
        rope_query_scale scale = ROPE_QUERY_SCALE_INIT;
        require("query scale", rope_config_get_query_scale(config, layer, &scale));
        result("query scale", (uint64_t)(int64_t)(1e6 * rope_query_scale_at(&scale, 100000) + 0.5));
    }
    for (size_t i = 0; rope_config_warning(config, i) != NULL; i++)
        result("warning", text_sum(rope_config_warning(config, i)));
    rope_config_destroy(config);
}

static void configurations(void)
{
    static const char gemma[] =
        "{\"model_type\": \"gemma3_text\", \"head_dim\": 256, \"num_hidden_layers\": 12,"
        "\"rope_theta\": 1000000, \"rope_local_base_freq\": 10000, \"sliding_window_pattern\": 6,"
        "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 8.0}}";
    static const char ministral[] =
        "{\"model_type\": \"ministral3\", \"head_dim\": 128, \"num_hidden_layers\": 4,"
        "\"rope_parameters\": {\"rope_type\": \"yarn\", \"rope_theta\": 1000000.0, \"factor\": "
        "16.0,"
        "\"original_max_position_embeddings\": 16384, \"beta_fast\": 32.0, \"beta_slow\": 1.0,"
        "\"mscale_all_dim\": 1.0, \"mscale\": 1.0, \"llama_4_scaling_beta\": 0.1}}";
    rope_config *config;
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.profile = ROPE_PROFILE_TRANSFORMERS;
    options.length = 5000;
    require("gemma", rope_config_parse(gemma, strlen(gemma), &options, &config));
    tell_config(config);
    require("ministral", rope_config_parse(ministral, strlen(ministral), NULL, &config));
    tell_config(config);
    rope_gguf_pair pairs[6];
    for (int i = 0; i < 6; i++) {
        const rope_gguf_pair fresh = ROPE_GGUF_PAIR_INIT;
        pairs[i] = fresh;
    }
    pairs[0].key = "general.architecture";
    pairs[0].text = "llama";
    pairs[1].key = "llama.rope.freq_base";
    pairs[1].number = 500000;
    pairs[2].key = "llama.rope.dimension_count";
    pairs[2].number = 128;
    pairs[3].key = "llama.block_count";
    pairs[3].number = 4;
    pairs[4].key = "llama.embedding_length";
    pairs[4].number = 4096;
    pairs[5].key = "llama.attention.head_count";
    pairs[5].number = 32;
    options.profile = ROPE_PROFILE_GGML;
    require("gguf", rope_config_from_gguf(pairs, 6, &options, &config));
    tell_config(config);
}
#endif

int main(int count, char **arguments)
{
    if (count > 1) {
        recorded = fopen(arguments[1], "r");
        if (recorded == NULL) {
            perror(arguments[1]);
            return 1;
        }
    }
    plans();
    rotations();
    besides();
#ifdef PROGRAM_WITH_CONFIG
    configurations();
    char line[96];
    if (recorded != NULL && fgets(line, sizeof line, recorded) != NULL) {
        printf("0.1 had more: %s", line);
        failures++;
    }
#endif
    if (recorded != NULL)
        fclose(recorded);
    return failures != 0;
}
