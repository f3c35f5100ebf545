"""The compiled kernels of `core.pool`: they count and score a sorted range of grids.

Arguments are those of `core.pool.Tree`.  Class counts are packed in pairs, two 32-bit counts in a 64-bit word, so that one
addition adds up two classes (tables hold fewer than 2^30 records: no count carries into its neighbour).  Nothing here is random and nothing touches Python objects, so the kernels run
on all cores at once.
"""

from __future__ import annotations

import numpy as np
from numba import njit

HALF = 2**32 - 1
"""The lower count of a packed pair."""

MERGED_FROM = 5
"""Tables of so many attributes to come are merged; with fewer, the passes saved are worth the hashing only where the table is
sure to shrink eightfold.  Both numbers were measured on Adult."""


@njit(nogil=True, cache=True)
def score_range(levels, low, high, codes, counts, heights, sizes, maps, offsets, loss, scores, done, cancel):
    """Score the sorted grids `low` to `high`.

    A task on the stack is a range of grids and a parent's table, from which its own table is made when its turn comes:
    then only the tables of one branch exist at a time.  The stack stands for a recursion, which cannot be kept
    on disk once compiled.
    """
    d, rows = codes.shape
    root = np.zeros(rows, dtype=np.int32)
    if low < high and not levels[low].any():
        scores[low] = _score(_count(root, 1, codes[0], sizes[0, 0], counts, maps, offsets[0, heights[0], 0]), loss)
        done[0] += 1
        low += 1
    none = np.zeros((0, counts.shape[1]), dtype=np.int64)
    every = np.arange(d)
    stack = [(low, high, 0, 0, root, 1, codes, counts, every, every, heights, none)]
    while len(stack) > 0 and not cancel[0]:
        low, high, skip, level, cell, cells, codes, counts, active, column, coded, counted = stack.pop()
        if low == high or skip == len(active):
            continue
        if level > 0:
            offset = offsets[active[0], coded[0], level]
            cell, cells = _number_cells(cell, codes[column[0]], sizes[active[0], level], maps, offset, counted)
        active, column, coded, needed = _still_needed(levels, low, high, active, column, coded, skip)
        space = float(cells)
        for position in range(len(active)):
            space *= sizes[active[position], needed[position]]
        if len(active) >= MERGED_FROM or (len(active) > 1 and 8 * space <= len(cell)):
            cell, codes, counts, column, coded = _merge(
                cell, codes, counts, active, column, coded, needed, sizes, maps, offsets, space
            )
        j, finest = active[0], needed[0]
        counted = _count(cell, cells, codes[column[0]], sizes[j, finest], counts, maps, offsets[j, coded[0], finest])
        coarser = high
        while coarser > low and levels[coarser - 1, j] > 0:
            coarser -= 1
        stack.append((low, coarser, 1, 0, cell, cells, codes, counts, active, column, coded, none))
        end, at = high, finest
        while end > coarser:
            level = levels[end - 1, j]
            start = end
            while start > coarser and levels[start - 1, j] == level:
                start -= 1
            if level < at:
                counted = _coarsen(counted, cells, sizes[j, at], sizes[j, level], maps, offsets[j, at, level])
                at = level
            first = start
            if not _any_after(levels, first, active):
                scores[first] = _score(counted, loss)
                done[0] += 1
                first += 1
            if first < end:
                stack.append((first, end, 1, level, cell, cells, codes, counts, active, column, coded, counted))
            end = start


@njit(nogil=True, cache=True)
def _any_after(levels, grid, active):
    """Whether the grid uses an active attribute after the first."""
    for position in range(1, len(active)):
        if levels[grid, active[position]] > 0:
            return True
    return False


@njit(nogil=True, cache=True)
def _still_needed(levels, low, high, active, column, coded, skip):
    """The active attributes after the first `skip` that a grid of the range uses, with the finest level it uses."""
    finest = np.zeros(len(active), dtype=np.int64)
    for grid in range(low, high):
        for position in range(skip, len(active)):
            level = levels[grid, active[position]]
            if level > finest[position]:
                finest[position] = level
    kept = np.flatnonzero(finest)
    return active[kept], column[kept], coded[kept], finest[kept]


@njit(nogil=True, cache=True)
def _count(cell, cells, code, size, counts, maps, offset):
    """Packed counts of each (cell, node), shape (cells · size, words); `maps` from `offset` on leads to the nodes."""
    rows, words = counts.shape
    counted = np.zeros((cells * size, words), dtype=np.int64)
    for row in range(rows):
        key = cell[row] * size + maps[offset + code[row]]
        counted[key, 0] += counts[row, 0]
        for word in range(1, words):
            counted[key, word] += counts[row, word]
    return counted


