/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tool when the system or a file fails it: every allocation, every call that opens, reads, writes,
 * renames or starts a thread fails once, in every command; then every byte of every input is another,
 * and the input ends before it.  Either the command does its work, or it says in one line why not,
 * exits with 2 and leaves no file behind; nothing in between.
 * Linked with --wrap for these calls and with the tool's main as tool_main.
 */
#define _GNU_SOURCE /* the names of 64-bit offsets, which the tool gets by _FILE_OFFSET_BITS */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef ROPE_TOOL_CONFIG
#include <jansson.h>
#endif

int tool_main(int count, char **arguments);

/* ---- The fault ------------------------------------------------------------------------------- */

enum fault { FAILS, INTERRUPTED, SHORT }; /* the last two only of pread and pwrite */

static enum fault fault;
static int counts; /* calls are counted, and the one numbered fail_at has the fault */
static size_t made, fail_at;
static const char *faulty; /* the call that had it */
static FILE *unreadable;   /* ferror says so */

static int fails(const char *call)
{
    if (!counts || ++made != fail_at)
        return 0;
    faulty = call;
    return 1;
}

static int hard(const char *call, int reason)
{
    if (fault != FAILS || !fails(call))
        return 0;
    errno = reason;
    return 1;
}

/* NAME(result, name, (parameters), (arguments), value and errno of a failure) */
#define WRAP(result, name, parameters, arguments, value, reason)        \
    result __real_##name parameters;                                    \
    result __wrap_##name parameters;                                    \
    result __wrap_##name parameters                                     \
    {                                                                   \
        return hard(#name, reason) ? (value) : __real_##name arguments; \
    }

WRAP(void *, malloc, (size_t size), (size), NULL, ENOMEM)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), NULL, ENOMEM)
WRAP(void *, realloc, (void *old, size_t size), (old, size), NULL, ENOMEM)
WRAP(void *, aligned_alloc, (size_t align, size_t size), (align, size), NULL, ENOMEM)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, EMFILE)
WRAP(FILE *, fopen64, (const char *path, const char *mode), (path, mode), NULL, EMFILE)
WRAP(int, fseek, (FILE * file, long offset, int whence), (file, offset, whence), -1, EIO)
WRAP(long, ftell, (FILE * file), (file), -1, EIO)
WRAP(int, fstat64, (int file, struct stat64 *facts), (file, facts), -1, EIO)
WRAP(int, lstat64, (const char *path, struct stat64 *facts), (path, facts), -1, EACCES)
WRAP(int, stat64, (const char *path, struct stat64 *facts), (path, facts), -1, EACCES)
WRAP(int, fchmod, (int file, mode_t mode), (file, mode), -1, EPERM)
WRAP(int, mkstemp64, (char *name), (name), -1, EACCES)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1, EACCES)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *kind, void *(*run)(void *), void *argument),
     (thread, kind, run, argument), EAGAIN, 0)

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    return hard("open64", EMFILE) ? -1 : __real_open64(path, flags); /* none here creates */
}

