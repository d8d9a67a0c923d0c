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
    row         /* one row at a random position */
};

struct description {
    job what;
    rope_dtype dtype;
    rope_pairing pairing;
    size_t rotary_dim, q_heads, k_heads, tokens;
};

/* Without the set and without what Google Benchmark appends. */
std::string name_of(const description &description, const std::string &set);

/* Every case, in the order of registration. */
std::vector<description> all_cases();

/* Something to time: a job with everything it points to, and the limit for the same bytes. */
class work
{
  public:
    work(const library &library, const description &description);
    ~work();
    void run();       /* the library */
    void run_limit(); /* the better of the limit's ways, as prepare_limit found */
    void prepare_limit();
    double bytes() const; /* read and written */
    size_t tokens() const;
    int threads() const;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

#endif
