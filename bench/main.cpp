/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The benchmark suite: registers every case for every set that this CPU has and leaves the rest to
 * Google Benchmark, whose flags all work.  bench/README.md explains names and counters.
 *
 * ROPE_BENCH_LIBRARY in the environment names another shared library to measure, ROPE_BENCH_COMMIT
 * the commit for the record, ROPE_BENCH_PROGRESS=1 asks for a line of progress on standard error.
 */
#include "case.h"
#include "machine.h"
#include "timing.h"
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <regex.h>
#include <thread>

namespace
{

double seconds()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double own_seconds()
{
    return 1e-9 * thread_nanoseconds();
}

/* ---- The pair: library and limit in turn, over the same bytes ------------------------------------ */

struct pair_result {
    double ratio;         /* time of the library over time of the limit */
    double limit_seconds; /* of one pass */
};

/* Who goes first alternates from pair to pair, and from one call of this function to the next. */
pair_result measure_pairs(work &work)
{
    constexpr double sample = 2e-4, budget = 6e-3;
    constexpr size_t most = 9;
    const auto clock = work.threads() == 1 ? own_seconds : seconds;
    const auto timed = [&work, clock](bool limit, size_t calls) {
        const double start = clock();
        for (size_t call = 0; call < calls; call++)
            limit ? work.run_limit() : work.run();
        return (clock() - start) / static_cast<double>(calls);
    };
    const double once = std::max(std::min(timed(false, 1), timed(false, 1)), 1e-9);
    const size_t calls = static_cast<size_t>(std::max(1.0, sample / once));
    const double one_pair = 2 * once * static_cast<double>(calls);
    const size_t pairs = std::clamp(static_cast<size_t>(budget / one_pair), size_t{1}, most);
    std::vector<double> ratios, times;
    static bool limit_first = false;
    for (size_t pair = 0; pair < pairs; pair++, limit_first = !limit_first) {
        double library = 0, limit = 0;
        if (limit_first)
            limit = timed(true, calls);
        library = timed(false, calls);
        if (!limit_first)
            limit = timed(true, calls);
        ratios.push_back(library / limit);
        times.push_back(limit);
    }
    return {median(ratios), median(times)};
}

/* ---- Progress ----------------------------------------------------------------------------------- */

/*
 * Google Benchmark looks for a number of iterations that takes --benchmark_min_time, and keeps it:
 * it calls a case a few times before its first repetition and throws those results away.
 */
class progress
{
  public:
    void expect(size_t cases, size_t repetitions)
    {
        cases_ = cases;
        repetitions_ = repetitions;
        start_ = last_ = seconds();
    }

    /* Whether the result of a call that took `spent` seconds will be kept. */
    bool is_repetition(const std::string &name, benchmark::IterationCount iterations, double spent)
    {
        auto &before = iterations_[name];
        const bool again = before == iterations;
        before = iterations;
        return again || spent > 0.9 * min_time;
    }

    void step()
    {
        done_++;
        if (cases_ == 0 || seconds() - last_ < 2)
            return;
        last_ = seconds();
        const size_t all = std::max(cases_ * repetitions_, done_);
        std::fprintf(stderr, "\r%3.0f s: %zu of %zu measurements, %2.0f %% ", last_ - start_, done_,
                     all, 100.0 * static_cast<double>(done_) / static_cast<double>(all));
    }

    ~progress()
    {
        if (cases_ != 0 && done_ != 0)
            std::fprintf(stderr, "\n");
    }

    double min_time = 0.5; /* Google Benchmark's own choice */

