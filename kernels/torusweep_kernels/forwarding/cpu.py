"""Routing tables on the CPU, compiled by Numba."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached, inlined
from torusweep_kernels.sums.cpu import add, two_product


@cached
def order_of(first, rows, next, enters, order, begins):
    """See the package; fills order and begins, and returns (fault, where)."""
    count = len(rows) - 1
    reached = np.zeros(count, np.bool_)
    leading = np.zeros(count, np.int32)
    queue = np.empty(count, np.int32)
    total = 0
    for destination in range(len(first) - 1):
        low, high = first[destination], first[destination + 1]
        found = done = 0
        for c in range(low, high):
            if enters[c]:
                reached[c] = True
                queue[found] = c
                found += 1
        while done < found:
            c = queue[done]
            done += 1
            for row in range(rows[c], rows[c + 1]):
                other = next[row]
                if other == -2:
                    begins[destination + 1 :] = total
                    return 1, c
                if other >= 0:
                    leading[other] += 1
                    if not reached[other]:
                        reached[other] = True
                        queue[found] = other
                        found += 1
        base = total
        for c in range(low, high):
            if reached[c] and leading[c] == 0:
                order[total] = c
                total += 1
        done = base
        while done < total:
            c = order[done]
            done += 1
            for row in range(rows[c], rows[c + 1]):
                other = next[row]
                if other >= 0:
                    leading[other] -= 1
                    if leading[other] == 0:
                        order[total] = other
                        total += 1
        if total - base < found:
            begins[destination + 1 :] = base
            for c in range(low, high):
                if reached[c] and leading[c] > 0:
                    return 2, c
        begins[destination + 1] = total
    return 0, -1


@inlined
def part_of(high, low, weight, total):
    """(high, low) · weight / total, with twice the digits."""
    if weight == total:
        return high, low
    value, error = two_product(high, weight)
    error += low * weight
    quotient = value / total
    back, left = two_product(quotient, total)
    more = ((value - back) - left + error) / total
    rounded = quotient + more
    return rounded, more - (rounded - quotient)


@cached
def table_flows(table, demands, load, rest):
    """See the package."""
    most = 0
    for destination in demands.destination:
        most = max(most, table.first[destination + 1] - table.first[destination])
    flow, left = np.zeros(most), np.zeros(most)
    for place in range(len(demands.destination)):
        low, high = table.first[demands.destination[place]], table.first[demands.destination[place] + 1]
        flow[: high - low] = 0.0
        left[: high - low] = 0.0
        for number in range(demands.begins[place], demands.begins[place + 1]):
            c = demands.entry[number] - low
            flow[c], left[c] = add(flow[c], left[c], demands.amount[number], 0.0)
        for c in range(low, high):
            here = flow[c - low]
            if here == 0.0:
                continue
            for row in range(table.rows[c], table.rows[c + 1]):
                part, error = part_of(here, left[c - low], table.weight[row], table.total[c])
                link, then = table.link[row], table.next[row] - low
                if link >= 0:
                    load[link], rest[link] = add(load[link], rest[link], part, error)
                if table.next[row] >= 0:
                    flow[then], left[then] = add(flow[then], left[then], part, error)
