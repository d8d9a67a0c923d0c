/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the cases and sets up their jobs.  Knows nothing of Google Benchmark. */
#include "case.h"
#include "team.h"
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <sys/mman.h>

namespace
{

constexpr size_t context = 131072; /* positions of decode and row, and the longest table */
constexpr size_t largest = size_t{704} << 20; /* bytes of one buffer: 32,768 tokens in f32 fit */
constexpr double theta = 500000;
constexpr size_t q_heads = 32, k_heads = 8, head_dim = 128; /* Llama-3-8B */
const size_t lengths[] = {1, 16, 128, 512, 2048, 8192, 32768};

size_t size_of(rope_dtype dtype)
{
    return dtype == ROPE_F64 ? 8 : dtype == ROPE_F32 ? 4 : 2;
}

const char *word(rope_dtype dtype)
{
    return dtype == ROPE_F64   ? "f64"
           : dtype == ROPE_F32 ? "f32"
           : dtype == ROPE_F16 ? "f16"
                               : "bf16";
}

const char *word(job what)
{
    static const char *const words[] = {"apply", "apply_rows", "decode", "shift",   "mla",
                                        "mrope", "part",       "copy",   "partial", "sinusoid",
                                        "call",  "table",      "row",    "rows"};
    return words[static_cast<size_t>(what)];
}

size_t head_dim_of(const description &description)
{
    return description.what == job::mla       ? 192
           : description.what == job::partial ? head_dim
                                              : description.rotary_dim;
}

/* ---- Memory that all cases share ---------------------------------------------------------------- */

uint64_t random_word()
{
    static std::mt19937_64 generator(1);
    return generator();
}

/* Values whose magnitude is in 0.5..1, which rotation keeps: no case meets subnormals. */
void fill_values(char *from, size_t bytes, rope_dtype dtype)
{
    uint64_t random_bits, fixed;
    switch (dtype) {
    case ROPE_F64:
        random_bits = 0x800fffffffffffff, fixed = 0x3fe0000000000000;
        break;
    case ROPE_F32:
        random_bits = 0x807fffff807fffff, fixed = 0x3f0000003f000000;
        break;
    case ROPE_F16:
        random_bits = 0x83ff83ff83ff83ff, fixed = 0x3800380038003800;
        break;
    default:
        random_bits = 0x807f807f807f807f, fixed = 0x3f003f003f003f00;
        break;
    }
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        const uint64_t bits = (random_word() & random_bits) | fixed;
        std::memcpy(from + i, &bits, 8);
    }
}

constexpr size_t block = size_t{1} << 20;

/* One buffer for each element type and purpose, made and filled as far as anyone needed it. */
class buffer
{
  public:
    char *at_least(size_t bytes, rope_dtype dtype)
    {
        if (base_ == nullptr) {
            void *const memory = mmap(nullptr, largest, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED || bytes > largest) {
                std::fprintf(stderr, "no memory for %zu bytes\n", bytes);
                std::exit(1);
            }
            base_ = static_cast<char *>(memory);
        }
        if (bytes > filled_) {
            /* One block of values again and again, which is quicker to make. */
            if (first_.empty()) {
                first_.resize(block);
                fill_values(first_.data(), block, dtype);
            }
            for (; filled_ < bytes; filled_ += block)
                std::memcpy(base_ + filled_, first_.data(), block);
        }
        return base_;
    }

    void restore(size_t bytes)
    {
        for (size_t i = 0; i < bytes; i += block)
            std::memcpy(base_ + i, first_.data(), std::min(block, bytes - i));
    }

    /* Rotations keep magnitudes, here 0.5 to 1.5; a NaN or a large exponent has come from elsewhere. */
    bool is_sound(rope_dtype dtype) const
    {
        for (size_t i = 0; i + 8 <= std::min(filled_, size_t{1} << 16); i += 8) {
            uint64_t word;
            std::memcpy(&word, base_ + i, 8);
            for (; word != 0; word >>= size_of(dtype) == 8 ? 63 : 8 * size_of(dtype)) {
                const uint64_t exponent = dtype == ROPE_F64   ? word >> 52 & 0x7ff
                                          : dtype == ROPE_F32 ? word >> 23 & 0xff
                                          : dtype == ROPE_F16 ? word >> 10 & 0x1f
                                                              : word >> 7 & 0xff;
                const uint64_t four = dtype == ROPE_F64 ? 1025 : dtype == ROPE_F16 ? 17 : 129;
                if (exponent > four)
                    return false;
            }
        }
        return true;
    }