@njit(nogil=True, cache=True)
def _coarsen(counted, cells, size, coarse_size, maps, offset):
    """Packed counts on a coarser level from those on a finer one."""
    words = counted.shape[1]
    coarse = np.zeros((cells * coarse_size, words), dtype=np.int64)
    for cell in range(cells):
        for node in range(size):
            key = cell * coarse_size + maps[offset + node]
            coarse[key, 0] += counted[cell * size + node, 0]
            for word in range(1, words):
                coarse[key, word] += counted[cell * size + node, word]
    return coarse


@njit(nogil=True, cache=True)
def _score(counted, loss):
    """gq of a histogram in fixed point; `loss` ends with 0."""  # noqa: D403 - gq is a name
    cells, words = counted.shape
    last = len(loss) - 1
    majority = np.int64(0)
    lost = np.int64(0)
    if words == 1:
        for cell in range(cells):
            first = counted[cell, 0] & HALF
            second = counted[cell, 0] >> 32
            majority += max(first, second)
            lost += loss[min(abs(first - second), last)]
        return (majority << 32) - lost
    for cell in range(cells):
        a = np.int64(0)
        b = np.int64(0)
        for word in range(words):
            for count in (counted[cell, word] & HALF, counted[cell, word] >> 32):
                b = max(b, min(a, count))
                a = max(a, count)
        majority += a
        lost += loss[min(a - b, last)]
    return (majority << 32) - lost


@njit(nogil=True, cache=True)
def _number_cells(cell, code, size, maps, offset, counted):
    """Number the occupied cells of a level; returns the number of each row's cell, and how many there are."""
    number = np.empty(len(counted), dtype=np.int32)
    occupied = np.int32(0)
    for key in range(len(counted)):
        number[key] = occupied
        held = counted[key, 0]
        for word in range(1, counted.shape[1]):
            held |= counted[key, word]
        occupied += held != 0
    below = np.empty(len(cell), dtype=np.int32)
    for row in range(len(cell)):
        below[row] = number[cell[row] * size + maps[offset + code[row]]]
    return below, np.int64(occupied)


@njit(nogil=True, cache=True)
def _merge(cell, codes, counts, active, column, coded, needed, sizes, maps, offsets, space):
    """Coarsen the attributes to the levels `needed`, drop the others, merge equal rows."""
    rows = len(cell)
    kept = len(active)
    if space >= 2.0**62:
        return cell, codes, counts, column, coded
    key = cell.astype(np.int64)
    for index in range(kept):
        source = codes[column[index]]
        offset = offsets[active[index], coded[index], needed[index]]
        size = sizes[active[index], needed[index]]
        for row in range(rows):
            key[row] = key[row] * size + maps[offset + source[row]]
    merged, first = _add_up(key, counts, space)
    new_cell = np.empty(len(first), dtype=np.int32)
    for row in range(len(first)):
        new_cell[row] = cell[first[row]]
    new_codes = np.empty((kept, len(first)), dtype=np.uint16)
    for index in range(kept):
        source = codes[column[index]]
        offset = offsets[active[index], coded[index], needed[index]]
        for row in range(len(first)):
            new_codes[index, row] = maps[offset + source[first[row]]]
    return new_cell, new_codes, merged, np.arange(kept), needed


@njit(nogil=True, cache=True)
def _add_up(key, counts, space):
    """Add up the counts of equal keys; returns them with the row where each key stands first.

    Direct addressing in a small key space, hashing otherwise.
    """
    rows, words = counts.shape
    merged = np.zeros((rows, words), dtype=np.int64)
    first = np.empty(rows, dtype=np.int32)
    distinct = 0
    direct = space <= max(4.0 * rows, 1024.0)
    bits = 4
    while (1 << bits) < 2 * rows:
        bits += 1
    slots = int(space) if direct else 1 << bits
    mask = slots - 1
    number = np.full(slots, -1, dtype=np.int32)
    held = np.empty(0 if direct else slots, dtype=np.int64)
    for row in range(rows):
        if direct:
            place = key[row]
        else:
            # Fibonacci hashing, linear probing.
            place = np.int64((np.uint64(key[row]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
            while number[place] >= 0 and held[place] != key[row]:
                place = (place + 1) & mask
        target = number[place]
        if target < 0:
            target = distinct
            number[place] = target
            first[target] = row
            if not direct:
                held[place] = key[row]
            distinct += 1
        merged[target, 0] += counts[row, 0]
        for word in range(1, words):
            merged[target, word] += counts[row, word]
    return merged[:distinct].copy(), first[:distinct].copy()