/* The file is closed all the same, as Linux does. */
int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file)
{
    const int reads = (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY;
    const int failed = hard(reads ? "close of an input" : "close", EIO);
    const int status = __real_close(file);
    if (failed)
        errno = EIO;
    return failed ? -1 : status;
}

size_t __real_fread(void *to, size_t size, size_t count, FILE *file);
size_t __wrap_fread(void *to, size_t size, size_t count, FILE *file);
size_t __wrap_fread(void *to, size_t size, size_t count, FILE *file)
{
    if (!hard("fread", EIO))
        return __real_fread(to, size, count, file);
    unreadable = file;
    return 0;
}

int __real_ferror(FILE *file);
int __wrap_ferror(FILE *file);
int __wrap_ferror(FILE *file)
{
    return file == unreadable || __real_ferror(file);
}

#define WRAP_TRANSFER(name, pointer)                                                     \
    ssize_t __real_##name(int file, pointer data, size_t bytes, off64_t offset);         \
    ssize_t __wrap_##name(int file, pointer data, size_t bytes, off64_t offset);         \
    ssize_t __wrap_##name(int file, pointer data, size_t bytes, off64_t offset)          \
    {                                                                                    \
        if (fails(#name)) {                                                              \
            if (fault == SHORT)                                                          \
                return __real_##name(file, data, bytes > 1 ? bytes / 2 : bytes, offset); \
            errno = fault == FAILS ? EIO : EINTR;                                        \
            return -1;                                                                   \
        }                                                                                \
        return __real_##name(file, data, bytes, offset);                                 \
    }

WRAP_TRANSFER(pread64, void *)
WRAP_TRANSFER(pwrite64, const void *)

#ifdef ROPE_TOOL_CONFIG
static void *counted(size_t size)
{
    return malloc(size);
}
#endif

/* ---- Files ----------------------------------------------------------------------------------- */

static int report = -1; /* where standard error was */
static int failures;

static void wrong(const char *what, ...) __attribute__((format(printf, 1, 2)));
static void wrong(const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    vdprintf(report, what, arguments);
    va_end(arguments);
    failures++;
}

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        abort();
}

/* The bytes of a file, at most `room`; SIZE_MAX if there is none. */
static size_t read_file(const char *path, char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return SIZE_MAX;
    const size_t size = fread(to, 1, room, file);
    (void)fclose(file);
    return size;
}

static size_t put(char *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)(value >> 8 * i & 0xff);
    return bytes;
}

static size_t put_text(char *at, const char *text)
{
    const size_t length = strlen(text);
    put(at, length, 8);
    memcpy(at + 8, text, length);
    return 8 + length;
}

/* q.npy, k.npy: f32 [4, 2, 8] and [4, 1, 8] */
static void make_npy(const char *path, const char *shape, size_t count)
{
    char file[1024] = "\x93NUMPY\x01";
    char header[119];
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }",
             shape);
    file[8] = 118;
    memset(file + 10, ' ', 118);
    memcpy(file + 10, header, strlen(header));
    file[127] = '\n';
    for (size_t i = 0; i < count; i++) {
        const float value = (float)i / 16;
        memcpy(file + 128 + 4 * i, &value, 4);
    }
    write_file(path, file, 128 + 4 * count);
}

static void make_gguf(void)
{
    char file[1024] = "GGUF";
    size_t at = 4;
    at += put(file + at, 3, 4);
    at += put(file + at, 1, 8); /* tensors */
    at += put(file + at, 8, 8); /* pairs */
    at += put_text(file + at, "general.alignment");
    at += put(file + at, 4, 4);
    at += put(file + at, 32, 4);
    at += put_text(file + at, "a.i16");
    at += put(file + at, 3, 4);
    at += put(file + at, 7, 2);
    at += put_text(file + at, "a.i64");
    at += put(file + at, 11, 4);
    at += put(file + at, 7, 8);
    at += put_text(file + at, "a.f64");
    at += put(file + at, 12, 4);
    at += put(file + at, 0, 8);
    at += put_text(file + at, "general.architecture");
    at += put(file + at, 8, 4);
    at += put_text(file + at, "gemma3");
    at += put_text(file + at, "gemma3.attention.key_length");
    at += put(file + at, 4, 4);
    at += put(file + at, 8, 4);
    at += put_text(file + at, "gemma3.attention.sliding_window_pattern");
    at += put(file + at, 9, 4); /* an array of two u8 */
    at += put(file + at, 0, 4);
    at += put(file + at, 2, 8);
    at += put(file + at, 1, 2);
    at += put_text(file + at, "tokenizer.ggml.tokens"); /* an array of texts, left out */
    at += put(file + at, 9, 4);
    at += put(file + at, 8, 4);
    at += put(file + at, 1, 8);
    at += put_text(file + at, "token");
    at += put_text(file + at, "rope_freqs.weight");
    at += put(file + at, 1, 4);
    at += put(file + at, 4, 8);
    at += put(file + at, 0, 4);
    at += put(file + at, 0, 8);
    at = (at + 31) / 32 * 32;
    for (size_t i = 0; i < 4; i++) {
        const float divisor = (float)(i + 1);
        memcpy(file + at, &divisor, 4);
        at += 4;
    }
    write_file("model.gguf", file, at);
}