  private:
    char *base_ = nullptr;
    size_t filled_ = 0;
    std::vector<char> first_; /* the first block as it was filled */
};

/* READY and above: rows for that many elements, by which others must not be overwritten. */
enum { DATA, OUTPUT, ROWS, SUMS, READY };

std::map<std::pair<size_t, rope_dtype>, buffer> &buffers()
{
    static std::map<std::pair<size_t, rope_dtype>, buffer> all;
    return all;
}

char *memory(size_t purpose, rope_dtype dtype, size_t bytes)
{
    return buffers()[{purpose, dtype}].at_least(bytes, dtype);
}

/* Positions of decode: long enough to give each call others. */
const std::vector<int32_t> &random_positions()
{
    static const std::vector<int32_t> positions = [] {
        std::vector<int32_t> values(2 * context);
        for (int32_t &value : values)
            value = static_cast<int32_t>(random_word() % context);
        return values;
    }();
    return positions;
}

[[noreturn]] void fail(const library &library, const char *what, rope_status status,
                       const char *message)
{
    std::fprintf(stderr, "%s (%s): %s %s\n", what, library.name.c_str(),
                 library.status_string(status), message);
    std::exit(1);
}

/* Plans are made once and shared, as their users do. */
const rope_plan *plan_for(const library &library, const description &description)
{
    using owned = std::unique_ptr<rope_plan, decltype(&rope_plan_destroy)>;
    static std::map<std::string, owned> plans;
    static const int32_t sections[] = {16, 24, 24};
    char key[128], message[256] = "";
    std::snprintf(key, sizeof key, "%s %d %d %zu", library.name.c_str(),
                  static_cast<int>(description.what == job::mla        ? 1
                                   : description.what == job::mrope    ? 2
                                   : description.what == job::partial  ? 3
                                   : description.what == job::sinusoid ? 4
                                                                       : 0),
                  description.pairing, description.rotary_dim);
    const auto known = plans.find(key);
    if (known != plans.end())
        return known->second.get();
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = head_dim_of(description);
    spec.rotary_dim = description.rotary_dim;
    spec.rotary_offset = description.what == job::mla ? spec.head_dim - spec.rotary_dim : 0;
    spec.pairing = description.pairing;
    spec.theta = description.what == job::sinusoid ? 0 : theta;
    spec.message = message;
    spec.message_size = sizeof message;
    if (description.what == job::mrope) {
        spec.axis_layout = ROPE_AXES_SECTIONS;
        spec.sections = sections;
        spec.section_count = 3;
    }
    rope_plan *plan;
    const rope_status status = library.plan_create(&spec, &plan);
    if (status != ROPE_OK)
        fail(library, "rope_plan_create", status, message);
    plans.emplace(key, owned(plan, library.plan_destroy));
    return plan;
}

size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

} // namespace

/* ---- The list ----------------------------------------------------------------------------------- */

std::string name_of(const description &d, const std::string &set)
{
    std::string name = std::string(word(d.what)) + "/isa:" + set + "/dtype:" + word(d.dtype);
    if (d.what != job::table && d.what != job::row && d.what != job::rows)
        name += d.pairing == ROPE_HALF ? "/pair:half" : "/pair:interleaved";
    name += "/d:" + std::to_string(d.rotary_dim);
    if (d.q_heads + d.k_heads != 0)
        name += "/hq:" + std::to_string(d.q_heads) + "/hkv:" + std::to_string(d.k_heads);
    return name + "/seq:" + std::to_string(d.tokens);
}

