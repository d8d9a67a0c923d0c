/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library under measurement, once per instruction set.  Knows the public header only.
 *
 * The library reads ROPE_ISA once, so one process sees one set.  To measure all sets in one
 * interleaved run, the shared library is loaded several times: every copy of the file is an object
 * of its own to the dynamic linker, with its own state, and is told its set before its first call.
 */
#ifndef ROPE_BENCH_LIBRARY_H
#define ROPE_BENCH_LIBRARY_H

#include "rope/rope.h"
#include <string>
#include <vector>

struct library {
    std::string name;   /* scalar, avx2, ..., or auto: what a user gets without ROPE_ISA */
    std::string active; /* the set behind it */
    decltype(&rope_plan_create) plan_create;
    decltype(&rope_plan_destroy) plan_destroy;
    decltype(&rope_rotate) rotate;
    decltype(&rope_rotate_part) rotate_part;
    decltype(&rope_cos_sin) cos_sin;
    decltype(&rope_sinusoid_add) sinusoid_add; /* NULL: not there */
    decltype(&rope_version_string) version_string;
    decltype(&rope_status_string) status_string;
    void *handle;
};

/* The sets that this build and this CPU have, auto last.  Ends the program where there is none. */
std::vector<library> load_libraries(const std::string &path);

#endif
