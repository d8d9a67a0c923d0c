/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of the instruction set, which a process makes once: each case runs in a forked child
 * that is the first to ask.  So nothing in the parent may call what makes the choice: no plan is
 * created there and no active set asked for.
 */
#define _DEFAULT_SOURCE

#include "support.h"

#include "cpu.h"
#include "dispatch.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8

/* What the library answers in one process. */
struct report {
    rope_isa active;
    rope_status created; /* status of rope_plan_create */
    rope_isa plan_isa;   /* of rope_plan_info, if a plan was made */
    rope_status rotated; /* status of a job without a plan, by rows */
    int threads_agree;   /* all threads that asked first saw the same */
    char message[128];
};

/* ---- The child ---- */

static pthread_barrier_t start;
static struct {
    rope_isa active;
    rope_status created;
    rope_status rotated;
} answers[THREADS];

/* A job without a plan, by a row: it too asks for the set. */
static rope_status rotate_by_rows(void)
{
    float row[2] = {1.0f, 0.0f}, data[2] = {1.0f, 2.0f};
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = ROPE_F32;
    rows.cos = row;
    rows.count = 1;
    rope_tensor tensor = ROPE_TENSOR_INIT;
    tensor.dtype = ROPE_F32;
    tensor.src = tensor.dst = data;
    tensor.heads = 1;
    tensor.head_dim = 2;
    rope_job job = ROPE_JOB_INIT;
    job.tokens = 1;
    job.q = &tensor;
    job.rows = &rows;
    job.rotary_dim = 2;
    return rope_rotate(NULL, &job);
}

static void *ask(void *argument)
{
    const size_t i = *(const size_t *)argument;
    rope_spec spec = ROPE_SPEC_INIT;
    rope_plan *plan = NULL;
    spec.head_dim = 2;
    pthread_barrier_wait(&start);
    if (i % 3 == 1)
        answers[i].active = rope_active_isa();
    if (i % 3 == 2)
        answers[i].rotated = rotate_by_rows();
    answers[i].created = rope_plan_create(&spec, &plan);
    answers[i].active = rope_active_isa();
    answers[i].rotated = rotate_by_rows();
    rope_plan_destroy(plan);
    return NULL;
}

/* Writes a report to a pipe; 0 on success. */
static int child(int pipe_end)
{
    struct report report = {.threads_agree = 1};
    pthread_t threads[THREADS];
    size_t numbers[THREADS];
    pthread_barrier_init(&start, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, ask, &numbers[i]) != 0)
            return 1;
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);

    rope_spec spec = ROPE_SPEC_INIT;
    rope_plan *plan = (rope_plan *)(void *)&report; /* must become NULL on error */
    spec.head_dim = 2;
    spec.message = report.message;
    spec.message_size = sizeof report.message;
    report.active = rope_active_isa();
    report.created = rope_plan_create(&spec, &plan);
    if (report.created == ROPE_OK) {
        rope_info info = ROPE_INFO_INIT;
        if (rope_plan_info(plan, &info) != ROPE_OK)
            return 1;
        report.plan_isa = info.isa;
        rope_plan_destroy(plan);
    } else if (plan) {
        return 1;
    }

    report.rotated = rotate_by_rows();
    for (size_t i = 0; i < THREADS; i++)
        report.threads_agree &= answers[i].active == report.active &&
                                answers[i].created == report.created &&
                                answers[i].rotated == report.rotated;
    return write(pipe_end, &report, sizeof report) == sizeof report ? 0 : 1;
}

/* ---- The parent ---- */

/* What a child reports with ROPE_ISA set to value, or not set where it is NULL. */
static struct report report_with(const char *value)
{
    struct report report;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (value)
            setenv("ROPE_ISA", value, 1);
        else
            unsetenv("ROPE_ISA");
        close(ends[0]);
        _exit(child(ends[1]));
    }
    close(ends[1]);
    size_t got = 0;
    for (;;) {
        const ssize_t n = read(ends[0], (char *)&report + got, sizeof report - got);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0 || got != sizeof report)
        fail_msg("the child with ROPE_ISA=%s ended with status %#x after %zu bytes",
                 value ? value : "(unset)", (unsigned)status, got);
    assert_true(report.threads_agree);
    return report;
}

static void expect_chosen(const char *value, rope_isa isa)
{
    const struct report report = report_with(value);
    assert_int_equal(report.active, isa);
    assert_int_equal(report.created, ROPE_OK);
    assert_int_equal(report.plan_isa, isa);
    assert_int_equal(report.rotated, ROPE_OK);
    assert_string_equal(report.message, "");
}

static void expect_refused(const char *value)
{
    const struct report report = report_with(value);
    assert_int_equal(report.active, ROPE_ISA_NONE);
    assert_int_equal(report.created, ROPE_ERR_ISA);
    assert_int_equal(report.rotated, ROPE_ERR_ISA);
    assert_non_null(strstr(report.message, "ROPE_ISA"));
    if (strlen(value) < 32)
        assert_non_null(strstr(report.message, value));
}

/* The best set is the one that asks most of the CPU. */
static rope_isa best(void)
{
    const rope_isa order[] = {ROPE_ISA_AVX512, ROPE_ISA_AVX2, ROPE_ISA_NEON};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (rope_isa_available(order[i]))
            return order[i];
    return ROPE_ISA_SCALAR;
}

static void test_unset(void **state)
{
    (void)state;
    expect_chosen(NULL, best());
    expect_chosen("", best());
}

