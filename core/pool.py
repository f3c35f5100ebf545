"""Scores a whole pool of grids in one call.

The grids are sorted and walked as a tree over the attributes.  A node of the tree is a choice of levels for the first
attributes; its table holds the records merged to the cells of that choice (``cell``) and to the finest level of each
later attribute that a grid below the node still uses, so that tables shrink early.  Level l of the next attribute is
counted from its next finer level, never from the records; attributes that no grid below uses are dropped on the way.
Counts and scores are integers, so the result does not depend on threads, the order of rows or of attributes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.contingency import ContingencyTable
from core.errors import CancelledError, InputError
from core.pool_kernels import score_range
from core.quality import MAX_RECORDS, expected_loss_table
from core.schema import Schema

Progress = Callable[[int, int], bool]
"""Called with (grids done, grids in all); returning False cancels."""


class Scorer(Protocol):
    """`score_pool`, or something that remembers what it returned."""

    def __call__(
        self,
        contingency: ContingencyTable,
        schema: Schema,
        levels: np.ndarray,
        epsilon: float,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Score a pool; see `score_pool`."""


_CHUNKS_PER_THREAD = 8
_POLL_SECONDS = 0.1


def score_pool(
    contingency: ContingencyTable,
    schema: Schema,
    levels: np.ndarray,
    epsilon: float,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Quality gq of every grid of a pool ([A] Eq. 1, [J] Eq. 5).

    Parameters
    ----------
    contingency : ContingencyTable
        Columns in the order of the schema.
    schema : Schema
    levels : ndarray of int8, shape (grids, attributes)
        The pool.
    epsilon : float, > 0
        Budget of the histogram, ε_h.
    threads : int, optional
        All cores by default.
    progress : callable, optional
        See `Progress`.

    Returns
    -------
    ndarray of int64, shape (grids,)
        Expected correctly classified records, in units of 2^−32 records (`core.quality.SCALE`).

    Raises
    ------
    CancelledError
        If `progress` returned False.
    """
    if contingency.n > MAX_RECORDS:
        raise InputError(f"The table has more than {MAX_RECORDS:,} records; draw a sample of it first.")
    threads = threads or os.cpu_count() or 1
    tree = Tree.build(contingency, schema, levels)
    loss = expected_loss_table(epsilon)
    grids = len(tree.levels)
    scores = np.zeros(grids, dtype=np.int64)
    bounds = np.linspace(0, grids, min(threads * _CHUNKS_PER_THREAD, 1 + grids // 64) + 1).astype(np.int64)
    done = np.zeros(len(bounds), dtype=np.int64)
    cancel = np.zeros(1, dtype=np.bool_)

    def score_chunk(number: int) -> None:
        score_range(
            tree.levels, bounds[number], bounds[number + 1], tree.codes, tree.counts, tree.heights, tree.sizes,
            tree.maps, tree.offsets, loss, scores, done[number : number + 1], cancel,
        )  # fmt: skip

    with ThreadPoolExecutor(threads) as executor:
        running = {executor.submit(score_chunk, number) for number in range(len(bounds) - 1)}
        while running:
            finished, running = wait(running, timeout=_POLL_SECONDS)
            for future in finished:
                future.result()
            if progress is not None and not progress(int(done.sum()), grids):
                cancel[0] = True
    if cancel[0]:
        raise CancelledError("The scoring of the grids was stopped.")
    return scores[tree.place]


def warm_up() -> None:
    """Compile the kernels (kept on disk), so that nobody waits for it later."""
    counts = np.ones((1, 1), dtype=np.int64)
    levels = np.ones((1, 1), dtype=np.int8)
    tree = Tree(
        levels, np.zeros(1, dtype=np.int64), np.zeros((1, 1), dtype=np.uint16), counts, np.ones(1, dtype=np.int64),
        np.array([[1, 2]]), np.zeros(8, dtype=np.uint16), np.zeros((1, 2, 2), dtype=np.int64),
    )  # fmt: skip
    score_range(
        tree.levels, 0, 1, tree.codes, tree.counts, tree.heights, tree.sizes, tree.maps, tree.offsets,
        np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(1, np.bool_),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Tree:
    """The pool and the table as the kernels want them: attributes with many leaves first, grids sorted.

    Parameters
    ----------
    levels : ndarray of int8, shape (distinct grids, attributes)
    place : ndarray of int64, shape (grids,)
        Where each grid of the pool stands in `levels`.
    codes : ndarray of uint16, shape (attributes, rows)
    counts : ndarray of int64, shape (rows, words)
        Class counts packed in pairs; see `core.pool_kernels`.
    heights : ndarray of int64, shape (attributes,)
    sizes : ndarray of int64, shape (attributes, levels)
    maps : ndarray of uint16
        All maps from the nodes of a level to those of a coarser one, one after the other.
    offsets : ndarray of int64, shape (attributes, levels, levels)
        Where in `maps` the map from level [j, from, to] begins.
    """

    levels: np.ndarray
    place: np.ndarray
    codes: np.ndarray
    counts: np.ndarray
    heights: np.ndarray
    sizes: np.ndarray
    maps: np.ndarray
    offsets: np.ndarray

    @classmethod
    def build(cls, contingency: ContingencyTable, schema: Schema, levels: np.ndarray) -> Tree:
        """Reorder a table and a pool."""
        taxonomies = schema.taxonomies
        columns = sorted(range(len(taxonomies)), key=lambda j: -len(taxonomies[j].leaves))
        taxonomies = tuple(taxonomies[j] for j in columns)
        heights = np.array([taxonomy.height for taxonomy in taxonomies], dtype=np.int64)
        deepest = int(heights.max()) + 1
        sizes = np.ones((len(columns), deepest), dtype=np.int64)
        offsets = np.zeros((len(columns), deepest, deepest), dtype=np.int64)
        maps: list[np.ndarray] = []
        filled = 0
        for j, taxonomy in enumerate(taxonomies):
            sizes[j, : taxonomy.height + 1] = taxonomy.level_sizes
            for fine in range(taxonomy.height + 1):
                _, first_leaf = np.unique(taxonomy.level_maps[fine], return_index=True)
                for coarse in range(fine + 1):
                    maps.append(taxonomy.level_maps[coarse][first_leaf])
                    offsets[j, fine, coarse] = filled
                    filled += len(first_leaf)
        distinct, place = _sorted(np.ascontiguousarray(levels[:, columns]))
        # The kernels number occupied cells only, so a row without records would have no cell.
        occupied = contingency.counts.any(axis=1)
        return cls(
            levels=distinct,
            place=place,
            codes=np.ascontiguousarray(contingency.codes[occupied][:, columns].T),
            counts=_packed(contingency.counts[occupied]),
            heights=heights,
            sizes=sizes,
            maps=np.concatenate(maps),
            offsets=offsets,
        )


def _packed(counts: np.ndarray) -> np.ndarray:
    """Two class counts in each 64-bit word, the first in its lower half."""
    even = np.zeros((len(counts), counts.shape[1] + counts.shape[1] % 2), dtype=np.int64)
    even[:, : counts.shape[1]] = counts
    return np.ascontiguousarray(even[:, 0::2] | (even[:, 1::2] << 32))


def _sorted(levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows, the first column as the most significant, and where each row stands among them."""
    bits = max(1, int(levels.max(initial=0)).bit_length())
    per_word = 64 // bits
    words = []
    for start in range(0, levels.shape[1], per_word):
        word = np.zeros(len(levels), dtype=np.uint64)
        for column in levels[:, start : start + per_word].T:
            word = (word << np.uint64(bits)) | column.astype(np.uint64)
        words.append(word)
    order = np.argsort(words[0], kind="stable") if len(words) == 1 else np.lexsort(words[::-1])
    changed = np.zeros(len(levels), dtype=np.bool_)
    changed[:1] = True
    for word in words:
        changed[1:] |= np.diff(word[order]) != 0
    place = np.empty(len(levels), dtype=np.int64)
    place[order] = np.cumsum(changed) - 1
    return levels[order[changed]], place
