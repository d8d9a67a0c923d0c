/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target on the inputs that are named, files or directories of files, without
 * libFuzzer:  fuzz_<name> [-v] PATH...
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int is_verbose;
static size_t inputs;

static int replay_file(const char *path)
{
    enum { INPUT_MAX = 1 << 22 };
    FILE *const file = fopen(path, "rb");
    uint8_t *bytes = malloc(INPUT_MAX);
    const size_t size = file != NULL && bytes != NULL ? fread(bytes, 1, INPUT_MAX, file) : 0;
    const int failed = file == NULL || bytes == NULL || ferror(file);
    if (failed)
        printf("%s: cannot be read\n", path);
    if (is_verbose) {
        printf("%s\n", path);
        fflush(stdout);
    }
    if (!failed) {
        uint8_t *exact = malloc(size != 0 ? size : 1); /* so that ASan sees where it ends */
        if (exact == NULL)
            abort();
        memcpy(exact, bytes, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
        inputs++;
    }
    free(bytes);
    if (file != NULL)
        fclose(file);
    return failed;
}

static int is_entry(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return replay_file(path);
    struct dirent **entries;
    const int count = scandir(path, &entries, is_entry, alphasort);
    int failed = count < 0;
    for (int i = 0; i < count; i++) {
        char below[4096];
        const int length = snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name);
        failed |= length >= (int)sizeof below || replay(below);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0)
            is_verbose = 1;
        else
            failed |= replay(argv[i]);
    }
    printf("%zu inputs\n", inputs);
    return failed || inputs == 0;
}
