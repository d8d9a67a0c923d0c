/* SPDX-License-Identifier: Apache-2.0 */
/* Loads one copy of the shared library per instruction set.  Measures nothing. */
#include "library.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>

namespace
{

[[noreturn]] void fail(const std::string &what, const char *why)
{
    std::fprintf(stderr, "%s: %s\n", what.c_str(), why);
    std::exit(1);
}

/* A file in memory is a new file to the dynamic linker, wherever it came from. */
void *load_copy(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (bytes.empty())
        fail(path, "cannot be read");
    const int descriptor = memfd_create("librope", MFD_CLOEXEC);
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t written = write(descriptor, bytes.data() + done, bytes.size() - done);
        if (written <= 0)
            fail(path, "cannot be copied into memory");
        done += static_cast<size_t>(written);
    }
    /* The descriptor stays open: closed, its number would name the next copy, and be taken for this
     * one. */
    const std::string copy = "/proc/self/fd/" + std::to_string(descriptor);
    void *const handle = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        fail(path, dlerror());
    return handle;
}

template <typename function> void find(void *handle, const char *name, function *out)
{
    *out = reinterpret_cast<function>(dlsym(handle, name));
    if (*out == nullptr)
        fail(name, "not in the library");
}

} // namespace

std::vector<library> load_libraries(const std::string &path)
{
    static const struct {
        const char *name;
        rope_isa isa;
    } sets[] = {
        {"scalar", ROPE_ISA_SCALAR}, {"avx2", ROPE_ISA_AVX2}, {"avx512", ROPE_ISA_AVX512},
        {"neon", ROPE_ISA_NEON},     {"auto", ROPE_ISA_NONE},
    };
    std::vector<library> libraries;
    for (const auto &set : sets) {
        if (set.isa == ROPE_ISA_NONE)
            unsetenv("ROPE_ISA");
        else
            setenv("ROPE_ISA", set.name, 1);
        library one;
        one.name = set.name;
        one.handle = load_copy(path);
        decltype(&rope_isa_available) isa_available;
        decltype(&rope_active_isa) active_isa;
        decltype(&rope_isa_name) isa_name;
        find(one.handle, "rope_isa_available", &isa_available);
        find(one.handle, "rope_active_isa", &active_isa);
        find(one.handle, "rope_isa_name", &isa_name);
        if (set.isa != ROPE_ISA_NONE && !isa_available(set.isa)) {
            dlclose(one.handle);
            continue;
        }
        /* This call makes the copy read ROPE_ISA. */
        if (set.isa != ROPE_ISA_NONE && active_isa() != set.isa)
            fail(set.name, "is available but did not become active");
        one.active = isa_name(active_isa());
        find(one.handle, "rope_plan_create", &one.plan_create);
        find(one.handle, "rope_plan_destroy", &one.plan_destroy);
        find(one.handle, "rope_rotate", &one.rotate);
        find(one.handle, "rope_rotate_part", &one.rotate_part);
        find(one.handle, "rope_cos_sin", &one.cos_sin);
        /* An older library may lack it; it can still be compared with a newer one. */
        one.sinusoid_add =
            reinterpret_cast<decltype(one.sinusoid_add)>(dlsym(one.handle, "rope_sinusoid_add"));
        find(one.handle, "rope_version_string", &one.version_string);
        find(one.handle, "rope_status_string", &one.status_string);
        libraries.push_back(one);
    }
    unsetenv("ROPE_ISA");
    return libraries;
}
