/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host may have set before it calls, and must find again: its floating-point settings, its
 * registers, small stacks.  Each is tried on every call of the tour; that the tour has every
 * symbol of the libraries is tested too.
 */
#include "golden.h"
#include "support.h"
#include "tour.h"

#include <setjmp.h>
#include <stdarg.h>

#include <assert.h>
#include <cmocka.h>
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sanitizers, coverage and -O0 make larger frames; neither -O0 nor -O1 of gcc empties vector registers. */
#if defined(__OPTIMIZE__) && !defined(ROPE_TEST_INSTRUMENTED)
enum { IS_AS_BUILT = !TEST_SANITIZED };
#else
enum { IS_AS_BUILT = 0 };
#endif

static struct tour_plans *plans;
static struct tour *tour;
static uint64_t *sums; /* of each call in a plain environment */

static int prepare(void **state)
{
    (void)state;
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

/* ---- The list itself ------------------------------------------------------------------------- */

EMBED(map_of_rope, ROPE_TEST_SOURCES "/librope.map");
EMBED(map_of_config, ROPE_TEST_SOURCES "/librope-config.map");

/* Symbols are the lines of a map that are indented and end in ";". */
static void check_symbols(const char *map)
{
    size_t symbols = 0;
    for (const char *at = map; (at = strstr(at, "\n    rope_")) != NULL;) {
        at += 5;
        const size_t length = strcspn(at, ";\n");
        int found = 0;
        for (size_t i = 0; i < tour_count(tour) && !found; i++)
            found = strlen(tour_call(tour, i)->name) == length &&
                    memcmp(tour_call(tour, i)->name, at, length) == 0;
        if (!found)
            fail_msg("tests/tour.c has no call of %.*s", (int)length, at);
        symbols++;
    }
    assert_true(symbols >= 12);
}

static void test_every_symbol(void **state)
{
    (void)state;
    check_symbols(map_of_rope);
#ifdef ROPE_TEST_CONFIG
    check_symbols(map_of_config);
#endif
}

/* ---- Floating-point settings ----------------------------------------------------------------- */

/*
 * The control bits: rounding, flush-to-zero, masks.  Of x86 also the x87 unit's.  The flags that
 * arithmetic raises are not among them.
 */
static uint64_t control(void)
{
#if defined(__x86_64__)
    uint32_t sse = 0;
    uint16_t x87 = 0;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(sse), "=m"(x87));
    return (uint64_t)x87 << 32 | (sse & ~UINT32_C(0x3f));
#elif defined(__aarch64__)
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
#else
    return (uint64_t)fegetround();
#endif
}

enum { FLUSH_RESULTS = 1, FLUSH_OPERANDS = 2, FLUSHES = 4 };

/* On top of the default settings. */
static void set_flush(int flush)
{
#if defined(__x86_64__)
    uint32_t word;
    __asm__ volatile("stmxcsr %0" : "=m"(word));
    word |= (flush & FLUSH_RESULTS ? 0x8000u : 0) | (flush & FLUSH_OPERANDS ? 0x40u : 0);
    __asm__ volatile("ldmxcsr %0" : : "m"(word));
#elif defined(__aarch64__)
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    word |= flush ? UINT64_C(1) << 24 : 0;
    __asm__ volatile("msr fpcr, %0" : : "r"(word));
#else
    (void)flush;
#endif
}

static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
enum { ROUNDINGS = sizeof roundings / sizeof roundings[0] };

/* Results of a call in another rounding mode, beside those in the usual one. */
static void check_near(const struct call *call, int side, const double *usual)
{
    const enum dtype type = (enum dtype)(call->dtype - ROPE_F32);
    double largest = 0.0;
    for (size_t i = 0; i < call->counts[side]; i++)
        largest = fmax(largest, fabs(usual[i]));
    const double bound = (type == DT_F64 ? 64.0 : 4.0) * dtype_ulp(type, largest);
    for (size_t i = 0; i < call->counts[side]; i++) {
        const double got = dtype_load(type, call->results[side], i);
        if (!(fabs(got - usual[i]) <= bound))
            fail_msg("%s, %s: element %zu is %a, in round-to-nearest %a", call->name, call->what, i,
                     got, usual[i]);
    }
}

