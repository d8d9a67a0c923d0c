/* SPDX-License-Identifier: Apache-2.0 */
/* Inverse frequencies and what follows from them; the same bits on every platform. */
#ifndef ROPE_FREQUENCY_H
#define ROPE_FREQUENCY_H

#include "wide.h"
#include <stddef.h>

/*
 * One function per published rule; each fills freq[0..pairs-1], radians per position.  d = 2 pairs,
 * e_i = theta^(-2 i / d). Powers of the parameters alone (DEFAULT, LINEAR, NTK, PROPORTIONAL) are
 * the double-double nearest to the value of the rule, up to a relative error of 2^-200; the other
 * rules are off by at most 2^-100 of the value.  Where hi or lo is subnormal the absolute error is
 * below 2^-1073; beyond f64 hi is infinite or NaN. Arguments were checked by the caller; 1 <= pairs
 * < 2^32.
 */

/* f_i = e_i.  RoFormer (arXiv:2104.09864), section 3.3. */
void rope_frequency_default(rope_dd *freq, size_t pairs, double theta);

/* f_i = e_i / factor.  Position interpolation (arXiv:2306.15595), equation 4. */
void rope_frequency_linear(rope_dd *freq, size_t pairs, double theta, double factor);

/* f_i = inv_freq[i], the caller's own. */
void rope_frequency_custom(rope_dd *freq, size_t pairs, const double *inv_freq);

/* freq[i] /= divisors[i]; an infinite divisor gives 0.  GGUF rope_freqs: ggml's freq_factors. */
void rope_frequency_divide(rope_dd *freq, size_t pairs, const double *divisors);

/*
 * f_i = theta'^(-2 i / d), theta' = theta factor^(d / (d - 2)), pairs > 1.  "NTK-aware scaled RoPE"
 * (bloc97, 2023); YaRN (arXiv:2309.00071), section 3.1.
 */
void rope_frequency_ntk(rope_dd *freq, size_t pairs, double theta, double factor);
double rope_frequency_ntk_theta(size_t pairs, double theta, double factor); /* theta' as f64 */

/*
 * theta' = theta (factor length / max_length - (factor - 1))^(d / (d - 2)) where length >
 * max_length, else theta; pairs > 1. "Dynamic NTK" (emozilla, 2023); transformers, `dynamic`.
 * Lengths below 2^53.
 */
void rope_frequency_dynamic_ntk(rope_dd *freq, size_t pairs, double theta, double factor,
                                size_t length, size_t max_length);
double rope_frequency_dynamic_ntk_theta(size_t pairs, double theta, double factor, size_t length,
                                        size_t max_length);

/*
 * f_i = e_i / exp(a (i + 1)^exponent), a = ln factor / (d / 2)^exponent.  "Mixed NTK" (Su, 2023);
 * vLLM, `ntk` with mixed_b.
 */
void rope_frequency_ntk_mixed(rope_dd *freq, size_t pairs, double theta, double factor,
                              double exponent);

/*
 * Where the ramp of YaRN begins and ends, in pairs:  c(beta) = d ln(original_length / (beta 2 pi))
 * / (2 ln theta), low = max(floor c(beta_fast), 0), high = min(ceil c(beta_slow), d - 1), floor and
 * ceil left out with no_truncate; where both are equal high is 0.001 more.  In f64, operation by
 * operation as written by transformers, with correctly rounded logarithms: that decides floor and
 * ceil.  begin and end are -log2 of e_i at the same ends, not rounded to f64.  Low and high are not
 * finite where no c is.  theta > 1.
 */
struct rope_ramp {
    double low, high;
    rope_wide begin, end;
};
struct rope_ramp rope_frequency_yarn_ramp(size_t pairs, double theta, double original_length,
                                          double beta_fast, double beta_slow, int no_truncate);

/*
 * f_i = e_i / factor r_i + e_i (1 - r_i), r_i = (i - low) / (high - low), at least 0 and at most 1;
 * exactly e_i and e_i / factor at these two.  YaRN (arXiv:2309.00071), section 3.2.  low < high.
 */
void rope_frequency_yarn(rope_dd *freq, size_t pairs, double theta, double factor,
                         struct rope_ramp ramp);

/* f_i = e_i / divisors[i].  LongRoPE (arXiv:2402.13753), section 3.1. */
void rope_frequency_longrope(rope_dd *freq, size_t pairs, double theta, const double *divisors);

/*
 * With n_i = original_length e_i / (2 pi), the turns of the pair over the original context, f_i is
 * e_i where n_i >= high, else e_i / factor where n_i <= low, else (1 - t) e_i / factor + t e_i, t =
 * (n_i - low) / (high - low). Llama 3.1 (meta-llama/llama-models, models/llama3/model.py,
 * apply_scaling).  0 < low <= high.
 */
void rope_frequency_llama3(rope_dd *freq, size_t pairs, double theta, double factor, double low,
                           double high, double original_length);

/*
 * f_i = e_i / factor for i < active_pairs, else 0; d is the whole head.  Gemma 4; transformers,
 * `proportional`.
 */
void rope_frequency_proportional(rope_dd *freq, size_t pairs, double theta, double factor,
                                 size_t active_pairs);

/*
 * f_i = scale theta^(-i / (pairs - shift)), 0 <= shift < pairs.  Vaswani et al., arXiv:1706.03762,
 * section 3.5 (shift 0); tensor2tensor, whence fairseq and Whisper (shift 1); diffusers,
 * get_timestep_embedding (downscale_freq_shift).
 */
void rope_frequency_sinusoid(rope_dd *freq, size_t pairs, double theta, double shift, double scale);

/*
 * Factors beside the frequencies, correctly rounded up to 2^-95 of an ulp or so.
 *   yarn:     g(k) = 1 + log_weight k ln factor, 1 where factor <= 1;  m = g(mscale) /
 *   g(mscale_all_dim).  The softmax of
 *             DeepSeek is scaled by g(mscale_all_dim)^2.  YaRN, section 3.4; DeepSeek-V2
 *             (modeling_deepseek.py)
 *   longrope: m = sqrt(1 + ln factor / ln original_length), 1 where factor <= 1.  LongRoPE in Phi-3
 *   (modeling_phi3.py)
 */
double rope_attention_yarn(double factor, double log_weight, double mscale, double mscale_all_dim);
double rope_softmax_yarn(double factor, double log_weight, double mscale_all_dim);
double rope_attention_longrope(double factor, double original_length);

/* f / (2 pi): turns per position, with a relative error below 2^-101 unless lo is subnormal. */
rope_dd rope_frequency_turns(rope_dd freq);

/*
 * cos and sin of 2 pi turns for any |turns| < 2^53: the nearest double-doubles, up to an absolute
 * error of 2^-210.
 */
void rope_frequency_rotation(rope_dd turns, rope_dd *cos_out, rope_dd *sin_out);

#endif
