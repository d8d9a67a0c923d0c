/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goals [--isa SET] [--only WORDS] [--seconds S]: what the project wants to reach beside what is.
 *
 * What is compared stands in one group and is timed in turn: a slice of about 0.1 ms of each, then
 * again from the next one on, over the same memory.  A figure is the median over rounds of the
 * quotient of two slices of one round, taken over the quieter half of the rounds: those whose
 * slices were short together, whoever's they were.  So a neighbour that takes the memory or the
 * clock for a while is left out, and nothing is chosen in favour of one side.  Times are CPU time of
 * the thread: who else had the CPU meanwhile does not count.
 */
#include "case.h"
#include "machine.h"
#include "peers/plain.h"
#include "peers/tables.h"
#include "team.h"
#include "timing.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>

namespace
{

/* ---- Measuring ------------------------------------------------------------------------------- */

double group_seconds = 0.6;

/* Contenders timed in turn. */
class group
{
  public:
    using timed = std::function<double(size_t calls)>; /* ns per call */

    /* Its data get their first values again before each round. */
    void keep(work &work)
    {
        kept_.push_back(&work);
    }

    size_t add(const std::function<void()> &call)
    {
        return add_timed([call](size_t calls) {
            const double start = thread_nanoseconds();
            for (size_t i = 0; i < calls; i++)
                call();
            return (thread_nanoseconds() - start) / static_cast<double>(calls);
        });
    }

    size_t add_timed(const timed &one)
    {
        contenders_.push_back(one);
        return contenders_.size() - 1;
    }

    void measure()
    {
        constexpr double slice = 1e5;
        constexpr size_t fewest = 10, most = 400;
        const size_t n = contenders_.size();
        std::vector<size_t> calls(n);
        double round_time = 0;
        for (size_t i = 0; i < n; i++) {
            contenders_[i](1); /* it may prepare something */
            double once = std::min(contenders_[i](1), contenders_[i](1));
            for (size_t more = 2; once * static_cast<double>(more) < slice / 4; more *= 4)
                once = contenders_[i](more);
            once = std::max(once, 0.5);
            calls[i] = static_cast<size_t>(std::max(1.0, slice / once));
            round_time += once * static_cast<double>(calls[i] + warming(calls[i]));
        }
        const double fit = group_seconds * 1e9 / round_time;
        const size_t rounds = static_cast<size_t>(
            std::clamp(fit, static_cast<double>(fewest), static_cast<double>(most)));
        std::vector<std::vector<double>> times(n);
        for (size_t round = 0; round < rounds; round++) {
            for (work *const one : kept_)
                one->restore();
            for (size_t turn = 0; turn < n; turn++) {
                const size_t i =
                    (round / 2 + (round % 2 != 0 ? n - 1 - turn : turn)) % n; /* both directions */
                contenders_[i](warming(calls[i]));
                times[i].push_back(contenders_[i](calls[i]));
            }
        }
        fastest_.clear();
        for (const std::vector<double> &one : times)
            fastest_.push_back(*std::min_element(one.begin(), one.end()));
        keep_quiet_half(times);
        check_memory();
    }

    double ns(size_t i) const
    {
        return median(times_[i]);
    }

    /* The shortest slice: where a goal is a time, nothing beside it tells the machine's pace. */
    double fastest(size_t i) const
    {
        return fastest_[i];
    }

    double ratio(size_t a, size_t b) const
    {
        std::vector<double> ratios;
        for (size_t round = 0; round < times_[a].size(); round++)
            ratios.push_back(times_[a][round] / times_[b][round]);
        return median(ratios);
    }

  private:
    /* Calls before the clock starts: the caches hold what they will hold. */
    static size_t warming(size_t calls)
    {
        return calls / 8 + 1;
    }

    void keep_quiet_half(const std::vector<std::vector<double>> &times)
    {
        const size_t n = times.size(), rounds = times[0].size();
        std::vector<std::pair<double, size_t>> order;
        for (size_t round = 0; round < rounds; round++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += times[i][round] / median(times[i]);
            order.push_back({sum, round});
        }
        std::sort(order.begin(), order.end());
        times_.assign(n, {});
        for (size_t place = 0; place < (rounds + 1) / 2; place++)
            for (size_t i = 0; i < n; i++)
                times_[i].push_back(times[i][order[place].second]);
    }