std::vector<description> all_cases()
{
    std::vector<description> cases;
    const rope_pairing pairings[] = {ROPE_HALF, ROPE_INTERLEAVED};
    const rope_dtype dtypes[] = {ROPE_F32, ROPE_BF16, ROPE_F16};

    for (const job what : {job::apply, job::apply_rows, job::decode, job::shift, job::mla,
                           job::mrope, job::part, job::copy, job::sinusoid})
        for (const rope_dtype dtype : dtypes)
            for (const rope_pairing pairing : pairings)
                for (const size_t tokens : lengths) {
                    description d = {what, dtype, pairing, head_dim, q_heads, k_heads, tokens};
                    if (what == job::shift)
                        d.q_heads = 0;
                    if (what == job::mla)
                        d.rotary_dim = 64, d.q_heads = 16, d.k_heads = 1;
                    if (what == job::mrope)
                        d.q_heads = 28, d.k_heads = 4;
                    if (what == job::sinusoid)
                        d.rotary_dim = 1024, d.q_heads = d.k_heads = 0;
                    cases.push_back(d);
                }
    for (const rope_pairing pairing : pairings)
        for (const size_t tokens : {1u, 16u, 128u, 512u, 2048u})
            cases.push_back({job::apply, ROPE_F64, pairing, head_dim, q_heads, k_heads, tokens});

    /* Other widths and numbers of heads. */
    for (const rope_dtype dtype : {ROPE_F32, ROPE_BF16})
        for (const size_t tokens : {1u, 512u}) {
            for (const size_t d : {64u, 80u, 96u, 256u})
                cases.push_back({job::apply, dtype, ROPE_HALF, d, q_heads, k_heads, tokens});
            for (const size_t heads : {8u, 16u, 64u})
                cases.push_back({job::apply, dtype, ROPE_HALF, head_dim, heads, heads / 4, tokens});
            cases.push_back({job::apply, dtype, ROPE_HALF, head_dim, q_heads, 1, tokens});
            cases.push_back({job::partial, dtype, ROPE_HALF, 32, q_heads, k_heads, tokens});
        }
    cases.push_back({job::call, ROPE_F32, ROPE_HALF, 2, 1, 0, 1});

    for (const rope_dtype dtype : {ROPE_F32, ROPE_F64, ROPE_F16, ROPE_BF16}) {
        for (const size_t tokens : lengths)
            cases.push_back({job::table, dtype, ROPE_HALF, head_dim, 0, 0, tokens});
        cases.push_back({job::table, dtype, ROPE_HALF, head_dim, 0, 0, context});
        cases.push_back({job::row, dtype, ROPE_HALF, head_dim, 0, 0, 1});
    }
    return cases;
}

/* ---- One case ----------------------------------------------------------------------------------- */

struct work::state {
    const library *owner;
    description what;
    const rope_plan *plan;
    rope_tensor q = ROPE_TENSOR_INIT, k = ROPE_TENSOR_INIT;
    rope_positions positions[3] = {ROPE_POSITIONS_INIT, ROPE_POSITIONS_INIT, ROPE_POSITIONS_INIT};
    rope_rows rows = ROPE_ROWS_INIT;
    rope_job job_ = ROPE_JOB_INIT;
    rope_sinusoid sinusoid = ROPE_SINUSOID_INIT;
    int64_t difference = -4096;
    size_t turn = 0; /* of the random positions */
    char message[256] = "";
    /* the limit */
    const limits *limit = nullptr;
    region q_region = {}, k_region = {};
    char *output = nullptr; /* table, row and copy */
    const char *input = nullptr;
    size_t output_bytes = 0, data_bytes = 0;
    bool past = false;

    void prepare_table();
    void prepare_sinusoid();
    void prepare_rotation();
    void set_ready_rows();
    void check(rope_status status)
    {
        if (__builtin_expect(status != ROPE_OK, 0))
            fail(*owner, name_of(what, owner->name).c_str(), status, message);
    }
    void limit_part(size_t part, size_t parts) const;
};

void work::state::prepare_table()
{
    const size_t row_bytes = what.rotary_dim * size_of(what.dtype);
    output_bytes = what.tokens * row_bytes;
    output = memory(ROWS, what.dtype, output_bytes);
    rows.dtype = what.dtype;
    rows.layout = ROPE_ROWS_PACKED;
    rows.cos = output;
    rows.count = what.tokens;
    rows.message = message;
    rows.message_size = sizeof message;
}

/* In memory of its own: the sums grow from call to call. */
void work::state::prepare_sinusoid()
{
    const size_t bytes = what.tokens * what.rotary_dim * size_of(what.dtype);
    char *const data = memory(SUMS, what.dtype, bytes);
    sinusoid.dtype = what.dtype;
    sinusoid.tokens = what.tokens;
    sinusoid.positions = positions;
    sinusoid.src = sinusoid.dst = data;
    sinusoid.message = message;
    sinusoid.message_size = sizeof message;
    q_region = {data, 1, bytes, 0};
}