static void make_safetensors(void)
{
    static const char header[] =
        "{\"model.layers.0.self_attn.q_proj.weight\":"
        "{\"dtype\":\"F16\",\"shape\":[8,2],\"data_offsets\":[0,32]},"
        "\"model.layers.0.self_attn.k_proj.weight\":"
        "{\"dtype\":\"F16\",\"shape\":[8,2],\"data_offsets\":[32,64]},"
        "\"model.norm.weight\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[64,68]}}";
    char file[512];
    size_t at = put_text(file, header);
    for (size_t i = 0; i < 68; i++)
        file[at++] = (char)i;
    write_file("in.safetensors", file, at);
}

/* ---- Commands -------------------------------------------------------------------------------- */

enum { ARGUMENTS = 24, OUTPUTS = 2, ROOM = 1 << 18 };

static const struct command {
    const char *arguments[ARGUMENTS];
    const char *outputs[OUTPUTS];
} commands[] = {
    {{"table", "--positions", "0:5", "--rotary-dim", "8", "table.npy"}, {"table.npy"}},
    {{"table", "--positions", "p.npy", "--rotary-dim", "8", "--inv-freq", "f.npy", "--layout",
      "dup-half", "--dtype", "f16", "table.npy"},
     {"table.npy"}},
    {{"apply", "--q", "q.npy", "--q-out", "q-out.npy", "--k", "k.npy", "--k-out", "k-out.npy",
      "--positions", "7", "--threads", "3"},
     {"q-out.npy", "k-out.npy"}},
    {{"verify", "--q", "q.npy", "--q-out", "q-done.npy", "--k", "k.npy", "--k-out", "k-done.npy",
      "--positions", "7"},
     {NULL}},
    {{"verify", "q.npy", "q.npy"}, {NULL}},
    {{"check"}, {NULL}},
#ifdef ROPE_TOOL_CONFIG
    {{"apply", "--q", "q.npy", "--q-out", "q-out.npy", "--positions", "7", "--config",
      "config.json"},
     {"q-out.npy"}},
    {{"config", "config.json"}, {NULL}},
    {{"config", "model.gguf"}, {NULL}},
    {{"inspect", "-o", "page.html", "config.json"}, {"page.html"}},
    {{"inspect", "model.gguf"}, {NULL}},
    {{"permute", "in.safetensors", "out.safetensors", "--from", "half", "--to", "interleaved",
      "--config", "config.json"},
     {"out.safetensors"}},
    {{"permute", "model.safetensors.index.json", "to/model.safetensors.index.json", "--from",
      "half", "--to", "interleaved", "--config", "config.json"},
     {"to/model.safetensors.index.json", "to/in.safetensors"}},
#endif
};