    std::vector<work *> kept_;
    std::vector<timed> contenders_;
    std::vector<double> fastest_;
    std::vector<std::vector<double>> times_;
};

/* ---- Contenders ------------------------------------------------------------------------------ */

/* The textbook loop over the memory of a rotation; false: there is none. */
class plain
{
  public:
    plain(const work &work, const description &d, const plain_loop *list)
    {
        const memory_view view = work.view();
        const auto head = [](size_t elements) { return static_cast<uint32_t>(elements); };
        const uint32_t copies = d.what == job::copy;
        q_ = {view.q_out, view.q, d.tokens, d.q_heads, view.rows};
        k_ = {view.k_out, view.k, d.tokens, d.k_heads, view.rows};
        q_loop_ = plain_find(list, d.dtype, d.pairing, head(view.q_head), head(d.rotary_dim),
                             d.what == job::mla ? head(view.q_head - d.rotary_dim) : 0, copies);
        k_loop_ =
            plain_find(list, d.dtype, d.pairing, head(view.k_head), head(d.rotary_dim), 0, copies);
    }
    explicit operator bool() const
    {
        return q_loop_ != nullptr && k_loop_ != nullptr;
    }
    void run() const
    {
        q_loop_(&q_);
        if (k_.heads != 0)
            k_loop_(&k_);
    }

  private:
    plain_job q_, k_;
    plain_function *q_loop_, *k_loop_;
};

/* ---- Goals ----------------------------------------------------------------------------------- */

enum level { L1, L2, L3, DRAM };

/* Where so many bytes lie when they are used again and again. */
level level_of(double bytes)
{
    const auto fits = [bytes](int level) {
        return bytes <= 1024 * static_cast<double>(cache_kib(level));
    };
    return fits(1) ? L1 : fits(2) ? L2 : fits(3) ? L3 : DRAM;
}

const char *const level_names[] = {"L1", "L2", "L3", "DRAM"};

struct cell {
    std::string label;
    double value;
};

struct goal {
    std::string what;
    double avx512, avx2; /* at most; negative: at least; 0: none */
    const char *unit;
};

/* Keys of the lines, in their order. */
enum line {
    F32,
    F32_DRAM,
    F32_ONE,
    BF16_L2,
    BF16_L3,
    BF16_DRAM,
    BF16_PLAIN,
    F16_L2,
    F16_L3,
    F16_DRAM,
    F16_BF16,
    TABLE,
    ROW,
    ROW_MANY,
    DECODE,
    CALL_READY,
    CALL_MADE,
    MADE,
    COPY,
    COPY_MADE,
    PART,
    TOKENS,
    HEADS,
    POSITION,
    SHAPES,
    PLAIN,
    PLAIN_MADE,
    LINES
};

const goal goals[LINES] = {
    {"f32, ready rows, 16 to 2,048 tokens / limit", 1.05, 1.05, "x"},
    {"f32, ready rows, 8,192 tokens and more / limit", 1.00, 1.02, "x"},
    {"f32, ready row, one token / limit", 1.35, 1.10, "x"},
    {"bf16, f32 rows, L2 / limit", 1.55, 0, "x"},
    {"bf16, f32 rows, L3 / limit", 1.03, 0, "x"},
    {"bf16, f32 rows, DRAM / limit", 1.05, 1.6, "x"},
    {"bf16, L1 to L3: plain C / librope", 0, -1.5, "x"},
    {"f16, f32 rows, L2 / limit", 1.6, 0, "x"},
    {"f16, f32 rows, L3 / limit", 1.03, 0, "x"},
    {"f16, f32 rows, DRAM / limit", 1.05, 1.3, "x"},
    {"f16 / bf16 (faster)", 0, 1.0, "x"},
    {"table of 131,072 x 64 pairs, f32 / streaming stores", 1.05, 1.10, "x"},
    {"one row at a random position, a call each", 20, 30, "ns"},
    {"one row at a random position, 256 a call", 20, 30, "ns"},
    {"batched decode at random positions / sequential", 1.1, 1.1, "x"},
    {"call, 1 head, d = 2, ready row: librope - plain C", 20, 20, "ns"},
    {"call, 1 head, d = 2, row made: librope - plain C", 20, 20, "ns"},
    {"rows made on the way / ready rows, 128 tokens and more", 1.03, 1.06, "x"},
    {"out of place, ready rows / the better copy", 1.05, 1.05, "x"},
    {"out of place, rows made / the better copy", 1.05, 1.05, "x"},
    {"2 threads: one / two, beyond what the limit itself falls short of 2", -1.9, -1.9, "x"},
    {"time per token / that at 2,048 tokens, beyond the limit's own", 1.05, 1.05, "x"},
    {"time per head / that of half as many, beyond the limit's own", 1.05, 1.05, "x"},
    {"time at a far position / at 0", 1.05, 1.05, "x"},
    {"other shapes, per byte / 32 + 8 heads x 128, beyond the limit's own", 1.15, 1.15, "x"},
    {"librope / plain C, both by ready rows", 1.0, 1.0, "x"},
    {"librope with rows made / plain C by ready rows", 0, 0, "x"},
};

class report
{
  public:
    report(const library &library, const std::string &only)
        : library_(library), only_(only), wide_(library.active == "avx512")
    {
        loops_ = library.active == "avx2" ? plain_avx2 : plain_native;
    }