static void test_each_name(void **state)
{
    (void)state;
    for (int i = 0; i < TEST_ISAS; i++) {
        const rope_isa isa = test_isas[i];
        if (rope_isa_available(isa)) {
            expect_chosen(rope_isa_name(isa), isa);
        } else {
            expect_refused(rope_isa_name(isa));
            print_message("refused, as it must be: the set %s cannot run here\n",
                          rope_isa_name(isa));
        }
    }
}

static void test_unknown_names(void **state)
{
    (void)state;
    static const char *const names[] = {"none",    "AVX2",       "avx",         "avx2 ",
                                        " avx2",   "scalar_fma", "avx2,avx512", "scala",
                                        "scalars", "0",          "best"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_refused(names[i]);
    char name[5000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    expect_refused(name);
}

/* What rope_isa_available says must agree with facts of CPU and build, and with the kernels. */
static void test_availability(void **state)
{
    (void)state;
    const uint32_t features = rope_cpu_features();
    assert_int_equal(rope_isa_available(ROPE_ISA_SCALAR), 1);
#ifdef ROPE_HAVE_AVX2
    assert_int_equal(rope_isa_available(ROPE_ISA_AVX2), (features & ROPE_CPU_AVX2) != 0);
#else
    assert_int_equal(rope_isa_available(ROPE_ISA_AVX2), 0);
#endif
#ifdef ROPE_HAVE_AVX512
    assert_int_equal(rope_isa_available(ROPE_ISA_AVX512), (features & ROPE_CPU_AVX512) != 0);
#else
    assert_int_equal(rope_isa_available(ROPE_ISA_AVX512), 0);
#endif
#ifdef ROPE_HAVE_NEON
    assert_int_equal(rope_isa_available(ROPE_ISA_NEON), (features & ROPE_CPU_NEON) != 0);
#else
    assert_int_equal(rope_isa_available(ROPE_ISA_NEON), 0);
#endif
    for (rope_isa isa = -3; isa < 10; isa++)
        assert_int_equal(rope_isa_available(isa), rope_kernels_for(isa) != NULL);
    /* Larger sets need what the smaller ones need. */
    if (features & ROPE_CPU_AVX512)
        assert_true(features & ROPE_CPU_AVX2);
    if (features & ROPE_CPU_AVX2)
        assert_true(features & ROPE_CPU_FMA);
}

#if defined(__x86_64__) || defined(__i386__)
/* Compiler and kernel tell the same about the CPU by another way. */
static void test_cpu(void **state)
{
    (void)state;
    const uint32_t features = rope_cpu_features();
    __builtin_cpu_init();
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const int avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl");
    assert_int_equal((features & ROPE_CPU_FMA) != 0, __builtin_cpu_supports("fma") != 0);
    assert_int_equal((features & ROPE_CPU_AVX2) != 0, avx2); /* F16C came before AVX2 */
    assert_int_equal((features & ROPE_CPU_AVX512) != 0, avx512);
    assert_int_equal(features & ROPE_CPU_NEON, 0);
}
#elif defined(__aarch64__)
static void test_cpu(void **state)
{
    (void)state;
    assert_int_equal(rope_cpu_features() & ROPE_CPU_NEON, ROPE_CPU_NEON);
    assert_int_equal(rope_cpu_features() & (ROPE_CPU_AVX2 | ROPE_CPU_AVX512), 0);
}
#else
static void test_cpu(void **state)
{
    (void)state;
    assert_int_equal(rope_cpu_features() & (ROPE_CPU_AVX2 | ROPE_CPU_AVX512 | ROPE_CPU_NEON), 0);
}
#endif

static void test_names(void **state)
{
    (void)state;
    static const struct {
        rope_isa isa;
        const char *name;
    } names[] = {{ROPE_ISA_NONE, "none"},
                 {ROPE_ISA_SCALAR, "scalar"},
                 {ROPE_ISA_AVX2, "avx2"},
                 {ROPE_ISA_AVX512, "avx512"},
                 {ROPE_ISA_NEON, "neon"},
                 {5, "none"},
                 {-1, "none"},
                 {INT32_MAX, "none"},
                 {INT32_MIN, "none"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_string_equal(rope_isa_name(names[i].isa), names[i].name);
        if (strcmp(names[i].name, "none") == 0)
            assert_int_equal(rope_isa_available(names[i].isa), 0);
    }
}

static void test_status_strings(void **state)
{
    (void)state;
    for (rope_status status = -12; status <= 0; status++) {
        const char *text = rope_status_string(status);
        assert_non_null(text);
        assert_true(strlen(text) > 1);
        assert_string_not_equal(text, "unknown status");
        for (rope_status other = -12; other < status; other++)
            assert_string_not_equal(text, rope_status_string(other));
    }
    const rope_status unknown[] = {1, 2, -13, -14, 100, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_string_equal(rope_status_string(unknown[i]), "unknown status");
}

static void test_version(void **state)
{
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", ROPE_VERSION_MAJOR, ROPE_VERSION_MINOR,
             ROPE_VERSION_PATCH);
    assert_string_equal(rope_version_string(), text);
    assert_int_equal(rope_version(),
                     ROPE_VERSION_MAJOR * 10000 + ROPE_VERSION_MINOR * 100 + ROPE_VERSION_PATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unset),
        cmocka_unit_test(test_each_name),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_availability),
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_status_strings),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests_name("dispatch", tests, NULL, NULL);
}
