/* SPDX-License-Identifier: Apache-2.0 */
/* Implements plans.h. */
#include "plans.h"

#include <math.h>

static const double still[6] = {0.0, 1.0, 0.5, 0.0, 0.0, 0.25};
static const int32_t thirds[3] = {2, 1, 1}, vision[3] = {4, 2, 2};
static const int32_t own_axes[8] = {7, 6, 5, 4, 3, 2, 1, 0};

static rope_spec spec_of(unsigned index)
{
    rope_spec spec = spec_default(8, 0.0);
    switch (index) {
    case 1:
        spec.pairing = ROPE_INTERLEAVED;
        break;
    case 2:
        spec.head_dim = 16, spec.rotary_dim = 8, spec.rotary_offset = 4;
        break;
    case 3:
        spec.head_dim = 12, spec.pairing_chunk = 4;
        break;
    case 4:
        spec.axis_layout = ROPE_AXES_SECTIONS, spec.sections = thirds, spec.section_count = 3;
        break;
    case 5:
        spec.head_dim = 16, spec.axis_layout = ROPE_AXES_INTERLEAVED;
        spec.sections = vision, spec.section_count = 3;
        break;
    case 6:
        spec.scheme = ROPE_SCHEME_CUSTOM, spec.head_dim = 12;
        spec.inv_freq = still, spec.inv_freq_count = 6;
        break;
    case 7:
        spec.attention_factor = 1.25;
        break;
    case 8:
        spec.xpos_base = 512.0;
        break;
    case 9:
        spec.angle = ROPE_ANGLE_F32;
        break;
    case 10: /* wider than one call of a kernel */
        spec.angle = ROPE_ANGLE_F32, spec.head_dim = 516;
        break;
    case 11:
        spec.head_dim = 2;
        break;
    case 12:
        spec.head_dim = 66;
        break;
    case 13:
        spec.head_dim = 16, spec.axes = 8, spec.pair_axis = own_axes;
        break;
    case 14:
        spec.head_dim = 20, spec.rotary_dim = 18, spec.pairing = ROPE_INTERLEAVED;
        break;
    case 15:
        spec.scheme = ROPE_SCHEME_SINUSOID, spec.shift = 0.5, spec.pairing = ROPE_INTERLEAVED;
        break;
    default:
        break;
    }
    return spec;
}

const struct fuzz_plan *fuzz_plan(unsigned index)
{
    static struct fuzz_plan plans[PLANS];
    struct fuzz_plan *const known = &plans[index % PLANS];
    if (known->plan != NULL)
        return known;
    known->spec = spec_of(index % PLANS);
    REQUIRE(rope_plan_create(&known->spec, &known->plan) == ROPE_OK);
    if (known->spec.rotary_dim == 0)
        known->spec.rotary_dim = known->spec.head_dim;
    if (known->spec.attention_factor == 0.0)
        known->spec.attention_factor = 1.0;
    known->pairs = known->spec.rotary_dim / 2;
    known->axes = known->spec.axes != 0 ? known->spec.axes : known->spec.section_count;
    known->axes += known->axes == 0;
    known->chunk_pairs =
        known->spec.pairing_chunk != 0 ? known->spec.pairing_chunk / 2 : known->pairs;
    return known;
}

const struct rope_kernels *fuzz_kernels(size_t index)
{
    enum { SETS_MAX = 16 };
    static const struct rope_kernels *sets[SETS_MAX + 1]; /* asking the CPU takes its time */
    rope_isa isa;
    if (sets[0] == NULL) {
        size_t n = 1;
        sets[0] = rope_kernels_active(&isa);
        const struct rope_kernel_set *set;
        for (size_t k = 0; n < SETS_MAX && (set = rope_kernel_set_at(k)) != NULL; k++)
            /* without fma the last bit of some f64 rows is another */
            if (rope_kernel_set_runs(set) && set->kernels != sets[0] &&
                (set->isa != ROPE_ISA_SCALAR || set->kernels == rope_kernels_for(set->isa)))
                sets[n++] = set->kernels;
    }
    return index < SETS_MAX ? sets[index] : NULL;
}

double fuzz_position(const rope_positions *positions, size_t batch, size_t token)
{
    const int64_t step = positions->data == NULL && positions->step == 0 ? 1 : positions->step;
    long double sum = (long double)positions->start + (long double)token * (long double)step;
    if (positions->data == NULL)
        return (double)sum;
    const ptrdiff_t at =
        (ptrdiff_t)batch * positions->stride_batch + (ptrdiff_t)token * positions->stride_token;
    switch (positions->dtype) {
    case ROPE_I32:
        return (double)(sum + (long double)((const int32_t *)positions->data)[at]);
    case ROPE_I64:
        return (double)(sum + (long double)((const int64_t *)positions->data)[at]);
    case ROPE_F32:
        return (double)((const float *)positions->data)[at] + (double)sum;
    default:
        return ((const double *)positions->data)[at] + (double)sum;
    }
}

void fuzz_fill_positions(struct array *array, rope_dtype dtype, struct input *input, unsigned below)
{
    static const double ends[] = {
        -1.0,    -2.0,    0x1p31 - 1.0, 1.0 - 0x1p31,     0x1p31,      -0x1p31,
        -0x1p62, -0x1p63, 0x1p20,       0x1p20 - 1.0,     131071.0,    -131072.0,
        0.5,     -0.25,   1e-300,       0x1p31 - 0x1p-20, (double)NAN, (double)INFINITY};
    enum { ENDS = sizeof ends / sizeof *ends, WHOLE = 12 };
    struct rng rng = {take_word(input)};
    const size_t element = fuzz_element(dtype), n = array->size / element;
    const int is_whole = dtype == ROPE_I32 || dtype == ROPE_I64;
    for (size_t i = 0; i < n; i++) {
        const unsigned byte = i < 16 ? take_byte(input) : (unsigned)rng_below(&rng, 0xe0);
        const double value =
            byte < 0xe0 ? (double)(byte % below) : ends[(byte - 0xe0) % (is_whole ? WHOLE : ENDS)];
        const int64_t whole = value >= 0x1p63 || value != value ? 0 : (int64_t)value;
        const int32_t narrow = (int32_t)(uint32_t)(uint64_t)whole;
        const float single = (float)value;
        const void *const from = dtype == ROPE_I64   ? (const void *)&whole
                                 : dtype == ROPE_I32 ? (const void *)&narrow
                                 : dtype == ROPE_F32 ? (const void *)&single
                                                     : (const void *)&value;
        memcpy(array->low + i * element, from, element);
    }
    array_keep(array);
    array_restore(array); /* for the canaries */
}