    void run()
    {
        std::printf("\n==== %s ====\n", library_.name.c_str());
        rotations();
        copies();
        tables();
        calls();
        parts();
        growth();
        shapes();
        summary();
    }

  private:
    bool wanted(const std::string &title)
    {
        if (title.find(only_) == std::string::npos)
            return false;
        std::printf("%-28s", title.c_str());
        std::fflush(stdout);
        return true;
    }

    void note(line key, const std::string &label, double value)
    {
        cells_[key].push_back({label, value});
    }

    static void show(const char *format, double value)
    {
        std::printf(format, value);
    }

    void rotations()
    {
        std::printf("%-28s%s\n", "ns per token",
                    "   ready   limit    made   plain    "
                    "ready/limit  made/ready  decode/made  ready/plain");
        for (const rope_dtype dtype : {ROPE_F32, ROPE_BF16, ROPE_F16, ROPE_F64})
            for (const rope_pairing pairing : {ROPE_HALF, ROPE_INTERLEAVED})
                for (const size_t tokens : {1u, 16u, 128u, 512u, 2048u, 8192u, 32768u})
                    if (tokens <= 8192 || dtype == ROPE_F32)
                        rotation(dtype, pairing, tokens);
    }

    void rotation(rope_dtype dtype, rope_pairing pairing, size_t tokens)
    {
        static const char *const names[] = {"", "f32", "f64", "f16", "bf16"};
        const std::string where = std::string(names[dtype]) +
                                  (pairing == ROPE_HALF ? " half " : " interleaved ") +
                                  std::to_string(tokens);
        if (!wanted(where))
            return;
        description d = {job::apply, dtype, pairing, 128, 32, 8, tokens};
        work made(library_, d);
        d.ready = true;
        work ready(library_, d);
        const plain loop(ready, d, loops_);
        d.ready = false;
        d.what = job::decode;
        work decode(library_, d);
        group group;
        group.keep(ready);
        const size_t r = group.add([&] { ready.run(); }), l = group.add([&] { ready.run_limit(); });
        const size_t m = group.add([&] { made.run(); });
        const size_t p = loop ? group.add([&] { loop.run(); }) : SIZE_MAX;
        const size_t random = tokens > 1 ? group.add([&] { decode.run(); }) : SIZE_MAX;
        group.measure();
        const double per = static_cast<double>(tokens), limit = group.ratio(r, l);
        std::printf("%8.1f%8.1f%8.1f", group.ns(r) / per, group.ns(l) / per, group.ns(m) / per);
        p != SIZE_MAX ? show("%8.1f", group.ns(p) / per) : (void)std::printf("%8s", "-");
        std::printf("%15.3f%12.3f", limit, group.ratio(m, r));
        random != SIZE_MAX ? show("%13.3f", group.ratio(random, m))
                           : (void)std::printf("%13s", "-");
        p != SIZE_MAX ? show("%13.3f\n", group.ratio(r, p)) : (void)std::printf("%13s\n", "-");

        const double row = 512, footprint = per * (40 * 128 * (dtype == ROPE_F32 ? 4 : 2) + row);
        const level level = level_of(footprint);
        const std::string label = where + " (" + level_names[level] + ")";
        if (dtype == ROPE_F32)
            note(tokens == 1 ? F32_ONE : tokens <= 2048 ? F32 : F32_DRAM, label, limit);
        if (dtype == ROPE_BF16 && level != L1)
            note(level == L2 ? BF16_L2 : level == L3 ? BF16_L3 : BF16_DRAM, label, limit);
        if (dtype == ROPE_F16 && level != L1)
            note(level == L2 ? F16_L2 : level == L3 ? F16_L3 : F16_DRAM, label, limit);
        if (dtype == ROPE_BF16 && level != DRAM && p != SIZE_MAX)
            note(BF16_PLAIN, label, group.ratio(p, r));
        if (dtype == ROPE_BF16)
            bf16_[where.substr(5)] = group.ns(r);
        if (dtype == ROPE_F16 && bf16_.count(where.substr(4)) != 0)
            note(F16_BF16, label, group.ns(r) / bf16_[where.substr(4)]);
        if (tokens >= 128 && (dtype == ROPE_F32 || dtype == ROPE_BF16))
            note(MADE, label, group.ratio(m, r));
        if (random != SIZE_MAX)
            note(DECODE, label, group.ratio(random, m));
        if (p != SIZE_MAX) {
            note(PLAIN, label, group.ratio(r, p));
            note(PLAIN_MADE, label, group.ratio(m, p));
        }
    }

