/* SPDX-License-Identifier: Apache-2.0 */
/* Implements allocations.h. */
#include "allocations.h"

#include <errno.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);

_Thread_local struct allocations allocations;

void allocations_start(size_t fail_at)
{
    allocations = (struct allocations){.counted = 1, .fail_at = fail_at};
}

size_t allocations_end(void)
{
    allocations.counted = 0;
    return allocations.live;
}

static int fails(void)
{
    return allocations.counted && ++allocations.made == allocations.fail_at;
}

static void *counted(void *memory)
{
    allocations.live += allocations.counted && memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (fails())
        return NULL;
    void *memory = __real_realloc(old, size);
    allocations.live += allocations.counted && memory != NULL && old == NULL;
    return memory;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    if (fails())
        return ENOMEM;
    const int result = __real_posix_memalign(out, alignment, size);
    allocations.live += allocations.counted && result == 0;
    return result;
}

void __wrap_free(void *memory)
{
    allocations.live -= allocations.counted && memory != NULL;
    __real_free(memory);
}