/* Rows as a table over all positions of the job: row t for token t. */
void work::state::set_ready_rows()
{
    rows.dtype = what.dtype == ROPE_F64 ? ROPE_F64 : ROPE_F32;
    rows.layout = ROPE_ROWS_PACKED;
    rows.count = what.tokens;
    rows.cos = memory(READY + 2 * what.rotary_dim + (what.what == job::mrope), rows.dtype,
                      what.tokens * what.rotary_dim * size_of(rows.dtype));
    check(owner->cos_sin(plan, positions, what.tokens, &rows));
    job_.rows = &rows;
    job_.positions = nullptr;
}

void work::state::prepare_rotation()
{
    const size_t head = head_dim_of(what), size = size_of(what.dtype);
    const size_t k_head = what.what == job::mla ? what.rotary_dim : head;
    const size_t q_bytes = round_up(what.tokens * what.q_heads * head * size);
    const size_t k_bytes = round_up(what.tokens * what.k_heads * k_head * size);
    data_bytes = q_bytes + k_bytes;
    char *const data = memory(DATA, what.dtype, data_bytes);
    char *const result =
        what.what == job::copy ? memory(OUTPUT, what.dtype, q_bytes + k_bytes) : data;
    q.dtype = k.dtype = what.dtype;
    q.heads = what.q_heads, q.src = data, q.dst = result;
    k.heads = what.k_heads, k.src = data + q_bytes, k.dst = result + q_bytes;
    if (what.what == job::mla)
        k.head_dim = k_head;
    job_.tokens = what.tokens;
    job_.q = what.q_heads != 0 ? &q : nullptr;
    job_.k = what.k_heads != 0 ? &k : nullptr;
    job_.positions = positions;
    job_.message = message;
    job_.message_size = sizeof message;
    switch (what.what) {
    case job::decode:
        positions[0].dtype = ROPE_I32;
        break;
    case job::shift:
        job_.direction = ROPE_SHIFT;
        positions[0].dtype = ROPE_I64;
        positions[0].data = &difference;
        positions[0].stride_token = 0;
        break;
    default:
        break;
    }
    if (what.what == job::apply_rows || what.ready)
        set_ready_rows();

    /* The limit visits what is rotated; out of place, what is written. */
    const size_t rotated = what.rotary_dim * size;
    const size_t offset = what.what == job::mla ? (head - what.rotary_dim) * size : 0;
    q_region = {data + offset, what.tokens * what.q_heads, rotated, head * size};
    k_region = {data + q_bytes, what.tokens * what.k_heads, rotated, k_head * size};
    for (region *one : {&q_region, &k_region})
        if (one->bytes == one->stride)
            *one = {one->base, 1, one->slices * one->bytes, 0};
    if (what.what == job::copy)
        output = result, input = data, output_bytes = q_bytes + k_bytes;
}

void check_memory()
{
    for (const auto &one : buffers())
        if (one.first.first == DATA && !one.second.is_sound(one.first.second)) {
            std::fprintf(stderr, "\nthe %s data are no longer what they were\n",
                         word(one.first.second));
            std::exit(1);
        }
}

work::work(const library &library, const description &description)
    : state_(new state{&library, description, plan_for(library, description)})
{
    state_->limit = &limits_of(library.active.c_str());
    for (rope_positions &axis : state_->positions)
        axis.start = description.start;
    if (description.what == job::rows)
        state_->positions[0].dtype = ROPE_I32;
    if (description.what == job::table || description.what == job::row ||
        description.what == job::rows)
        state_->prepare_table();
    else if (description.what == job::sinusoid)
        state_->prepare_sinusoid();
    else
        state_->prepare_rotation();
}

work::~work() = default;

void work::restore()
{
    constexpr size_t most = size_t{8} << 20; /* longer jobs are called a few times only */
    const state &s = *state_;
    if (s.job_.tokens != 0 && size_of(s.what.dtype) == 2)
        buffers()[{DATA, s.what.dtype}].restore(std::min(s.data_bytes, most));
}