    void copies()
    {
        std::printf("\n%-28s%s\n", "out of place, ns per token",
                    "   ready    made  copy   past   plain    ready/copy   made/copy  ready/plain");
        for (const rope_dtype dtype : {ROPE_F32, ROPE_BF16})
            for (const size_t tokens : {1u, 16u, 128u, 512u, 2048u, 8192u}) {
                const std::string where = std::string("copy ") +
                                          (dtype == ROPE_F32 ? "f32 " : "bf16 ") +
                                          std::to_string(tokens);
                if (!wanted(where))
                    continue;
                description d = {job::copy, dtype, ROPE_HALF, 128, 32, 8, tokens};
                work made(library_, d);
                d.ready = true;
                work ready(library_, d), past(library_, d);
                ready.choose_limit(false);
                past.choose_limit(true);
                const plain loop(ready, d, loops_);
                group group;
                const size_t r = group.add([&] { ready.run(); }),
                             m = group.add([&] { made.run(); });
                const size_t c = group.add([&] { ready.run_limit(); });
                const size_t n = group.add([&] { past.run_limit(); });
                const size_t p = group.add([&] { loop.run(); });
                group.measure();
                const size_t best = group.ratio(c, n) < 1 ? c : n;
                const double per = static_cast<double>(tokens);
                for (const size_t i : {r, m, c, n, p})
                    std::printf("%8.1f", group.ns(i) / per);
                std::printf("%12.3f%12.3f%13.3f\n", group.ratio(r, best), group.ratio(m, best),
                            group.ratio(r, p));
                note(COPY, where, group.ratio(r, best));
                note(COPY_MADE, where, group.ratio(m, best));
                note(PLAIN, where, group.ratio(r, p));
            }
    }

