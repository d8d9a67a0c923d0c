/* SPDX-License-Identifier: Apache-2.0 */
/* The list of what is measured, and one measurement.  Names are an interface: dashboards keep their
 * history by them, so tests/test_bench.sh compares them with bench/names.txt. */
#ifndef ROPE_BENCH_CASE_H
#define ROPE_BENCH_CASE_H

#include "library.h"
#include "limit.h"
#include <memory>
#include <string>
#include <vector>

enum class job {
    apply,      /* rows made on the way from positions 0, 1, ... */
    apply_rows, /* by ready f32 rows */
    decode,     /* every token at a random position below 131,072 */
    shift,      /* cached keys, by one position difference */
    mla,        /* query: the last 64 of 192 elements; key: one head of 64 */
    mrope,      /* positions of three axes, sections 16, 24, 24 */
    part,       /* two parts on two threads */
    copy,       /* out of place */
    partial,    /* a quarter of head_dim 128 */
    sinusoid,   /* absolute embeddings added to [tokens, 1024] */
    call,       /* one head of two elements: what a call costs */
    table,      /* rows into memory */
    row,        /* one row at a random position */
    rows        /* many rows at random positions; goals.cpp has it */
};

struct description {
    job what;
    rope_dtype dtype;
    rope_pairing pairing;
    size_t rotary_dim, q_heads, k_heads, tokens;
    /* Of goals.cpp; not part of the name. */
    int64_t start = 0;  /* first position, where positions are consecutive */
    bool ready = false; /* by ready rows, as apply_rows is */
};

/* Where a rotation finds its memory: [tokens, heads, head] each, rows [tokens, rotary_dim] or NULL.
 */
struct memory_view {
    void *q, *q_out, *k, *k_out;
    size_t q_head, k_head;
    const void *rows;
};

/* Without the set and without what Google Benchmark appends. */
std::string name_of(const description &description, const std::string &set);

/* Every case, in the order of registration. */
std::vector<description> all_cases();

/* Ends the program where values have lost their magnitude, for example to NaN: times would lie. */
void check_memory();

/* Something to time: a job with everything it points to, and the limit for the same bytes. */
class work
{
  public:
    work(const library &library, const description &description);
    ~work();
    /* Gives 16-bit data their first values again: rounded over and over they wander, and rotations
     * by small angles with others between them make them grow. */
    void restore();
    void run();       /* the library */
    void run_limit(); /* the better of the limit's ways, as prepare_limit found */
    void prepare_limit();
    void choose_limit(bool past); /* of what writes: past the caches or through them */
    double bytes() const;         /* read and written */
    size_t tokens() const;
    int threads() const;
    memory_view view() const; /* of a rotation */
    void run_part(size_t part, size_t parts);
    void run_limit_part(size_t part, size_t parts); /* of a rotation in place */

  private:
    struct state;
    std::unique_ptr<state> state_;
};

#endif