  private:
    size_t cases_ = 0, repetitions_ = 1, done_ = 0;
    double start_ = 0, last_ = 0;
    std::map<std::string, benchmark::IterationCount> iterations_;
} shown;

/* How many of the names Google Benchmark will run: its filter is an extended regular expression,
 * turned round by a leading '-'. */
size_t count_matching(const std::vector<std::string> &names, std::string filter)
{
    const bool inverted = !filter.empty() && filter[0] == '-';
    if (inverted)
        filter.erase(0, 1);
    regex_t pattern;
    if (filter.empty() || filter == "all" || regcomp(&pattern, filter.c_str(), REG_EXTENDED) != 0)
        return names.size();
    const auto matches = std::count_if(names.begin(), names.end(), [&](const std::string &name) {
        return (regexec(&pattern, name.c_str(), 0, nullptr, 0) == 0) != inverted;
    });
    regfree(&pattern);
    return static_cast<size_t>(matches);
}

/* ---- One benchmark ------------------------------------------------------------------------------ */

void measure(benchmark::State &state, const library &library, const description &description,
             const std::string &name)
{
    work work(library, description);
    work.restore();
    work.prepare_limit();
    work.run();
    /* Begin with a fresh share of the CPU: Google Benchmark keeps the first number of iterations that took
     * long enough, also where that was because another process had the CPU. */
    std::this_thread::yield();
    const double start = seconds();
    for (auto _ : state)
        work.run();
    if (!shown.is_repetition(name, state.iterations(), seconds() - start))
        return;

    const pair_result pair = measure_pairs(work);
    const double tokens = static_cast<double>(work.tokens());
    const auto iterations = static_cast<double>(state.iterations());
    check_memory();
    state.SetBytesProcessed(static_cast<int64_t>(work.bytes() * iterations));
    state.SetItemsProcessed(static_cast<int64_t>(tokens * iterations));
    state.counters["roof_gbps"] = work.bytes() / pair.limit_seconds * 1e-9;
    state.counters["roof_ratio"] = pair.ratio;
    state.counters["ns_per_token"] = benchmark::Counter(
        tokens * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    shown.step();
}

/* ---- Facts for the record ----------------------------------------------------------------------- */

std::string cache_size(int level)
{
    const long kib = cache_kib(level);
    return kib > 0 ? std::to_string(kib) + " KiB" : "unknown";
}

void add_context(const std::vector<library> &libraries)
{
    std::string sets;
    for (const library &one : libraries)
        sets += (sets.empty() ? "" : " ") + (one.name == "auto" ? "auto=" + one.active : one.name);
    const char *const commit = std::getenv("ROPE_BENCH_COMMIT");
    benchmark::AddCustomContext("rope_version", libraries[0].version_string());
    benchmark::AddCustomContext("rope_commit", commit != nullptr ? commit : "unknown");
    benchmark::AddCustomContext("rope_isa", sets);
    benchmark::AddCustomContext("rope_sleef", ROPE_BENCH_SLEEF);
    benchmark::AddCustomContext("rope_compiler", ROPE_BENCH_COMPILER);
    benchmark::AddCustomContext("cpu_model", cpu_model());
    benchmark::AddCustomContext(
        "governor", value_in("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", ""));
    benchmark::AddCustomContext("l1d", cache_size(1));
    benchmark::AddCustomContext("l2", cache_size(2));
    benchmark::AddCustomContext("l3", cache_size(3));
}

} // namespace

int main(int argc, char **argv)
{
    const char *path = std::getenv("ROPE_BENCH_LIBRARY");
    static const std::vector<library> libraries =
        load_libraries(path != nullptr ? path : ROPE_BENCH_LIBRARY);
    std::vector<std::string> names;
    for (const description &one : all_cases())
        for (const library &set : libraries) {
            if (one.what == job::sinusoid && set.sinusoid_add == nullptr)
                continue;
            /* The user's view, on the rows that the README quotes. */
            if (set.name == "auto" &&
                (one.what != job::apply || one.rotary_dim != 128 || one.pairing != ROPE_HALF ||
                 one.q_heads != 32 || one.k_heads != 8 || one.dtype == ROPE_F64))
                continue;
            const std::string name = name_of(one, set.name);
            names.push_back(name + "/real_time");
            benchmark::RegisterBenchmark(name.c_str(), [&set, one, name](benchmark::State &state) {
                measure(state, set, one, name);
            })->UseRealTime();
        }

    size_t repetitions = 1;
    std::string filter;
    for (int i = 1; i < argc; i++) {
        if (std::strncmp(argv[i], "--benchmark_repetitions=", 24) == 0)
            repetitions = static_cast<size_t>(std::max(1, std::atoi(argv[i] + 24)));
        if (std::strncmp(argv[i], "--benchmark_filter=", 19) == 0)
            filter = argv[i] + 19;
        if (std::strncmp(argv[i], "--benchmark_min_time=", 21) == 0)
            shown.min_time = std::atof(argv[i] + 21);
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 1;
    if (std::getenv("ROPE_BENCH_PROGRESS") != nullptr)
        shown.expect(count_matching(names, filter), repetitions);
    add_context(libraries);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