    void tables()
    {
        constexpr size_t rows = 131072, many = 256, pairs = 64;
        std::vector<float> freq(pairs);
        std::vector<double> freq_double(pairs);
        for (size_t i = 0; i < pairs; i++) {
            freq_double[i] = std::pow(500000.0, -static_cast<double>(i) / pairs);
            freq[i] = static_cast<float>(freq_double[i]);
        }
        if (wanted("table 131072")) {
            const description d = {job::table, ROPE_F32, ROPE_HALF, 128, 0, 0, rows};
            work ours(library_, d), past(library_, d);
            ours.choose_limit(false);
            past.choose_limit(true);
            group group;
            const size_t t = group.add([&] { ours.run(); }),
                         f = group.add([&] { ours.run_limit(); });
            const size_t n = group.add([&] { past.run_limit(); });
            group.measure();
            std::printf("%8.3f ms, stores %.3f, past the caches %.3f: %.3f x\n", group.ns(t) * 1e-6,
                        group.ns(f) * 1e-6, group.ns(n) * 1e-6, group.ratio(t, n));
            note(TABLE, "", group.ratio(t, n));
        }
        if (wanted("row")) {
            work one(library_, {job::row, ROPE_F32, ROPE_HALF, 128, 0, 0, 1});
            work batch(library_, {job::rows, ROPE_F32, ROPE_HALF, 128, 0, 0, many});
            std::vector<float> out(many * 2 * pairs);
            const table_job job = {out.data(), many, pairs, freq.data(), freq_double.data()};
            group group;
            const size_t a = group.add([&] { one.run(); }), b = group.add([&] { batch.run(); });
            const size_t p = group.add([&] { table_libm_f32(&job); });
            group.measure();
            std::printf("%8.1f ns, %.1f of 256 in a call, libm %.0f\n", group.fastest(a),
                        group.fastest(b) / many, group.fastest(p) / many);
            note(ROW, "", group.fastest(a));
            note(ROW_MANY, "", group.fastest(b) / many);
            note(PLAIN, "row", group.ratio(a, p) * many);
        }
    }

    void calls()
    {
        if (!wanted("call"))
            return;
        description d = {job::call, ROPE_F32, ROPE_HALF, 2, 1, 0, 1};
        work made(library_, d);
        d.ready = true;
        work ready(library_, d);
        const plain loop(ready, d, loops_);
        group group;
        const size_t r = group.add([&] { ready.run(); }), m = group.add([&] { made.run(); });
        const size_t p = group.add([&] { loop.run(); });
        group.measure();
        std::printf("%8.1f ns ready, %.1f made, plain C %.1f\n", group.fastest(r), group.fastest(m),
                    group.fastest(p));
        note(CALL_READY, "", group.fastest(r) - group.fastest(p));
        note(CALL_MADE, "", group.fastest(m) - group.fastest(p));
    }

    /* Two threads at once, each in its own CPU time; the slower one counts.  The hand-over is the
     * caller's matter and not in it. */
    void parts()
    {
        if (usable_cpus() < 2) {
            if (wanted("part"))
                std::printf(
                    "not measured: two threads need two CPUs, and this process may use one\n");
            return;
        }
        for (const rope_dtype dtype : {ROPE_F32, ROPE_BF16})
            for (const size_t tokens : {512u, 2048u, 8192u}) {
                const std::string where = std::string("part ") +
                                          (dtype == ROPE_F32 ? "f32 " : "bf16 ") +
                                          std::to_string(tokens);
                if (!wanted(where))
                    continue;
                work whole(library_, {job::apply, dtype, ROPE_HALF, 128, 32, 8, tokens});
                group group;
                group.keep(whole);
                const auto by_two = [](const std::function<void(size_t)> &one) {
                    return [one](size_t calls) {
                        double spent[2] = {0, 0};
                        for (size_t i = 0; i < calls; i++)
                            team::shared().run([&](size_t part) {
                                const double start = thread_nanoseconds();
                                one(part);
                                spent[part] += thread_nanoseconds() - start;
                            });
                        return std::max(spent[0], spent[1]) / static_cast<double>(calls);
                    };
                };
                const size_t one = group.add([&] { whole.run(); });
                const size_t two =
                    group.add_timed(by_two([&](size_t part) { whole.run_part(part, 2); }));
                const size_t limit_one = group.add([&] { whole.run_limit(); });
                const size_t limit_two =
                    group.add_timed(by_two([&](size_t part) { whole.run_limit_part(part, 2); }));
                group.measure();
                const double ratio = group.fastest(one) / group.fastest(two);
                const double limit = group.fastest(limit_one) / group.fastest(limit_two);
                std::printf("%8.2f x faster with two threads (the limit itself %.2f x)\n", ratio,
                            limit);
                note(PART, where, ratio * 2 / std::min(limit, 2.0));
            }
    }