static int run(const struct command *command)
{
    char *arguments[ARGUMENTS + 2] = {(char *)(uintptr_t) "rope"};
    int count = 1;
    for (; count <= ARGUMENTS && command->arguments[count - 1] != NULL; count++)
        arguments[count] = (char *)(uintptr_t)command->arguments[count - 1];
    if (freopen("stdout", "w", stdout) == NULL || freopen("stderr", "w", stderr) == NULL)
        abort();
    unreadable = NULL;
    faulty = NULL;
    made = 0;
    counts = 1;
    const int status = tool_main(count, arguments);
    counts = 0;
    fflush(stderr);
    return status;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static char wanted[OUTPUTS + 1][ROOM], got[ROOM];
static size_t wanted_size[OUTPUTS + 1];

static int is_whole(const char *path, size_t which)
{
    const size_t size = read_file(path, got, ROOM);
    return size == wanted_size[which] && memcmp(got, wanted[which], size) == 0;
}

static void check_failure(const struct command *command, const char *name)
{
    const size_t size = read_file("stderr", got, ROOM - 1);
    got[size] = '\0';
    const char *end = memchr(got, '\n', size);
    if (strncmp(got, "rope: ", 6) != 0 || end != got + size - 1)
        wrong("%s: %s: not one line: %s\n", name, faulty, got);
    for (size_t i = 0; i < OUTPUTS && command->outputs[i] != NULL; i++)
        /* files are renamed one by one: what has its name by then is whole */
        if (access(command->outputs[i], F_OK) == 0 &&
            (strcmp(faulty, "rename") != 0 || !is_whole(command->outputs[i], i)))
            wrong("%s: %s: %s was left\n", name, faulty, command->outputs[i]);
}

/* Calls whose failure changes nothing: a thread less, the permissions of a file that is new. */
static int may_fail(void)
{
    static const char *const calls[] = {"pthread_create", "lstat64", "stat64", "close of an input"};
    int may = fault != FAILS;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        may |= strcmp(faulty, calls[i]) == 0;
    return may;
}

static void check_success(const struct command *command, const char *name)
{
    if (!may_fail())
        wrong("%s: %s: not reported\n", name, faulty);
    for (size_t i = 0; i < OUTPUTS && command->outputs[i] != NULL; i++)
        if (!is_whole(command->outputs[i], i))
            wrong("%s: %s: %s is not what it must be\n", name, faulty, command->outputs[i]);
    if (!is_whole("stdout", OUTPUTS))
        wrong("%s: %s: another standard output\n", name, faulty);
    if (read_file("stderr", got, ROOM) != 0)
        wrong("%s: %s: standard error of a success\n", name, faulty);
}

/* Faults the calls of one command in turn; how many there were. */
static size_t fault_each(const struct command *command, const char *name)
{
    for (size_t n = 1;; n++) {
        for (size_t i = 0; i < OUTPUTS && command->outputs[i] != NULL; i++)
            (void)unlink(command->outputs[i]);
        fail_at = n;
        const int status = run(command);
        if (faulty == NULL) { /* all have failed once */
            if (status != 0)
                wrong("%s: status %d without a fault\n", name, status);
            return n - 1;
        }
        if (status == 0)
            check_success(command, name);
        else if (status != 2)
            wrong("%s: %s: status %d\n", name, faulty, status);
        else if (fault != FAILS)
            wrong("%s: %s: an interruption is no failure\n", name, faulty);
        else
            check_failure(command, name);
    }
}

static void check_command(const struct command *command, size_t *total)
{
    char name[80];
    snprintf(name, sizeof name, "%s %s", command->arguments[0],
             command->arguments[1] != NULL ? command->arguments[1] : "");
    fail_at = 0;
    if (run(command) != 0) {
        const size_t size = read_file("stderr", got, ROOM - 1);
        wrong("%s fails: %.*s", name, (int)size, got);
        return;
    }
    for (size_t i = 0; i < OUTPUTS && command->outputs[i] != NULL; i++)
        wanted_size[i] = read_file(command->outputs[i], wanted[i], ROOM);
    wanted_size[OUTPUTS] = read_file("stdout", wanted[OUTPUTS], ROOM);
    for (fault = FAILS; fault <= SHORT; fault++)
        *total += fault_each(command, name);
}

/* ---- Wrong files ----------------------------------------------------------------------------- */

/* Names of tensors that permute has an opinion about, in place of those of in.safetensors. */
static const char *const names[] = {
    "model.layers.0.self_attn.q_proj.weight",
    "model.layers.1.self_attn.k_proj.bias",
    "model.layers.0.self_attn.qkv_proj.weight",
    "transformer.h.0.attn.c_attn.weight",
    "transformer.h.0.self_attention.query_key_value.weight",
    "gpt_neox.layers.0.attention.query_key_value.bias",
    "model.layers.0.self_attn.q_norm.weight",
    "model.layers.0.self_attn.k_norm.weight",
    "model.layers.0.self_attn.q_a_proj.weight",
    "model.layers.0.self_attn.q_b_proj.weight",
    "model.layers.0.self_attn.kv_a_proj_with_mqa.weight",
    "model.layers.7.self_attn.q_proj.weight",
    "model.layers.x.self_attn.q_proj.weight",
    "model.layers.1234567.self_attn.q_proj.weight",
    "layers..self_attn.q_proj.weight",
    "model.layers.0.self_attn.q_proj.lora_A.weight",
    "model.layers.0.self_attn.q_proj.lora_B.weight",
    "model.layers.0.self_attn.q_proj.base_layer.weight",
    "model.layers.0.self_attn.q_proj.weight_scale",
    "model.layers.0.self_attn.q_proj.qweight",
    "model.layers.0.self_attn.q_proj.norms.weight",
    "model.layers.0.self_attn.q_proj",
    "a_name_of_more_than_two_hundred_characters.which_messages_cut.which_messages_cut."
    "which_messages_cut.which_messages_cut.which_messages_cut.which_messages_cut.which_messages_"
    "cut."
    "which_messages_cut.layers.0.self_attn.q_proj.weight",
    "vision_tower.layers.0.self_attn.q_proj.weight",
    "q_proj.weight",
    "q_proj",
    "",
    "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q_proj"};

static const char *const configs[] = {
    "{\"model_type\": \"llama\", \"head_dim\": 8, \"num_hidden_layers\": 2}",
    "{\"model_type\": \"gpt_neox\", \"hidden_size\": 16, \"num_attention_heads\": 2}",
    "{\"model_type\": \"falcon\", \"hidden_size\": 16, \"num_attention_heads\": 2,"
    " \"multi_query\": true, \"new_decoder_architecture\": false}",
    "{\"model_type\": \"falcon\", \"hidden_size\": 16, \"num_attention_heads\": 2,"
    " \"num_kv_heads\": 1, \"new_decoder_architecture\": true}",
    "{\"model_type\": \"chatglm\", \"hidden_size\": 16, \"num_attention_heads\": 2,"
    " \"kv_channels\": 8, \"multi_query_attention\": true, \"multi_query_group_num\": 1}",
    "{\"model_type\": \"codegen\", \"n_embd\": 16, \"n_head\": 2, \"rotary_dim\": 8}",
    "{\"model_type\": \"phi3\", \"hidden_size\": 16, \"num_attention_heads\": 2,"
    " \"num_key_value_heads\": 1}",
    "{\"model_type\": \"qwen3_next\", \"head_dim\": 8, \"num_attention_heads\": 1}",
    "{\"model_type\": \"qwen3\", \"head_dim\": 8, \"num_attention_heads\": 1000000}",
    "{\"model_type\": \"deepseek_v3\", \"qk_rope_head_dim\": 4, \"qk_nope_head_dim\": 4,"
    " \"num_attention_heads\": 1, \"kv_lora_rank\": 4}",
    "{\"model_type\": \"falcon\", \"hidden_size\": 16, \"num_attention_heads\": 2,"
    " \"multi_query\": true, \"new_decoder_architecture\": true, \"num_kv_heads\": 3}",
    "{\"model_type\": \"falcon\", \"hidden_size\": 24, \"num_attention_heads\": 3,"
    " \"num_kv_heads\": 2, \"new_decoder_architecture\": true}",
    "{\"model_type\": \"phi3\", \"head_dim\": 8, \"num_attention_heads\": 2,"
    " \"num_key_value_heads\": 0, \"multi_query_group_num\": \"x\"}",
    "{\"model_type\": \"phi3\", \"head_dim\": 8, \"num_attention_heads\": 2097152}",
    "{\"model_type\": \"qwen3_5_text\", \"head_dim\": 8, \"num_attention_heads\": 1}",
    "{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"gemma3_text\","
    " \"head_dim\": 8, \"num_hidden_layers\": 6, \"num_attention_heads\": 1}}",
    "{\"model_type\": \"exaone4\", \"head_dim\": 8, \"num_hidden_layers\": 2,"
    " \"layer_types\": [\"sliding_attention\", \"full_attention\"]}",
};

static const struct command any_permute = {{"permute", "odd.safetensors", "odd-out.safetensors",
                                            "--from", "half", "--to", "interleaved", "--config",
                                            "odd.json"},
                                           {"odd-out.safetensors"}};

/* A run with files that may be wrong: done, or one line and nothing written. */
static size_t run_wrong(const struct command *command, const char *what, size_t at)
{
    char name[120];
    snprintf(name, sizeof name, "%s %s, %s %zu", command->arguments[0],
             command->arguments[1] != NULL ? command->arguments[1] : "", what, at);
    for (size_t i = 0; i < OUTPUTS && command->outputs[i] != NULL; i++)
        (void)unlink(command->outputs[i]);
    fail_at = 0;
    const int status = run(command);
    faulty = "a wrong file";
    if (status == 2)
        check_failure(command, name);
    else if (status != 0 && status != 1)
        wrong("%s: status %d\n", name, status);
    else if (read_file("stderr", got, ROOM) != 0)
        wrong("%s: standard error of a success\n", name);
    return status == 2;
}

static void corrupt_each(const struct command *command, const char *path, size_t *total)
{
    static const unsigned char others[] = "\0\1\x7f\x80\xc3\xff\t\n 09aE\"'\\{}[](),:.-eu";
    static char good[ROOM], bad[ROOM];
    static size_t number;
    const size_t size = read_file(path, good, ROOM), step = getenv("ROPE_TEST_REDUCED") ? 7 : 4;
    size_t refused = 0;
    for (size_t at = 0; at < size; at++) {
        memcpy(bad, good, size);
        for (size_t i = 0; i < sizeof others - 1; i++) {
            if (number++ % step != 0)
                continue;
            bad[at] = (char)others[i];
            write_file(path, bad, size);
            refused += run_wrong(command, path, at);
        }
        write_file(path, good, at); /* ends here */
        refused += run_wrong(command, path, at);
    }
    write_file(path, good, size);
    if (refused < size)
        wrong("%s: only %zu refusals\n", path, refused);
    *total += refused;
}

/* Every name with every configuration, in several shapes. */
static void try_names(void)
{
    static const struct {
        const char *shape;
        int bytes;
    } shapes[] = {{"8,2", 32}, {"16,2", 64}, {"24", 48}, {"32,2", 128}, {"0,2", 0}, {"2,2,2", 16}};
    size_t done = 0;
    for (size_t c = 0; c < sizeof configs / sizeof *configs; c++) {
        write_file("odd.json", configs[c], strlen(configs[c]));
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                char header[700], file[1400];
                const int bytes = shapes[i].bytes;
                snprintf(
                    header, sizeof header,
                    "{ \"%s\" :\t{\"dtype\":\"F16\",\r\n\"shape\":[%s],\"data_offsets\":[0,%d]},"
                    "\"model.layers.0.self_attn.k_proj.weight\":{\"dtype\":\"F16\","
                    "\"shape\":[8],\"data_offsets\":[%d,%d]}}",
                    names[n], shapes[i].shape, bytes, bytes, bytes + 16);
                const size_t at = put_text(file, header);
                memset(file + at, 1, (size_t)bytes + 16);
                write_file("odd.safetensors", file, at + (size_t)bytes + 16);
                done += !run_wrong(&any_permute, names[n], c);
            }
        }
    }
    if (done < 20)
        wrong("only %zu of the names were known\n", done);
}

