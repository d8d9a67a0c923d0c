/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of limit.h in one vector width; compiled once per set, with LIMIT_NAME (the set) and
 * LIMIT_BYTES (the width).  The scalar set is compiled without the vectoriser.
 */
#include "limit.h"
#include <cstdint>
#include <cstring>

#if LIMIT_BYTES == 8
typedef uint64_t vector;
#else
typedef uint64_t vector __attribute__((vector_size(LIMIT_BYTES)));
#endif
typedef vector anywhere __attribute__((aligned(1), may_alias));

namespace
{

constexpr size_t width = sizeof(vector), group = 8; /* loads first, then stores, eight at a time */

vector load(const char *from)
{
    return *reinterpret_cast<const anywhere *>(from);
}

void store(char *to, vector value)
{
    *reinterpret_cast<anywhere *>(to) = value;
}

void store_past(char *to, vector value)
{
#if defined(__x86_64__) && LIMIT_BYTES > 8
    asm volatile("vmovntdq %1, %0" : "=m"(*reinterpret_cast<char(*)[width]>(to)) : "v"(value));
#elif defined(__x86_64__)
    asm volatile("movnti %1, %0" : "=m"(*reinterpret_cast<char(*)[width]>(to)) : "r"(value));
#else
    store(to, value); /* AArch64 has no store that skips the caches alone */
#endif
}

void order_stores()
{
#if defined(__x86_64__)
    asm volatile("sfence" ::: "memory");
#endif
}

/* The compiler must not mix the loads of a group with its stores. */
void barrier()
{
    asm volatile("" ::: "memory");
}

/* Named one by one: an array would be kept in memory. */
template <void (*put)(char *, vector)>
inline void move_group(char *dst, const char *src, vector add)
{
    const vector a = load(src) + add, b = load(src + width) + add;
    const vector c = load(src + 2 * width) + add, d = load(src + 3 * width) + add;
    const vector e = load(src + 4 * width) + add, f = load(src + 5 * width) + add;
    const vector g = load(src + 6 * width) + add, h = load(src + 7 * width) + add;
    barrier();
    put(dst, a), put(dst + width, b), put(dst + 2 * width, c), put(dst + 3 * width, d);
    put(dst + 4 * width, e), put(dst + 5 * width, f), put(dst + 6 * width, g);
    put(dst + 7 * width, h);
}

void modify(const region &region)
{
    vector zero = {};
#if LIMIT_BYTES == 8
    asm volatile("" : "+r"(zero));
#elif defined(__x86_64__)
    asm volatile("" : "+v"(zero));
#else
    asm volatile("" : "+w"(zero));
#endif
    for (size_t slice = 0; slice < region.slices; slice++) {
        char *at = region.base + slice * region.stride;
        size_t left = region.bytes;
        for (; left >= group * width; left -= group * width, at += group * width)
            move_group<store>(at, at, zero);
        for (; left >= width; left -= width, at += width)
            store(at, load(at) + zero);
        for (; left >= 2; left -= 2, at += 2) {
            uint16_t word;
            std::memcpy(&word, at, 2);
            asm volatile("" : "+r"(word));
            std::memcpy(at, &word, 2);
        }
    }
    barrier();
}

template <void (*put)(char *, vector)> void fill_with(char *dst, size_t bytes)
{
    const vector one = vector{} + 1;
    for (; bytes >= width; bytes -= width, dst += width)
        put(dst, one);
    std::memset(dst, 1, bytes);
    barrier();
}

template <void (*put)(char *, vector)> void copy_with(char *dst, const char *src, size_t bytes)
{
    for (; bytes >= group * width; bytes -= group * width) {
        move_group<put>(dst, src, vector{});
        dst += group * width;
        src += group * width;
    }
    std::memcpy(dst, src, bytes);
    barrier();
}

void fill_past(char *dst, size_t bytes)
{
    fill_with<store_past>(dst, bytes);
    order_stores();
}

void copy_past(char *dst, const char *src, size_t bytes)
{
    copy_with<store_past>(dst, src, bytes);
    order_stores();
}

} // namespace

extern const limits LIMIT_NAME = {modify, fill_with<store>, fill_past, copy_with<store>, copy_past};
