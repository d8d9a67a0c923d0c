/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to the process around a call: memory that runs out, threads, forks.  Each is tried
 * on every call of the tour.  Linked with --wrap for the allocator; jansson gets the same one.
 */
#include "allocations.h"
#include "support.h"
#include "tour.h"

#ifdef ROPE_TEST_CONFIG
#include <jansson.h>
#endif

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Tours ----------------------------------------------------------------------------------- */

static struct tour_plans *plans;
static struct tour *tour;
static uint64_t *sums; /* of each call, alone in its process */

static int prepare(void **state)
{
    (void)state;
#ifdef ROPE_TEST_CONFIG
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
#endif
    plans = tour_plans_make();
    tour = tour_make(plans);
    sums = tour_sums(tour);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    tour_free(tour);
    tour_plans_free(plans);
    free(sums);
    return 0;
}

/* All calls; the number of the first that goes wrong, or tour_count. */
static size_t first_wrong(struct tour *own)
{
    for (size_t i = 0; i < tour_short(own); i++) {
        tour_prepare(own, i);
        const int right = tour_is_right(own, i, tour_run(tour_call(own, i)));
        if (tour_finish(own, i) != sums[i] || !right)
            return i;
    }
    return tour_count(own);
}

/* ---- Memory that runs out -------------------------------------------------------------------- */

/* One call, whose allocation number `nth` fails; how many there were. */
static size_t run_with_failure(size_t i, size_t nth, uintptr_t *returned)
{
    tour_prepare(tour, i);
    allocations_start(nth);
    *returned = tour_run(tour_call(tour, i));
    (void)allocations_end();
    return allocations.made;
}

/*
 * Each allocation of a call that may allocate fails once: ROPE_ERR_MEMORY, nothing made, nothing lost, no
 * other byte written than the message.  All other calls allocate nothing.
 */
static void test_out_of_memory(void **state)
{
    (void)state;
    size_t failures = 0, creating = 0;
    for (size_t i = 0; i < tour_count(tour); i++) {
        const struct call *call = tour_call(tour, i);
        uintptr_t returned;
        const size_t needed = run_with_failure(i, 0, &returned);
        tour_check(tour, i, returned);
        const int may = call->kind == CALL_CREATES || call->kind == CALL_BORROWS ||
                        strcmp(call->name, "rope_config_parse") == 0;
        if (needed != 0 && !may)
            fail_msg("%s, %s: allocates %zu times", call->name, call->what, needed);
        if (call->kind != CALL_CREATES && call->kind != CALL_BORROWS) {
            (void)tour_finish(tour, i);
            continue;
        }
        assert_true(needed != 0); /* the allocator is ours */
        assert_true((allocations.live != 0) == (call->kind == CALL_CREATES));
        (void)tour_finish(tour, i);
        creating++;
        for (size_t nth = 1; nth <= needed; nth++, failures++) {
            (void)run_with_failure(i, nth, &returned);
            const rope_status status = (rope_status)(uint32_t)returned;
            if (status != ROPE_ERR_MEMORY || allocations.live != 0 || !tour_is_clean(tour))
                fail_msg("%s, %s: allocation %zu of %zu fails: \"%s\", %zu left, %s", call->name,
                         call->what, nth, needed, rope_status_string(status), allocations.live,
                         tour_is_clean(tour) ? "nothing written" : "something made or written");
            (void)tour_finish(tour, i);
        }
    }
    assert_true(creating > 20 && failures > 5 * creating);
}

/* ---- Threads --------------------------------------------------------------------------------- */

enum { THREADS = 8 };

static pthread_barrier_t start;

/* A tour of its own on the plans of all. */
static void *go(void *argument)
{
    struct tour *own = argument;
    pthread_barrier_wait(&start);
    return first_wrong(own) == tour_count(own) ? NULL : own;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    struct tour *own[THREADS];
    pthread_barrier_init(&start, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        own[t] = tour_make(plans);
        assert_int_equal(pthread_create(&threads[t], NULL, go, own[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        void *wrong = own[t];
        assert_int_equal(pthread_join(threads[t], &wrong), 0);
        assert_null(wrong);
        tour_free(own[t]);
    }
    pthread_barrier_destroy(&start);
}

/* ---- Forks ----------------------------------------------------------------------------------- */

/* Ends in the child with 0 if all calls on the given plans go right. */
static void be_child(struct tour *own)
{
    const size_t wrong = first_wrong(own);
    if (wrong != tour_count(own))
        fprintf(stderr, "in the child: %s, %s\n", tour_call(own, wrong)->name,
                tour_call(own, wrong)->what);
    _exit(wrong != tour_count(own));
}

static void wait_for(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* The child uses plans of its parent, and the parent goes on. */
static void test_child_of_plans(void **state)
{
    (void)state;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        be_child(tour);
    wait_for(child);
    assert_int_equal(first_wrong(tour), tour_count(tour));
}

/* The child makes plans, destroys them and those of its parent; the parent goes on with its own. */
static void test_child_with_plans(void **state)
{
    (void)state;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        struct tour_plans *own = tour_plans_make();
        tour_plans_free(plans);
        be_child(tour_make(own));
    }
    wait_for(child);
    assert_int_equal(first_wrong(tour), tour_count(tour));
}

static atomic_int stop;

static void *keep_going(void *argument)
{
    struct tour *own = argument;
    while (!atomic_load(&stop))
        if (first_wrong(own) != tour_count(own))
            return own;
    return NULL;
}

/* A fork in the middle of other threads' calls leaves nothing locked or half done behind. */
static void test_child_of_threads(void **state)
{
    (void)state;
    if (TEST_SANITIZED) {
        print_message("skipped: the allocators of sanitizers can be locked in the child\n");
        skip();
    }
    pthread_t thread;
    struct tour *other = tour_make(plans);
    atomic_store(&stop, 0);
    assert_int_equal(pthread_create(&thread, NULL, keep_going, other), 0);
    for (int round = 0; round < (test_reduced() ? 2 : 20); round++) {
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0)
            be_child(tour);
        wait_for(child);
    }
    atomic_store(&stop, 1);
    void *wrong = other;
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    tour_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_memory),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_child_of_plans),   cmocka_unit_test(test_child_with_plans),
        cmocka_unit_test(test_child_of_threads),
    };
    return cmocka_run_group_tests_name("process", tests, prepare, clean_up);
}
