"""The compiled kernels of `core.pool`: they count and score a sorted range of grids.

Arguments are those of `core.pool.Tree`.  Nothing here is random and nothing touches Python objects, so the kernels run
on all cores at once.
"""

from __future__ import annotations

import numpy as np
from numba import njit


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
        scores[low] = _score(_count(root, 1, codes[0], sizes[0, 0], counts, maps, offsets[0, heights[0], 0]), 1, loss)
        done[0] += 1
        low += 1
    none = np.zeros((0, counts.shape[1]), dtype=np.int64)
    stack = [(low, high, 0, 0, root, 1, codes, counts, np.arange(d), heights, none)]
    while len(stack) > 0 and not cancel[0]:
        low, high, skip, level, cell, cells, codes, counts, active, coded, counted = stack.pop()
        if low == high or skip == len(active):
            continue
        if level > 0:
            cell, cells = _number_cells(
                cell, codes[0], sizes[active[0], level], maps, offsets[active[0], coded[0], level], counted
            )
        needed = _needed(levels, low, high, active, skip)
        cell, codes, counts, active, coded = _merge(
            cell, cells, codes, counts, active, coded, skip, needed, sizes, maps, offsets
        )
        j, finest = active[0], coded[0]
        counted = _count(cell, cells, codes[0], sizes[j, finest], counts, maps, offsets[j, finest, finest])
        coarser = high
        while coarser > low and levels[coarser - 1, j] > 0:
            coarser -= 1
        stack.append((low, coarser, 1, 0, cell, cells, codes, counts, active, coded, none))
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
                scores[first] = _score(counted, len(counted), loss)
                done[0] += 1
                first += 1
            if first < end:
                stack.append((first, end, 1, level, cell, cells, codes, counts, active, coded, counted))
            end = start


@njit(nogil=True, cache=True)
def _any_after(levels, grid, active):
    """Whether the grid uses an active attribute after the first."""
    for position in range(1, len(active)):
        if levels[grid, active[position]] > 0:
            return True
    return False


@njit(nogil=True, cache=True)
def _needed(levels, low, high, active, skip):
    """The finest level of each active attribute that a grid of the range uses; the first `skip` left at 0."""
    needed = np.zeros(len(active), dtype=np.int64)
    for grid in range(low, high):
        for position in range(skip, len(active)):
            level = levels[grid, active[position]]
            if level > needed[position]:
                needed[position] = level
    return needed


@njit(nogil=True, cache=True)
def _count(cell, cells, code, size, counts, maps, offset):
    """Class counts of each (cell, node), shape (cells · size, classes); `maps` from `offset` on leads to the nodes."""
    rows, classes = counts.shape
    counted = np.zeros((cells * size, classes), dtype=np.int64)
    if classes == 2:
        for row in range(rows):
            key = cell[row] * size + maps[offset + code[row]]
            counted[key, 0] += counts[row, 0]
            counted[key, 1] += counts[row, 1]
    else:
        for row in range(rows):
            key = cell[row] * size + maps[offset + code[row]]
            for k in range(classes):
                counted[key, k] += counts[row, k]
    return counted


@njit(nogil=True, cache=True)
def _coarsen(counted, cells, size, coarse_size, maps, offset):
    """Class counts on a coarser level from those on a finer one."""
    classes = counted.shape[1]
    coarse = np.zeros((cells * coarse_size, classes), dtype=np.int64)
    for cell in range(cells):
        for node in range(size):
            key = cell * coarse_size + maps[offset + node]
            for k in range(classes):
                coarse[key, k] += counted[cell * size + node, k]
    return coarse


@njit(nogil=True, cache=True)
def _score(counted, cells, loss):
    """Gq of a histogram in fixed point."""
    classes = counted.shape[1]
    majority = np.int64(0)
    lost = np.int64(0)
    if classes == 2:
        for cell in range(cells):
            a = max(counted[cell, 0], counted[cell, 1])
            x = 2 * a - counted[cell, 0] - counted[cell, 1]
            majority += a
            if x < len(loss):
                lost += loss[x]
    else:
        for cell in range(cells):
            a = np.int64(0)
            b = np.int64(0)
            for k in range(classes):
                count = counted[cell, k]
                if count > a:
                    a, b = count, a
                elif count > b:
                    b = count
            majority += a
            if a - b < len(loss):
                lost += loss[a - b]
    return (majority << 32) - lost


