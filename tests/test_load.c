/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_load LIBRARY [CONFIG_LIBRARY]: loads, uses and unloads the shared libraries 1,000 times.  A
 * plug-in of a host comes and goes like that; it must leave no memory and no mapping behind.
 */
#include "rope/rope.h"
#include "rope/rope_config.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *paths[2];

typedef rope_status create_function(const rope_spec *spec, rope_plan **out_plan);
typedef void destroy_function(rope_plan *plan);
typedef rope_status rotate_function(const rope_plan *plan, const rope_job *job);
typedef rope_status parse_function(const char *text, size_t size,
                                   const rope_config_options *options, rope_config **config);
typedef void forget_function(rope_config *config);

/* A function of a loaded library; through a union, since C has no cast for it. */
static void (*find(void *library, const char *name))(void)
{
    union {
        void *data;
        void (*function)(void);
    } symbol = {dlsym(library, name)};
    if (symbol.data == NULL)
        fail_msg("%s", dlerror());
    return symbol.function;
}

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fail_msg("%s", dlerror());
    return library;
}

static void unload(const char *path, void *library)
{
    assert_int_equal(dlclose(library), 0);
    assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD)); /* it is gone */
}

static void use_rope(void *library)
{
    float data[2] = {1.0f, 0.0f};
    rope_spec spec = ROPE_SPEC_INIT;
    rope_plan *plan = NULL;
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_tensor q = ROPE_TENSOR_INIT;
    rope_job job = ROPE_JOB_INIT;
    spec.head_dim = 2;
    spec.angle = ROPE_ANGLE_F32; /* no tables to fill */
    positions.start = 1;
    q.dtype = ROPE_F32;
    q.src = q.dst = data;
    q.heads = 1;
    job.tokens = 1;
    job.q = &q;
    job.positions = &positions;
    assert_int_equal(((create_function *)find(library, "rope_plan_create"))(&spec, &plan), ROPE_OK);
    assert_int_equal(((rotate_function *)find(library, "rope_rotate"))(plan, &job), ROPE_OK);
    ((destroy_function *)find(library, "rope_plan_destroy"))(plan);
    assert_true(data[0] == 0x1.14a280p-1f); /* cos 1 */
}

static void use_config(void *library)
{
    static const char text[] = "{\"head_dim\": 64}";
    rope_config *config = NULL;
    assert_int_equal(((parse_function *)find(library, "rope_config_parse"))(text, sizeof text - 1,
                                                                            NULL, &config),
                     ROPE_OK);
    ((forget_function *)find(library, "rope_config_destroy"))(config);
}

/* Lines of /proc/self/maps but for heap and stacks, which other things grow too. */
static size_t mappings(void)
{
    char line[512];
    size_t lines = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (maps == NULL)
        return 0;
    while (fgets(line, sizeof line, maps) != NULL)
        lines += strchr(line, '\n') != NULL && strstr(line, "[heap]") == NULL;
    fclose(maps);
    return lines;
}

static size_t heap_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void test_load(void **state)
{
    (void)state;
    if (TEST_SANITIZED) {
        print_message("skipped: sanitizers keep memory and mappings of their own\n");
        skip();
    }
    enum { ROUNDS = 1000, WARM = 20 };
    const int rounds = getenv("ROPE_TEST_REDUCED") != NULL ? 100 : ROUNDS;
    size_t mapped = 0, used = 0;
    for (int round = 0; round < rounds; round++) {
        if (round == WARM) { /* what the C library keeps for itself is there by now */
            mapped = mappings();
            used = heap_in_use();
        }
        void *library = load(paths[0]);
        use_rope(library);
        unload(paths[0], library);
        if (paths[1] == NULL)
            continue;
        library = load(paths[1]); /* which loads the first one */
        use_config(library);
        unload(paths[1], library);
        assert_null(dlopen(paths[0], RTLD_NOW | RTLD_NOLOAD));
    }
    const size_t mapped_now = mappings(), used_now = heap_in_use();
    /* the C library's own lists may grow a little; a block lost in each round would be more than this */
    const size_t allowed = 8 * (size_t)(rounds - WARM);
    if (mapped_now > mapped || used_now > used + allowed)
        fail_msg("after %d more rounds: %zu mappings were %zu, %zu bytes of heap were %zu",
                 rounds - WARM, mapped_now, mapped, used_now, used);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load)};
    if (argc < 2 || argc > 3)
        return 1;
    paths[0] = argv[1];
    paths[1] = argv[2]; /* NULL behind the last */
    return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
