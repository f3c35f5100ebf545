"""Grids: one level of each taxonomy ([A] Definition 1), the pool of those under a cell cap, and its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit

from core.errors import InputError
from core.schema import Schema

Grid = Mapping[str, int]
"""Attribute → level; attributes at level 0 (the root) are left out."""


@dataclass(frozen=True)
class GridSpace:
    """All grids over the taxonomies of a schema.  Public.

    Parameters
    ----------
    names : tuple of str
    level_sizes : tuple of tuple of int
        |T_j[l]| for each attribute j and level l, root (1) first.
    """

    names: tuple[str, ...]
    level_sizes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, schema: Schema) -> GridSpace:
        """The grids over a schema's taxonomies."""
        return cls(schema.names, tuple(taxonomy.level_sizes for taxonomy in schema.taxonomies))

    def select(self, attributes: Sequence[str]) -> GridSpace:
        """The grids over some of the attributes, in the order of this space."""
        kept = [j for j, name in enumerate(self.names) if name in set(attributes)]
        return GridSpace(tuple(self.names[j] for j in kept), tuple(self.level_sizes[j] for j in kept))

    def grid(self, levels: np.ndarray) -> dict[str, int]:
        """The exchange form of a row of levels."""
        return {name: int(level) for name, level in zip(self.names, levels, strict=True) if level}

    def levels(self, grid: Grid) -> np.ndarray:
        """The row of levels of a grid.

        Returns
        -------
        ndarray of int8, shape (attributes,)

        Raises
        ------
        InputError
            Where the grid names an unknown attribute or level.
        """
        for name in grid:
            if name not in self.names:
                raise InputError(f"The grid names “{name}”, which has no taxonomy.")
        row = np.zeros(len(self.names), dtype=np.int8)
        for j, (name, sizes) in enumerate(zip(self.names, self.level_sizes, strict=True)):
            level = grid.get(name, 0)
            if not isinstance(level, int) or not 0 <= level < len(sizes):
                raise InputError(f"Level {level} of “{name}” does not exist; its levels are 0 to {len(sizes) - 1}.")
            row[j] = level
        return row

    def size(self, levels: np.ndarray) -> int:
        """|g|, the number of cells of a grid."""
        return int(np.prod([sizes[level] for sizes, level in zip(self.level_sizes, levels, strict=True)], dtype=object))

    def pool(self, cap: int) -> np.ndarray:
        """Enumerate the grids with at most `cap` cells, all-root included.

        Returns
        -------
        ndarray of int8, shape (grids, attributes)
            Levels in lexicographic order.
        """
        sizes, heights = self._arrays
        levels = np.zeros((self.pool_size(cap), len(self.names)), dtype=np.int8)
        _fill(sizes, heights, cap, levels)
        return levels

    def pool_by_width(self, cap: int, limit: int) -> np.ndarray:
        """Enumerate as the authors' program does: grids of one attribute, of two, …, each lexicographic by
        (attribute name, level), all-root left out, the first `limit` kept (method of [J]).

        Returns
        -------
        ndarray of int8, shape (at most limit, attributes)
            The all-root grid alone where no other has at most `cap` cells.
        """
        order = sorted(range(len(self.names)), key=lambda j: self.names[j])
        sizes, heights = self._arrays
        total = min(limit, self.pool_size(cap) - 1)
        if total == 0:
            return np.zeros((1, len(order)), dtype=np.int8)
        found = np.zeros((total, len(order)), dtype=np.int8)
        filled, width = 0, 1
        while filled < total:
            filled = _fill_width(sizes[order], heights[order], cap, width, found, filled)
            width += 1
        levels = np.empty_like(found)
        levels[:, order] = found
        return levels

    def pool_size(self, cap: int) -> int:
        """Exact number of grids with at most `cap` cells, without enumerating them."""
        return self.profile(cap).pool_size(cap)

    def profile(self, cap: int) -> PoolProfile:
        """Pool sizes of every cap up to `cap`."""
        total = 1
        for sizes in self.level_sizes:
            total *= len(sizes)
        kind = np.dtype(np.int64) if total < 2**62 else np.dtype(object)
        products, counts = np.array([1], dtype=np.int64), np.array([1], dtype=kind)
        for sizes in self.level_sizes:
            spread = [products <= cap // size for size in sizes]
            grown = np.concatenate([products[fits] * size for fits, size in zip(spread, sizes, strict=True)])
            weights = np.concatenate([counts[fits] for fits in spread])
            order = np.argsort(grown, kind="stable")
            grown, weights = grown[order], weights[order]
            starts = np.flatnonzero(np.r_[True, grown[1:] != grown[:-1]])
            products, counts = grown[starts], np.add.reduceat(weights, starts)
        return PoolProfile(cap, products, np.cumsum(counts))

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Level sizes as a padded int64 matrix, and the height of each attribute."""
        heights = np.array([len(sizes) - 1 for sizes in self.level_sizes], dtype=np.int64)
        matrix = np.ones((len(self.names), int(heights.max(initial=0)) + 1), dtype=np.int64)
        for j, sizes in enumerate(self.level_sizes):
            matrix[j, : len(sizes)] = sizes
        return matrix, heights


@dataclass(frozen=True, eq=False)
class PoolProfile:
    """Exact pool size as a function of the cap.

    Parameters
    ----------
    cap : int
        Largest cap that this profile answers for.
    products : ndarray of int64, shape (sizes,)
        Grid sizes that occur, ascending.
    cumulative : ndarray, shape (sizes,)
        Number of grids of at most that size.
    """

    cap: int
    products: np.ndarray
    cumulative: np.ndarray

    def pool_size(self, cap: int) -> int:
        """Number of grids with at most `cap` cells; `cap` must not exceed the profile's own."""
        if cap > self.cap:
            raise ValueError(f"cap ({cap}) must be at most {self.cap}")
        found = int(np.searchsorted(self.products, cap, side="right"))
        return int(self.cumulative[found - 1]) if found else 0

    def largest_cap(self, low: int, limit: int) -> int:
        """The largest cap between `low` and the profile's own whose pool has at most `limit` grids.

        Returns
        -------
        int
            `low` where not even its pool fits.
        """
        fitting = int(np.searchsorted(self.cumulative, limit, side="right"))
        if fitting == len(self.products):
            return max(low, self.cap)
        return max(low, int(self.products[fitting]) - 1)


@njit(cache=True)
def _fill(sizes, heights, cap, levels):
    """Write the grids of at most `cap` cells into `levels`, in lexicographic order."""
    rows, d = levels.shape
    level = np.zeros(d, dtype=np.int64)
    product = np.ones(d + 1, dtype=np.int64)
    for row in range(rows):
        for j in range(d):
            levels[row, j] = level[j]
        j = d - 1
        while j >= 0:
            if level[j] < heights[j] and product[j] * sizes[j, level[j] + 1] <= cap:
                level[j] += 1
                break
            level[j] = 0
            j -= 1
        if j < 0:
            return
        for later in range(j, d):
            product[later + 1] = product[later] * sizes[later, level[later]]


@njit(cache=True)
def _fill_width(sizes, heights, cap, width, levels, filled):
    """Append the grids over exactly `width` attributes to `levels`, as far as they fit; returns the new length."""
    limit, d = levels.shape
    if width > d:
        return filled
    attribute = np.arange(width)
    level = np.ones(width, dtype=np.int64)
    product = np.ones(width + 1, dtype=np.int64)
    depth = 0
    while depth >= 0:
        j = attribute[depth]
        if j > d - (width - depth):
            depth -= 1
            if depth >= 0:
                level[depth] += 1
            continue
        if level[depth] > heights[j] or product[depth] * sizes[j, level[depth]] > cap:
            attribute[depth] += 1
            level[depth] = 1
            continue
        product[depth + 1] = product[depth] * sizes[j, level[depth]]
        if depth < width - 1:
            attribute[depth + 1] = j + 1
            level[depth + 1] = 1
            depth += 1
            continue
        for position in range(width):
            levels[filled, attribute[position]] = level[position]
        filled += 1
        if filled == limit:
            return filled
        level[depth] += 1
    return filled