static void check_settings(size_t i, int rounding, int flush, double *const *usual)
{
    const struct call *call = tour_call(tour, i);
    tour_prepare(tour, i);
    fesetround(rounding);
    set_flush(flush);
    const uint64_t before = control();
    const uintptr_t returned = tour_run(call);
    const uint64_t after = control();
    fesetenv(FE_DFL_ENV);
    if (before != after)
        fail_msg("%s, %s: the control word was %#" PRIx64 " and is %#" PRIx64, call->name,
                 call->what, before, after);
    tour_check(tour, i, returned);
    if (rounding != FE_TONEAREST && call->kind != CALL_CREATES)
        for (int side = 0; side < 2; side++)
            if (call->counts[side] != 0)
                check_near(call, side, usual[side]);
    const uint64_t sum = tour_finish(tour, i);
    /* plans are the same whatever is set; the rest where no subnormal number is in it */
    if ((rounding == FE_TONEAREST || call->kind == CALL_CREATES) && sum != sums[i])
        fail_msg("%s, %s: differs with rounding %#x, flush %d", call->name, call->what,
                 (unsigned)rounding, flush);
}

static void test_settings(void **state)
{
    (void)state;
    fesetenv(FE_DFL_ENV);
    for (size_t i = 0; i < tour_short(tour); i++) {
        const struct call *call = tour_call(tour, i);
        double *usual[2] = {NULL, NULL};
        tour_prepare(tour, i);
        tour_check(tour, i, tour_run(call));
        for (int side = 0; side < 2; side++) {
            usual[side] = malloc((call->counts[side] + 1) * sizeof(double));
            assert_non_null(usual[side]);
            for (size_t e = 0; e < call->counts[side]; e++)
                usual[side][e] =
                    dtype_load((enum dtype)(call->dtype - ROPE_F32), call->results[side], e);
        }
        (void)tour_finish(tour, i);
        for (int r = 0; r < ROUNDINGS; r++)
            for (int flush = 0; flush < FLUSHES; flush += test_reduced() ? FLUSHES - 1 : 1)
                check_settings(i, roundings[r], flush, usual);
        free(usual[0]);
        free(usual[1]);
    }
}

/* Finite values in range raise no flag that a host might let trap. */
static void test_flags(void **state)
{
    (void)state;
    for (size_t i = 0; i < tour_count(tour); i++) {
        tour_prepare(tour, i);
        feclearexcept(FE_ALL_EXCEPT);
        const uintptr_t returned = tour_run(tour_call(tour, i));
        const int raised = fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
        tour_check(tour, i, returned);
        (void)tour_finish(tour, i);
        if (raised != 0)
            fail_msg("%s, %s: raised the exceptions %#x", tour_call(tour, i)->name,
                     tour_call(tour, i)->what, (unsigned)raised);
    }
}

/* ---- Registers and stack --------------------------------------------------------------------- */

#if (defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)
#define HAVE_HOST_CALL

#if defined(__x86_64__)
enum { KEPT = 6 }; /* rbx, rbp, r12 to r15 */
#else
enum { KEPT = 19 }; /* x19 to x29, d8 to d15 */
#endif

/* A call in full: what the assembly below reads and writes. */
struct host_call {
    void (*function)(void);
    uintptr_t arguments[CALL_ARGUMENTS];
    void *stack_top;               /* or NULL for the stack of the thread */
    uint64_t vector;               /* bytes of a vector register that are looked at: 0, 32 or 64 */
    uint64_t kept[20];             /* what the registers hold that a call must keep */
    uint64_t flags;                /* x86: rflags */
    unsigned char vectors[16][64]; /* x86: of vector registers 0 to 15 behind the call */
};
static_assert(offsetof(struct host_call, arguments) == 8 &&
                  offsetof(struct host_call, stack_top) == 56 &&
                  offsetof(struct host_call, vector) == 64 &&
                  offsetof(struct host_call, kept) == 72 &&
                  offsetof(struct host_call, flags) == 232 &&
                  offsetof(struct host_call, vectors) == 240,
              "as the assembly has it");

/* Calls the function with these registers and reports how it leaves them. */
uintptr_t test_host_call(struct host_call *call);

#if defined(__x86_64__)
#define STORE(width, n) "vmovdqu" width "mm" #n ", 240 + 64 * " #n "(%r11)\n"
/* clang-format off */
#define STORE_ALL(w)                                                                               \
    STORE(w, 0) STORE(w, 1) STORE(w, 2) STORE(w, 3) STORE(w, 4) STORE(w, 5) STORE(w, 6)            \
    STORE(w, 7) STORE(w, 8) STORE(w, 9) STORE(w, 10) STORE(w, 11) STORE(w, 12) STORE(w, 13)        \
    STORE(w, 14) STORE(w, 15)
