# SPDX-License-Identifier: Apache-2.0
"""The statistics of the benchmark tools.  Pure functions of lists of numbers; knows no file format."""
import math
import random


def quantile(values, share):
    """Linear between order statistics; share 0.5 is the median."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median(values):
    return quantile(values, 0.5)


def _exact_tail(u, n, m):
    """P(U <= u) without ties: counts the ways to reach each U (Mann and Whitney's recurrence)."""
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):  # multiplies by (1 - q^(m + i)) / (1 - q^i)
        for k in range(n * m, m + i - 1, -1):
            ways[k] -= ways[k - m - i]
        for k in range(i, n * m + 1):
            ways[k] += ways[k - i]
    return sum(ways[: u + 1]) / math.comb(n + m, n)


def mann_whitney(a, b):
    """(U of b over a, two-sided p): exact without ties, else normal with corrections."""
    n, m = len(a), len(b)
    if n == 0 or m == 0:
        return 0.0, 1.0
    u = sum((y > x) + 0.5 * (y == x) for x in a for y in b)
    both = sorted(a + b)
    ties = [both.count(value) for value in set(both)]
    smaller = min(u, n * m - u)
    if max(ties) == 1 and n * m <= 1000:
        return u, min(1.0, 2 * _exact_tail(int(smaller), n, m))
    total = n + m
    spread = n * m / 12 * (total + 1 - sum(t**3 - t for t in ties) / (total * (total - 1)))
    if spread <= 0:
        return u, 1.0
    z = (abs(u - n * m / 2) - 0.5) / math.sqrt(spread)
    return u, min(1.0, math.erfc(max(z, 0.0) / math.sqrt(2)))


def _best_split(values, minimum):
    """(energy distance, place) of the split whose sides differ most; O(n^2)."""
    n = len(values)
    total = within_right = 0.0
    for i, x in enumerate(values):
        total += sum([abs(x - y) for y in values[:i]])
    within_left, within_right = 0.0, total
    best, place = -1.0, 0
    for i, x in enumerate(values):
        within_left += sum([abs(x - y) for y in values[:i]])
        within_right -= sum([abs(x - y) for y in values[i + 1 :]])
        left, right = i + 1, n - i - 1
        if left < minimum:
            continue
        if right < minimum:
            break
        between = total - within_left - within_right
        distance = (
            2 * between / (left * right)
            - 2 * within_left / (left * (left - 1))
            - 2 * within_right / (right * (right - 1))
        )
        energy = left * right / n * distance
        if energy > best:
            best, place = energy, left
    return best, place


def change_points(values, minimum=4, permutations=199, seed=1):
    """Where a series of positive numbers changes: indices of first points after a change.

    E-divisive (Matteson and James, JASA 109, 2014) on logarithms, with alpha = 1: the best split of a
    stretch counts if none of `permutations` shufflings of it has as good a one (p <= 0.005 for 199);
    then both sides are searched.  A change needs `minimum` points on each side.
    """
    logs = [math.log(value) for value in values]
    generator = random.Random(seed)
    found = []

    def search(start, end):
        if end - start < 2 * minimum:
            return
        stretch = logs[start:end]
        energy, place = _best_split(stretch, minimum)
        if place == 0 or energy <= 0:
            return
        shuffled = list(stretch)
        for _ in range(permutations):
            generator.shuffle(shuffled)
            if _best_split(shuffled, minimum)[0] >= energy:
                return
        found.append(start + place)
        search(start, start + place)
        search(start + place, end)

    search(0, len(logs))
    return sorted(found)