    /*
     * The quotient of two jobs per unit, beyond what the limit's own quotient is where that is
     * above 1: a longer job may lie in a slower cache, and pieces may be short.
     */
    void against(const std::string &where, line key, const description &main, double main_units,
                 const description &other, double units)
    {
        if (!wanted(where))
            return;
        work base(library_, main), one(library_, other);
        group group;
        group.keep(base), group.keep(one);
        const size_t b = group.add([&] { base.run(); }), o = group.add([&] { one.run(); });
        const size_t bl = group.add([&] { base.run_limit(); }),
                     ol = group.add([&] { one.run_limit(); });
        const plain loop(one, other, loops_);
        const size_t p = loop && other.ready ? group.add([&] { loop.run(); }) : SIZE_MAX;
        group.measure();
        const double scale = main_units / units;
        const double ours = group.ratio(o, b) * scale, limit = group.ratio(ol, bl) * scale;
        std::printf("%8.3f x (the limit itself %.3f x), %.3f x its limit", ours, limit,
                    group.ratio(o, ol));
        if (p != SIZE_MAX) {
            std::printf(", %.3f x plain C", group.ratio(o, p));
            note(PLAIN, where, group.ratio(o, p));
        }
        std::printf("\n");
        note(key, where, ours / std::max(limit, 1.0));
    }

    void growth()
    {
        for (const rope_dtype dtype : {ROPE_F32, ROPE_BF16}) {
            const std::string name = dtype == ROPE_F32 ? "f32 " : "bf16 ";
            description main = {job::apply, dtype, ROPE_HALF, 128, 32, 8, 2048};
            for (const size_t tokens : {4096u, 8192u, 32768u}) {
                description other = main;
                other.tokens = tokens;
                against("tokens " + name + std::to_string(tokens), TOKENS, main, 2048, other,
                        static_cast<double>(tokens));
            }
            for (const size_t tokens : {1u, 512u})
                for (const size_t heads : {16u, 32u, 64u}) {
                    description other = {job::apply, dtype,  ROPE_HALF, 128, heads,
                                         heads / 4,  tokens, 0,         true};
                    main = other;
                    main.q_heads /= 2, main.k_heads /= 2;
                    against("heads " + name + std::to_string(tokens) + " x " +
                                std::to_string(heads) + "+" + std::to_string(heads / 4),
                            HEADS, main, 1, other, 2);
                }
            for (const size_t tokens : {1u, 512u})
                for (const int64_t start :
                     {int64_t{100000}, int64_t{1000000}, int64_t{2147480000}, int64_t{-100000}}) {
                    main = {job::apply, dtype, ROPE_HALF, 128, 32, 8, tokens};
                    description other = main;
                    other.start = start;
                    against("position " + name + std::to_string(tokens) + " at " +
                                std::to_string(start),
                            POSITION, main, 1, other, 1);
                }
        }
    }

    void shapes()
    {
        for (const rope_dtype dtype : {ROPE_F32, ROPE_BF16})
            for (const size_t tokens : {1u, 512u}) {
                const std::string name = std::string("shape ") +
                                         (dtype == ROPE_F32 ? "f32 " : "bf16 ") +
                                         std::to_string(tokens) + " ";
                const description main = {job::apply, dtype,  ROPE_HALF, 128, 32,
                                          8,          tokens, 0,         true};
                const auto one = [&](const char *label, job what, size_t d, size_t q, size_t k,
                                     bool ready = true) {
                    const description other = {what, dtype, ROPE_HALF, d, q, k, tokens, 0, ready};
                    description base = main;
                    base.ready = ready;
                    against(name + label, SHAPES, base, 40 * 128, other,
                            static_cast<double>((q + k) * d));
                };
                one("64", job::apply, 64, 32, 8);
                one("80", job::apply, 80, 32, 8);
                one("96", job::apply, 96, 32, 8);
                one("256", job::apply, 256, 32, 8);
                one("partial 32", job::partial, 32, 32, 8);
                one("MLA", job::mla, 64, 16, 1);
                one("MQA", job::apply, 128, 32, 1);
                one("M-RoPE", job::mrope, 128, 28, 4);
                one("M-RoPE made", job::mrope, 128, 28, 4, false);
            }
    }