/* clang-format on */
__asm__(".text\n.globl test_host_call\n.type test_host_call, @function\ntest_host_call:\n"
        "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, %rax\n"
        "mov %rdi, %r11\n"
        "cmpq $0, 56(%r11)\nje 1f\nmov 56(%r11), %rsp\n"
        "1: and $-16, %rsp\nsub $16, %rsp\n"
        "mov %rax, (%rsp)\nmov %r11, 8(%rsp)\n"
        "cmpq $0, 64(%r11)\nje 2f\nvzeroupper\n"
        "2: mov 8(%r11), %rdi\nmov 16(%r11), %rsi\nmov 24(%r11), %rdx\n"
        "mov 32(%r11), %rcx\nmov 40(%r11), %r8\nmov 48(%r11), %r9\n"
        "mov 72(%r11), %rbx\nmov 80(%r11), %rbp\nmov 88(%r11), %r12\n"
        "mov 96(%r11), %r13\nmov 104(%r11), %r14\nmov 112(%r11), %r15\n"
        "call *(%r11)\n"
        "mov 8(%rsp), %r11\n"
        "mov %rbx, 72(%r11)\nmov %rbp, 80(%r11)\nmov %r12, 88(%r11)\n"
        "mov %r13, 96(%r11)\nmov %r14, 104(%r11)\nmov %r15, 112(%r11)\n"
        "pushfq\npop %rdx\nmov %rdx, 232(%r11)\n"
        "cmpq $32, 64(%r11)\njb 4f\nja 3f\n" STORE_ALL(
            " %y") "jmp 4f\n"
                   "3:\n" STORE_ALL(
                       "64 %z") "4: mov (%rsp), %rsp\n"
                                "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n"
                                ".size test_host_call, . - test_host_call\n");

/* Bytes of the vector registers that the CPU and this test can look at. */
static uint64_t vector_bytes(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx") ? 32 : 0;
}

#else
__asm__(".text\n.globl test_host_call\n.type test_host_call, %function\ntest_host_call:\n"
        "stp x29, x30, [sp, -160]!\n"
        "stp x19, x20, [sp, 16]\nstp x21, x22, [sp, 32]\nstp x23, x24, [sp, 48]\n"
        "stp x25, x26, [sp, 64]\nstp x27, x28, [sp, 80]\n"
        "stp d8, d9, [sp, 96]\nstp d10, d11, [sp, 112]\n"
        "stp d12, d13, [sp, 128]\nstp d14, d15, [sp, 144]\n"
        "mov x9, sp\nmov x10, x0\n"
        "ldr x11, [x10, 56]\ncbz x11, 1f\nand x11, x11, -16\nmov sp, x11\n"
        "1: stp x9, x10, [sp, -16]!\n"
        "add x11, x10, 72\n"
        "ldp x19, x20, [x11]\nldp x21, x22, [x11, 16]\nldp x23, x24, [x11, 32]\n"
        "ldp x25, x26, [x11, 48]\nldp x27, x28, [x11, 64]\nldr x29, [x11, 80]\n"
        "ldp d8, d9, [x11, 88]\nldp d10, d11, [x11, 104]\n"
        "ldp d12, d13, [x11, 120]\nldp d14, d15, [x11, 136]\n"
        "ldr x16, [x10]\n"
        "ldp x0, x1, [x10, 8]\nldp x2, x3, [x10, 24]\nldp x4, x5, [x10, 40]\n"
        "blr x16\n"
        "ldr x10, [sp, 8]\nadd x11, x10, 72\n"
        "stp x19, x20, [x11]\nstp x21, x22, [x11, 16]\nstp x23, x24, [x11, 32]\n"
        "stp x25, x26, [x11, 48]\nstp x27, x28, [x11, 64]\nstr x29, [x11, 80]\n"
        "stp d8, d9, [x11, 88]\nstp d10, d11, [x11, 104]\n"
        "stp d12, d13, [x11, 120]\nstp d14, d15, [x11, 136]\n"
        "ldr x9, [sp]\nmov sp, x9\n"
        "ldp x19, x20, [sp, 16]\nldp x21, x22, [sp, 32]\nldp x23, x24, [sp, 48]\n"
        "ldp x25, x26, [sp, 64]\nldp x27, x28, [sp, 80]\n"
        "ldp d8, d9, [sp, 96]\nldp d10, d11, [sp, 112]\n"
        "ldp d12, d13, [sp, 128]\nldp d14, d15, [sp, 144]\n"
        "ldp x29, x30, [sp], 160\nret\n"
        ".size test_host_call, . - test_host_call\n");

