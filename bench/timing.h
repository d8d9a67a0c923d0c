/* SPDX-License-Identifier: Apache-2.0 */
/* What every measuring program needs: the clock of a thread, and the median. */
#ifndef ROPE_BENCH_TIMING_H
#define ROPE_BENCH_TIMING_H

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <vector>

/* CPU time of this thread: what other processes take meanwhile does not count. */
inline double thread_nanoseconds()
{
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

inline double median(std::vector<double> values)
{
    const size_t middle = values.size() / 2;
    std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(middle), values.end());
    return values[middle];
}

#endif