    void summary()
    {
        std::printf(
            "\n**%s**\n\n| job | goal | worst (all) | where | reached |\n|---|---|---|---|---|\n",
            library_.name.c_str());
        for (int key = 0; key < LINES; key++) {
            const goal &goal = goals[key];
            double wanted = wide_ ? goal.avx512 : goal.avx2;
            std::vector<cell> &cells = cells_[key];
            if (cells.empty() || (wanted == 0 && key != PLAIN_MADE))
                continue;
            const bool more = wanted < 0;
            wanted = std::abs(wanted);
            std::sort(cells.begin(), cells.end(), [more](const cell &a, const cell &b) {
                return more ? a.value < b.value : a.value > b.value;
            });
            const double worst = cells.front().value, best = cells.back().value;
            const auto meets = [&](double value, double slack) {
                return more ? value >= wanted / slack : value <= wanted * slack;
            };
            const size_t missing = static_cast<size_t>(std::count_if(
                cells.begin(), cells.end(), [&](const cell &one) { return !meets(one.value, 1); }));
            const bool nanoseconds = std::strcmp(goal.unit, "ns") == 0;
            const char *const form = nanoseconds ? "%.1f" : "%.3f";
            std::printf("| %s | ", goal.what.c_str());
            if (wanted == 0)
                std::printf("none | ");
            else
                std::printf("%s %g %s | ", more ? ">=" : "<=", wanted, goal.unit);
            std::printf(form, worst);
            if (cells.size() > 1) {
                std::printf(" (to ");
                std::printf(form, best);
                std::printf(")");
            }
            std::printf(" | %s | %s", cells.front().label.c_str(),
                        wanted == 0          ? "-"
                        : meets(worst, 1)    ? "yes"
                        : meets(worst, 1.02) ? "within 2 %"
                                             : "**no**");
            if (wanted != 0 && missing != 0 && cells.size() > 1)
                std::printf(", %zu of %zu miss", missing, cells.size());
            std::printf(" |\n");
        }
        std::fflush(stdout);
    }

    const library &library_;
    std::string only_;
    bool wide_;
    const plain_loop *loops_;
    std::map<int, std::vector<cell>> cells_;
    std::map<std::string, double> bf16_;
};

} // namespace

int main(int argc, char **argv)
{
    const char *const forced = std::getenv("ROPE_ISA"), *const path =
                                                            std::getenv("ROPE_BENCH_LIBRARY");
    std::string isa = forced != nullptr ? forced : "", only;
    for (int i = 1; i < argc; i++) {
        const bool has_value = i + 1 < argc;
        if (std::strcmp(argv[i], "--isa") == 0 && has_value)
            isa = argv[++i];
        else if (std::strcmp(argv[i], "--only") == 0 && has_value)
            only = argv[++i];
        else if (std::strcmp(argv[i], "--seconds") == 0 && has_value)
            group_seconds = std::atof(argv[++i]);
        else {
            std::fprintf(stderr, "goals [--isa SET] [--only WORDS] [--seconds S]\n");
            return 2;
        }
    }
    const std::vector<library> libraries =
        load_libraries(path != nullptr ? path : ROPE_BENCH_LIBRARY);
    const char *const commit = std::getenv("ROPE_BENCH_COMMIT");
    std::printf("%s, L1d %ld KiB, L2 %ld KiB, L3 %ld KiB; %s; librope %s, commit %s\n",
                cpu_model().c_str(), cache_kib(1), cache_kib(2), cache_kib(3), ROPE_BENCH_COMPILER,
                libraries[0].version_string(), commit != nullptr ? commit : "unknown");
    size_t measured = 0;
    for (const library &one : libraries)
        if (isa.empty() ? one.name != "scalar" && one.name != "auto" : one.name == isa) {
            report(one, only).run();
            measured++;
        }
    if (measured == 0)
        std::fprintf(stderr, "this CPU or build has no set %s\n", isa.c_str());
    return measured == 0;
}
