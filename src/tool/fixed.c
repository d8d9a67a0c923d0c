/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-point arithmetic by schoolbook methods; libm gives nothing but starting values.  Must not
 * call the library. */
#include "fixed.h"
#include <math.h>

typedef struct tool_fixed fixed;

enum { LIMBS = TOOL_FIXED_LIMBS, BEHIND = TOOL_FIXED_BEHIND };

fixed tool_fixed_from(double value)
{
    fixed result;
    double rest = ldexp(fabs(value), -32 * (LIMBS - BEHIND - 1));
    for (int i = LIMBS; i-- > 0;) {
        result.limb[i] = (uint32_t)rest;
        rest = (rest - result.limb[i]) * 0x1p32;
    }
    return value < 0 ? tool_fixed_negate(result) : result;
}

static int is_negative(fixed a)
{
    return (int)(a.limb[LIMBS - 1] >> 31);
}

static fixed magnitude(fixed a)
{
    return is_negative(a) ? tool_fixed_negate(a) : a;
}

static int is_zero(fixed a)
{
    uint32_t any = 0;
    for (int i = 0; i < LIMBS; i++)
        any |= a.limb[i];
    return any == 0;
}

double tool_fixed_to(fixed value)
{
    const fixed size = magnitude(value);
    double result = 0;
    for (int i = 0; i < LIMBS; i++)
        result = result * 0x1p-32 + size.limb[i];
    result = ldexp(result, 32 * (LIMBS - BEHIND - 1));
    return is_negative(value) ? -result : result;
}

fixed tool_fixed_add(fixed a, fixed b)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a.limb[i] + b.limb[i];
        a.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return a;
}

fixed tool_fixed_negate(fixed a)
{
    uint64_t carry = 1;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint32_t)~a.limb[i];
        a.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return a;
}

static fixed subtract(fixed a, fixed b)
{
    return tool_fixed_add(a, tool_fixed_negate(b));
}

fixed tool_fixed_mul(fixed a, fixed b)
{
    const int negative = is_negative(a) != is_negative(b);
    uint32_t product[2 * LIMBS] = {0};
    a = magnitude(a);
    b = magnitude(b);
    for (int i = 0; i < LIMBS; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < LIMBS; j++) {
            carry += (uint64_t)a.limb[i] * b.limb[j] + product[i + j];
            product[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        product[i + LIMBS] = (uint32_t)carry;
    }
    fixed result;
    for (int i = 0; i < LIMBS; i++)
        result.limb[i] = product[i + BEHIND];
    return negative ? tool_fixed_negate(result) : result;
}

fixed tool_fixed_scale(fixed a, uint32_t times, uint32_t divided_by)
{
    const int negative = is_negative(a);
    uint64_t carry = 0;
    a = magnitude(a);
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a.limb[i] * times;
        a.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    uint64_t rest = carry % divided_by;
    for (int i = LIMBS; i-- > 0;) {
        rest = rest << 32 | a.limb[i];
        a.limb[i] = (uint32_t)(rest / divided_by);
        rest %= divided_by;
    }
    return negative ? tool_fixed_negate(a) : a;
}

/* sum of x^n / n!; |x| <= 1 */
static fixed exp_series(fixed x)
{
    fixed term = tool_fixed_from(1.0);
    fixed sum = term;
    for (uint32_t n = 1; !is_zero(term); n++) {
        term = tool_fixed_scale(tool_fixed_mul(term, x), 1, n);
        sum = tool_fixed_add(sum, term);
    }
    return sum;
}

/* The same terms, the even ones into the cosine, the odd ones into the sine, with the signs + + -
 * -; |x| <= 4. */
static void cos_sin_series(fixed x, fixed *cosine, fixed *sine)
{
    fixed term = tool_fixed_from(1.0);
    *cosine = term;
    *sine = tool_fixed_from(0.0);
    for (uint32_t n = 1; !is_zero(term); n++) {
        term = tool_fixed_scale(tool_fixed_mul(term, x), 1, n);
        fixed *const sum = n & 1 ? sine : cosine;
        *sum = n & 2 ? subtract(*sum, term) : tool_fixed_add(*sum, term);
    }
}

/* Newton's method on exp(y) = value, 53 bits to start with and twice as many after each step; 1 <=
 * value <= 2. */
static fixed log_series(double value)
{
    const fixed one = tool_fixed_from(1.0);
    fixed y = tool_fixed_from(log(value));
    for (int step = 0; step < 3; step++) {
        const fixed quotient =
            tool_fixed_mul(tool_fixed_from(value), exp_series(tool_fixed_negate(y)));
        y = tool_fixed_add(y, subtract(quotient, one));
    }
    return y;
}

static fixed times_int(fixed a, int times)
{
    const fixed product = tool_fixed_scale(a, (uint32_t)(times < 0 ? -times : times), 1);
    return times < 0 ? tool_fixed_negate(product) : product;
}

fixed tool_fixed_log(double value)
{
    int exponent;
    const double fraction = frexp(value, &exponent); /* [1/2, 1) */
    return tool_fixed_add(log_series(2 * fraction), times_int(log_series(2.0), exponent - 1));
}

fixed tool_fixed_exp(fixed value)
{
    const fixed log_2 = log_series(2.0);
    const int exponent = (int)nearbyint(tool_fixed_to(value) / tool_fixed_to(log_2));
    fixed result = exp_series(subtract(value, times_int(log_2, exponent)));
    for (int i = 0; i < exponent; i++)
        result = tool_fixed_add(result, result);
    for (int i = 0; i > exponent && !is_zero(result); i--)
        result = tool_fixed_scale(result, 1, 2);
    return result;
}

struct tool_fixed_circle tool_fixed_circle(void)
{
    struct tool_fixed_circle circle;
    fixed pi = tool_fixed_from(acos(-1.0));
    for (int step = 0; step < 2; step++) { /* x + sin x has three times the digits of x */
        fixed cosine, sine;
        cos_sin_series(pi, &cosine, &sine);
        pi = tool_fixed_add(pi, sine);
    }
    const fixed one = tool_fixed_from(1.0);
    const fixed turn = tool_fixed_add(pi, pi);
    fixed inverse = tool_fixed_from(1.0 / tool_fixed_to(turn));
    for (int step = 0; step < 3; step++) /* Newton: r + r (1 - turn r) */
        inverse = tool_fixed_add(
            inverse, tool_fixed_mul(inverse, subtract(one, tool_fixed_mul(turn, inverse))));
    circle.quarter = tool_fixed_scale(pi, 1, 2);
    circle.per_turn = inverse;
    return circle;
}

void tool_fixed_cos_sin(const struct tool_fixed_circle *circle, fixed turns, fixed *cosine,
                        fixed *sine)
{
    const fixed quarters = tool_fixed_scale(turns, 4, 1);
    fixed whole = tool_fixed_add(quarters, tool_fixed_from(0.5));
    for (int i = 0; i < BEHIND; i++)
        whole.limb[i] = 0;
    fixed c, s; /* of at most an eighth of a turn */
    cos_sin_series(tool_fixed_mul(subtract(quarters, whole), circle->quarter), &c, &s);
    const uint32_t quadrant = whole.limb[BEHIND] & 3;
    *cosine = quadrant & 1 ? s : c;
    *sine = quadrant & 1 ? c : s;
    if (quadrant == 1 || quadrant == 2)
        *cosine = tool_fixed_negate(*cosine);
    if (quadrant & 2)
        *sine = tool_fixed_negate(*sine);
}