static uint64_t vector_bytes(void)
{
    return 0;
}
#endif

static struct host_call host_call_of(const struct call *call)
{
    struct host_call host = {.function = call->function};
    memcpy(host.arguments, call->arguments, sizeof host.arguments);
    return host;
}

/*
 * Registers that the psABI gives to the caller hold what they held.  On x86 the upper parts of the
 * vector registers, which were empty, are empty again: code of the host in SSE instructions would
 * be slow else.
 */
static void test_registers(void **state)
{
    (void)state;
    struct rng rng = rng_make(78);
    for (size_t i = 0; i < tour_count(tour); i++) {
        const struct call *call = tour_call(tour, i);
        tour_prepare(tour, i);
        struct host_call host = host_call_of(call);
        uint64_t kept[KEPT];
        for (int r = 0; r < KEPT; r++)
            kept[r] = host.kept[r] = rng_next(&rng);
        host.vector = IS_AS_BUILT ? vector_bytes() : 0;
        const uintptr_t returned = test_host_call(&host);
        tour_check(tour, i, returned);
        (void)tour_finish(tour, i);
        for (int r = 0; r < KEPT; r++)
            if (host.kept[r] != kept[r])
                fail_msg("%s, %s: register %d of those that a call keeps is lost", call->name,
                         call->what, r);
        if ((host.flags & 0x400) != 0)
            fail_msg("%s, %s: the direction flag is set", call->name, call->what);
        for (int r = 0; r < 16; r++)
            for (size_t byte = 16; byte < 64; byte++)
                if (host.vectors[r][byte] != 0)
                    fail_msg("%s, %s: the upper part of vector register %d is left in use",
                             call->name, call->what, r);
    }
}

/* rope.h and rope_config.h promise these. */
enum { STACK = 16 * 1024, CONFIG_STACK = 16 * 1024 };

static size_t promised_stack(const struct call *call)
{
    return strncmp(call->name, "rope_config", 11) == 0 ? CONFIG_STACK : STACK;
}

/* Every call on a stack of the promised size, with nothing below but a page that traps. */
static void test_stack(void **state)
{
    (void)state;
    if (!IS_AS_BUILT) {
        print_message("skipped: frames of sanitized, instrumented and -O0 code are larger\n");
        skip();
    }
    enum { ROOM = 256 * 1024, PAINT = 0x5a };
    struct guarded wide = guarded_make(ROOM);
    size_t most = 0;
    const struct call *deepest = NULL;
    for (size_t i = 0; i < tour_count(tour); i++) {
        const struct call *call = tour_call(tour, i);
        tour_prepare(tour, i);
        struct host_call host = host_call_of(call);
        memset(wide.base, PAINT, ROOM);
        host.stack_top = wide.base + ROOM;
        tour_check(tour, i, test_host_call(&host));
        size_t untouched = 0;
        while (untouched < ROOM && wide.base[untouched] == PAINT)
            untouched++;
        (void)tour_finish(tour, i);
        if (ROOM - untouched > promised_stack(call))
            fail_msg("%s, %s: %zu bytes of stack", call->name, call->what, ROOM - untouched);
        if (ROOM - untouched > most) {
            most = ROOM - untouched;
            deepest = call;
        }
    }
    guarded_free(&wide);
    print_message("at most %zu bytes of stack: %s, %s\n", most, deepest->name, deepest->what);
    for (size_t i = 0; i < tour_count(tour); i++) {
        struct guarded small = guarded_make(promised_stack(tour_call(tour, i)));
        tour_prepare(tour, i);
        struct host_call host = host_call_of(tour_call(tour, i));
        host.stack_top = small.base + small.size;
        const uintptr_t returned = test_host_call(&host);
        guarded_free(&small);
        tour_check(tour, i, returned);
        const uint64_t sum = tour_finish(tour, i);
        if (sum != sums[i])
            fail_msg("%s, %s: differs on another stack", tour_call(tour, i)->name,
                     tour_call(tour, i)->what);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_symbol), cmocka_unit_test(test_settings),
        cmocka_unit_test(test_flags),
#ifdef HAVE_HOST_CALL
        cmocka_unit_test(test_registers),    cmocka_unit_test(test_stack),
#endif
    };
    return cmocka_run_group_tests_name("host", tests, prepare, clean_up);
}
