/* SPDX-License-Identifier: Apache-2.0 */
/* A second thread that waits for work by spinning, so that a hand-over costs little.  Nothing else. */
#ifndef ROPE_BENCH_TEAM_H
#define ROPE_BENCH_TEAM_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>

class team
{
  public:
    /* Made at first use; lives until the program ends. */
    static team &shared()
    {
        static team one;
        return one;
    }

    /* Calls task(0) here and task(1) on the other thread; returns when both are done. */
    template <typename task> void run(const task &function)
    {
        task_ = [&function](size_t part) { function(part); };
        done_.store(false, std::memory_order_relaxed);
        wanted_.store(true, std::memory_order_release);
        function(0);
        wait_for(done_);
    }

  private:
    team()
        : thread_([this] {
              for (;;) {
                  wait_for(wanted_, true);
                  if (stop_)
                      return;
                  wanted_.store(false, std::memory_order_relaxed);
                  task_(1);
                  done_.store(true, std::memory_order_release);
              }
          })
    {
    }

    ~team()
    {
        stop_ = true;
        wanted_.store(true, std::memory_order_release);
        thread_.join();
    }

    /* Without work for long, the thread must not take the CPU from what is measured. */
    static void wait_for(const std::atomic<bool> &flag, bool may_sleep = false)
    {
        for (unsigned spins = 0; !flag.load(std::memory_order_acquire); spins++)
            if (may_sleep && spins > 40000)
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            else if (spins > 20000)
                std::this_thread::yield();
    }

    std::function<void(size_t)> task_;
    std::atomic<bool> wanted_{false}, done_{false};
    bool stop_ = false;
    std::thread thread_; /* last: it starts when everything above is there */
};

#endif
