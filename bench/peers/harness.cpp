/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C side of peers.py: times calls of function pointers, and offers ours, the plain loops and the
 * limit as such functions of one signature.  Knows no peer that comes in a wheel.
 */
#include "limit.h"
#include "plain.h"
#include "rope/rope.h"
#include "tables.h"
#include "timing.h"
#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace
{

constexpr uint32_t head_dim = 128;

/* Q and K of one job, dense [tokens, heads, 128] each, as peers.py lays them out. */
struct peer_job {
    void *q, *k;
    size_t tokens, q_heads, k_heads;
    const float *rows; /* ready rows, [tokens, 128] */
    int64_t start;     /* first position */
    const rope_plan *plan;
    int32_t dtype;
};

bool run_rope(const peer_job &job, const rope_positions *positions, const rope_rows *rows)
{
    rope_tensor q = ROPE_TENSOR_INIT, k = ROPE_TENSOR_INIT;
    q.dtype = k.dtype = job.dtype;
    q.heads = job.q_heads, q.src = q.dst = job.q;
    k.heads = job.k_heads, k.src = k.dst = job.k;
    rope_job rotation = ROPE_JOB_INIT;
    rotation.tokens = job.tokens;
    rotation.q = &q, rotation.k = &k;
    rotation.positions = positions;
    rotation.rows = rows;
    return rope_rotate(job.plan, &rotation) == ROPE_OK;
}

void run_plain(const peer_job &job, const plain_loop *list, rope_pairing pairing)
{
    plain_function *const function = plain_find(list, job.dtype, pairing, head_dim, head_dim, 0, 0);
    const plain_job q = {job.q, job.q, job.tokens, job.q_heads, job.rows};
    const plain_job k = {job.k, job.k, job.tokens, job.k_heads, job.rows};
    function(&q);
    function(&k);
}

const plain_loop *const plain_lists[] = {plain_o2, plain_native};

} // namespace

/* ns of one of `calls` calls function(a, b), in time of this thread: everything here has one thread, and
 * what other processes take meanwhile does not count. */
EXPORT double peer_time(void (*function)(const void *, const void *), const void *a, const void *b,
                        size_t calls)
{
    const double start = thread_nanoseconds();
    for (size_t call = 0; call < calls; call++)
        function(a, b);
    return (thread_nanoseconds() - start) / static_cast<double>(calls);
}

EXPORT rope_plan *peer_plan(double theta, int interleaved)
{
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = head_dim;
    spec.theta = theta;
    spec.pairing = interleaved ? ROPE_INTERLEAVED : ROPE_HALF;
    rope_plan *plan;
    return rope_plan_create(&spec, &plan) == ROPE_OK ? plan : nullptr;
}

/* Rows for positions start, start + 1, ... */
EXPORT int peer_rows(const rope_plan *plan, int64_t start, size_t tokens, float *out)
{
    rope_positions positions = ROPE_POSITIONS_INIT;
    positions.start = start;
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = ROPE_F32;
    rows.cos = out;
    rows.count = tokens;
    return rope_cos_sin(plan, &positions, tokens, &rows);
}

EXPORT void peer_rope(const peer_job *job, const void *)
{
    rope_positions positions = ROPE_POSITIONS_INIT;
    positions.start = job->start;
    run_rope(*job, &positions, nullptr);
}

EXPORT void peer_rope_rows(const peer_job *job, const void *)
{
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = ROPE_F32;
    rows.cos = const_cast<float *>(job->rows);
    rows.count = job->tokens;
    run_rope(*job, nullptr, &rows);
}

/* Whether there are plain loops for the type.  Which flags: 0 is -O2, 1 is -O3 -march=native. */
EXPORT int peer_has_plain(int32_t dtype, int flags)
{
    return plain_find(plain_lists[flags], dtype, ROPE_HALF, head_dim, head_dim, 0, 0) != nullptr;
}

EXPORT void peer_plain_half(const peer_job *job, const int *flags)
{
    run_plain(*job, plain_lists[*flags], ROPE_HALF);
}

EXPORT void peer_plain_interleaved(const peer_job *job, const int *flags)
{
    run_plain(*job, plain_lists[*flags], ROPE_INTERLEAVED);
}

/* The limit for the rotation in place. */
EXPORT void peer_limit(const peer_job *job, const void *)
{
    static const limits &limit = limits_of(rope_isa_name(rope_active_isa()));
    const size_t token = head_dim * (job->dtype == ROPE_F32 ? 4 : 2);
    const region q = {static_cast<char *>(job->q), 1, job->tokens * job->q_heads * token, 0};
    const region k = {static_cast<char *>(job->k), 1, job->tokens * job->k_heads * token, 0};
    limit.modify(q);
    limit.modify(k);
}

/* ---- Tables ------------------------------------------------------------------------------------- */

EXPORT void peer_table_rope(const table_job *job, const rope_plan *plan)
{
    peer_rows(plan, 0, job->rows, job->out);
}

EXPORT void peer_table_limit(const table_job *job, const void *)
{
    static const limits &limit = limits_of(rope_isa_name(rope_active_isa()));
    limit.fill_past(reinterpret_cast<char *>(job->out), job->rows * job->pairs * 8);
}

EXPORT void peer_table_sleef_f32(const table_job *job, const void *)
{
    table_sleef_f32(job);
}

EXPORT void peer_table_libm_f32(const table_job *job, const void *)
{
    table_libm_f32(job);
}

EXPORT void peer_table_libm_f64(const table_job *job, const void *)
{
    table_libm_f64(job);
}

EXPORT const char *peer_facts(int which)
{
    return which == 0   ? rope_version_string()
           : which == 1 ? rope_isa_name(rope_active_isa())
                        : table_sleef_name;
}