void work::run()
{
    state &s = *state_;
    const description &d = s.what;
    switch (d.what) {
    case job::table:
        s.check(s.owner->cos_sin(s.plan, s.positions, d.tokens, &s.rows));
        return;
    case job::rows:
        s.positions[0].data = random_positions().data() + s.turn;
        s.turn = (s.turn + d.tokens) % context;
        s.check(s.owner->cos_sin(s.plan, s.positions, d.tokens, &s.rows));
        return;
    case job::row:
        s.positions[0].start = random_positions()[s.turn++ % context];
        s.check(s.owner->cos_sin(s.plan, s.positions, 1, &s.rows));
        return;
    case job::sinusoid:
        s.check(s.owner->sinusoid_add(s.plan, &s.sinusoid));
        return;
    case job::part: {
        rope_status other = ROPE_OK;
        team::shared().run([&](size_t part) {
            const rope_status status = s.owner->rotate_part(s.plan, &s.job_, part, 2);
            if (status != ROPE_OK)
                other = status;
        });
        s.check(other);
        return;
    }
    case job::decode:
        s.positions[0].data = random_positions().data() + s.turn;
        s.turn = (s.turn + d.tokens) % context;
        break;
    default:
        break;
    }
    s.check(s.owner->rotate(s.plan, &s.job_));
}

/* Part `part` of `parts` of the read-modify-write stream. */
void work::state::limit_part(size_t part, size_t parts) const
{
    for (const region *one : {&q_region, &k_region}) {
        region share = *one;
        if (one->slices == 1) {
            const size_t bytes = one->bytes / parts / 64 * 64;
            share.base += part * bytes;
            share.bytes = part + 1 == parts ? one->bytes - part * bytes : bytes;
        } else {
            share.slices = one->slices / parts;
            share.base += part * share.slices * one->stride;
            if (part + 1 == parts)
                share.slices = one->slices - part * share.slices;
        }
        limit->modify(share);
    }
}

void work::run_limit()
{
    const state &s = *state_;
    if (s.what.what == job::part)
        team::shared().run([&](size_t part) { s.limit_part(part, 2); });
    else if (s.output == nullptr)
        s.limit_part(0, 1);
    else if (s.input == nullptr)
        (s.past ? s.limit->fill_past : s.limit->fill)(s.output, s.output_bytes);
    else
        (s.past ? s.limit->copy_past : s.limit->copy)(s.output, s.input, s.output_bytes);
}

/* Writing has two ways, and which is faster depends on size and machine: the limit is the better. */
void work::prepare_limit()
{
    state &s = *state_;
    if (s.output == nullptr)
        return;
    static std::map<std::string, bool> known;
    const auto key = name_of(s.what, s.owner->name);
    const auto found = known.find(key);
    if (found != known.end()) {
        s.past = found->second;
        return;
    }
    double best[2] = {1e30, 1e30};
    const size_t calls = 1 + (size_t{1} << 20) / (s.output_bytes + 1);
    for (int round = 0; round < 6; round++) {
        s.past = round % 2 != 0;
        run_limit();
        const auto start = std::chrono::steady_clock::now();
        for (size_t call = 0; call < calls; call++)
            run_limit();
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        best[s.past] = std::min(best[s.past], time.count());
    }
    known[key] = s.past = best[1] < best[0];
}

void work::choose_limit(bool past)
{
    state_->past = past;
}

double work::bytes() const
{
    const state &s = *state_;
    if (s.output != nullptr)
        return static_cast<double>(s.output_bytes) * (s.input != nullptr ? 2 : 1);
    return 2.0 * static_cast<double>(s.q_region.slices * s.q_region.bytes +
                                     s.k_region.slices * s.k_region.bytes);
}

memory_view work::view() const
{
    const state &s = *state_;
    return {const_cast<void *>(s.q.src),
            s.q.dst,
            const_cast<void *>(s.k.src),
            s.k.dst,
            head_dim_of(s.what),
            s.what.what == job::mla ? s.what.rotary_dim : head_dim_of(s.what),
            s.rows.cos};
}

void work::run_part(size_t part, size_t parts)
{
    const state &s = *state_;
    if (s.owner->rotate_part(s.plan, &s.job_, part, parts) != ROPE_OK)
        std::abort();
}

void work::run_limit_part(size_t part, size_t parts)
{
    state_->limit_part(part, parts);
}

int work::threads() const
{
    return state_->what.what == job::part ? 2 : 1;
}

size_t work::tokens() const
{
    return state_->what.tokens;
}