/* A page about a file whose name is text in every form of UTF-8, and none. */
static void try_page(void)
{
    static const char *const bad[] = {"\xff",
                                      "\xc0\x80",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf0\x80\x80\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xc2\x80",
                                      "\xe9\xaa",
                                      "\xf1\x9f\x98",
                                      "\x7f",
                                      "\x1b"};
    static const char text[] = "\xc3\xa9\xe8\xaa\x9e\xf0\x9f\x98\x80"; /* of 2, 3 and 4 bytes */
    static const char replaced[] = "&#xfffd;";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char path[64], page_path[] = "odd.html";
        snprintf(path, sizeof path, "%s%s'.json", text, bad[i]);
        write_file(path, configs[0], strlen(configs[0]));
        const struct command command = {{"inspect", "-o", page_path, path}, {page_path}};
        if (run_wrong(&command, "a name", i) != 0) {
            wrong("page %zu: refused\n", i);
            continue;
        }
        static char page[ROOM];
        const size_t size = read_file(page_path, page, ROOM - 1);
        page[size] = '\0';
        if (strstr(page, text) == NULL || strstr(page, replaced) == NULL ||
            strstr(page, bad[i]) != NULL || strstr(page, "&#39;.json") == NULL)
            wrong("page %zu: a name is not as it must be\n", i);
        (void)unlink(path);
    }
}

