/* SPDX-License-Identifier: Apache-2.0 */
/* What the CPU is, as the system tells it. */
#ifndef ROPE_BENCH_MACHINE_H
#define ROPE_BENCH_MACHINE_H

#include <fstream>
#include <sched.h>
#include <string>

/* What follows "key...: " in the first line of the file that begins with key. */
inline std::string value_in(const char *path, const std::string &key)
{
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, key.size(), key) == 0) {
            const size_t colon = key.empty() ? std::string::npos : line.find(": ");
            return colon == std::string::npos ? line : line.substr(colon + 2);
        }
    return "unknown";
}

inline std::string cpu_model()
{
    return value_in("/proc/cpuinfo", "model name");
}

/* KiB of the data cache of that level that the first CPU uses; 0: unknown.  sysconf() does not know
 * what a virtual machine's CPU may use of the chip's. */
inline long cache_kib(int level)
{
    for (int index = 0; index < 8; index++) {
        const std::string path =
            "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        std::ifstream level_file(path + "level"), type_file(path + "type"),
            size_file(path + "size");
        int found = 0;
        std::string type;
        long kib = 0;
        if (level_file >> found && type_file >> type && size_file >> kib && found == level &&
            type != "Instruction")
            return kib;
    }
    return 0;
}

/* CPUs that this process may use: fewer than there are when it is pinned. */
inline int usable_cpus()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

#endif