@njit(nogil=True, cache=True)
def _number_cells(cell, code, size, maps, offset, counted):
    """Number the occupied cells of a level; returns the number of each row's cell, and how many there are."""
    number = np.empty(len(counted), dtype=np.int32)
    occupied = 0
    classes = counted.shape[1]
    for key in range(len(counted)):
        for k in range(classes):
            if counted[key, k] > 0:
                number[key] = occupied
                occupied += 1
                break
    below = np.empty(len(cell), dtype=np.int32)
    for row in range(len(cell)):
        below[row] = number[cell[row] * size + maps[offset + code[row]]]
    return below, occupied


@njit(nogil=True, cache=True)
def _merge(cell, cells, codes, counts, active, coded, skip, needed, sizes, maps, offsets):
    """Coarsen the attributes to the levels `needed`, drop those at level 0 and the first `skip`, merge equal rows."""
    rows, classes = counts.shape
    kept = 0
    for position in range(skip, len(active)):
        if needed[position] > 0:
            kept += 1
    position_of = np.empty(kept, dtype=np.int64)
    still = np.empty(kept, dtype=np.int64)
    level = np.empty(kept, dtype=np.int64)
    space = float(cells)
    kept = 0
    for position in range(skip, len(active)):
        if needed[position] > 0:
            position_of[kept] = position
            still[kept] = active[position]
            level[kept] = needed[position]
            space *= sizes[active[position], needed[position]]
            kept += 1
    # A lone attribute is counted once and for all by _count: merging first would cost more than it saves.
    if kept < 2 or space >= 2.0**62:
        narrow = np.empty((kept, rows), dtype=np.uint16)
        for index in range(kept):
            source = codes[position_of[index]]
            offset = offsets[still[index], coded[position_of[index]], level[index]]
            for row in range(rows):
                narrow[index, row] = maps[offset + source[row]]
        return cell, narrow, counts, still, level
    key = np.empty(rows, dtype=np.int64)
    for row in range(rows):
        key[row] = cell[row]
    for index in range(kept):
        source = codes[position_of[index]]
        offset = offsets[still[index], coded[position_of[index]], level[index]]
        size = sizes[still[index], level[index]]
        for row in range(rows):
            key[row] = key[row] * size + maps[offset + source[row]]
    target, first = _number_keys(key, space)
    merged = len(first)
    new_cell = np.empty(merged, dtype=np.int32)
    for row in range(merged):
        new_cell[row] = cell[first[row]]
    new_codes = np.empty((kept, merged), dtype=np.uint16)
    for index in range(kept):
        source = codes[position_of[index]]
        offset = offsets[still[index], coded[position_of[index]], level[index]]
        for row in range(merged):
            new_codes[index, row] = maps[offset + source[first[row]]]
    new_counts = np.zeros((merged, classes), dtype=np.int64)
    for row in range(rows):
        for k in range(classes):
            new_counts[target[row], k] += counts[row, k]
    return new_cell, new_codes, new_counts, still, level


@njit(nogil=True, cache=True)
def _number_keys(key, space):
    """Number the distinct keys in the order they appear: direct addressing in a small key space, hashing otherwise."""
    rows = len(key)
    target = np.empty(rows, dtype=np.int32)
    first = np.empty(rows, dtype=np.int32)
    distinct = 0
    if space <= max(4.0 * rows, 1024.0):
        slot = np.full(int(space), -1, dtype=np.int32)
        for row in range(rows):
            number = slot[key[row]]
            if number < 0:
                number = distinct
                slot[key[row]] = number
                first[number] = row
                distinct += 1
            target[row] = number
        return target, first[:distinct].copy()
    bits = 4
    while (1 << bits) < 2 * rows:
        bits += 1
    mask = (1 << bits) - 1
    slot = np.full(1 << bits, -1, dtype=np.int32)
    for row in range(rows):
        # Fibonacci hashing, linear probing.
        place = np.int64((np.uint64(key[row]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
        while True:
            number = slot[place]
            if number < 0:
                number = distinct
                slot[place] = number
                first[number] = row
                distinct += 1
                break
            if key[first[number]] == key[row]:
                break
            place = (place + 1) & mask
        target[row] = number
    return target, first[:distinct].copy()