int main(void)
{
    static const char config[] =
        "{\"model_type\": \"llama\", \"head_dim\": 8, \"num_hidden_layers\": 2,"
        " \"max_position_embeddings\": 2048, \"rope_theta\": 10000.0, \"num_attention_heads\": 1,"
        " \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0,"
        " \"original_max_position_embeddings\": 512}}";
    static const char index[] =
        "{\"weight_map\": {\"model.layers.0.self_attn.q_proj.weight\": \"in.safetensors\","
        " \"model.layers.0.self_attn.k_proj.weight\": \"in.safetensors\","
        " \"model.norm.weight\": \"in.safetensors\"}}";
    char directory[] = "/tmp/rope-faults-XXXXXX";
    size_t total = 0;
    report = dup(STDERR_FILENO);
    if (report < 0 || mkdtemp(directory) == NULL || chdir(directory) != 0 || mkdir("to", 0700) != 0)
        return 1;
    make_npy("q.npy", "(4, 2, 8)", 64);
    make_npy("k.npy", "(4, 1, 8)", 32);
    make_npy("p.npy", "(5,)", 5);
    make_npy("f.npy", "(4,)", 4);
    make_gguf();
    make_safetensors();
    write_file("config.json", config, sizeof config - 1);
    write_file("model.safetensors.index.json", index, sizeof index - 1);
#ifdef ROPE_TOOL_CONFIG
    json_set_alloc_funcs(counted, free);
#endif
    static const struct command prepare = {{"apply", "--q", "q.npy", "--q-out", "q-done.npy", "--k",
                                            "k.npy", "--k-out", "k-done.npy", "--positions", "7"},
                                           {NULL}};
    if (run(&prepare) != 0)
        wrong("apply fails\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        check_command(&commands[i], &total);
    size_t refused = 0;
    static const struct command with_npy = {
        {"apply", "--q", "q.npy", "--q-out", "q-out.npy", "--positions", "7"}, {"q-out.npy"}};
    corrupt_each(&with_npy, "q.npy", &refused);
#ifdef ROPE_TOOL_CONFIG
    static const struct command with_gguf = {{"config", "model.gguf"}, {NULL}};
    static const struct command with_shards = {
        {"permute", "model.safetensors.index.json", "to/model.safetensors.index.json", "--from",
         "half", "--to", "interleaved", "--config", "config.json"},
        {"to/model.safetensors.index.json", "to/in.safetensors"}};
    static const struct command with_one = {{"permute", "in.safetensors", "out.safetensors",
                                             "--from", "half", "--to", "interleaved", "--config",
                                             "config.json"},
                                            {"out.safetensors"}};
    corrupt_each(&with_gguf, "model.gguf", &refused);
    corrupt_each(&with_one, "in.safetensors", &refused);
    corrupt_each(&with_one, "config.json", &refused);
    corrupt_each(&with_shards, "model.safetensors.index.json", &refused);
    try_names();
    try_page();
#endif
    dprintf(report, "%zu refusals\n", refused);
    if (system("ls -A | grep -q '^[.]rope-'") == 0 || system("ls -A to | grep -q '^[.]rope-'") == 0)
        wrong("a temporary file was left\n");
    if (total < 700)
        wrong("only %zu faults: the calls are not ours\n", total);
    dprintf(report, "%zu faults, %d failures\n", total, failures);
    if (chdir("/") != 0)
        return 1;
    char clean[64];
    snprintf(clean, sizeof clean, "rm -rf %s", directory);
    return system(clean) != 0 || failures != 0;
}
