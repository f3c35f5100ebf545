"""ContingencyTable: how often each combination of leaves and class occurs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ContingencyTable:
    """Leaf codes of the distinct records with their counts by class.  Private.

    Parameters
    ----------
    codes : ndarray of uint16, shape (rows, attributes)
        Distinct rows of leaf codes; column j follows the leaves of attribute j.
    counts : ndarray of int64, shape (rows, classes)
        Number of records of each class, ≥ 0.
    """

    codes: np.ndarray
    counts: np.ndarray

    @classmethod
    def from_records(
        cls, codes: np.ndarray, classes: np.ndarray, n_classes: int, weights: np.ndarray | None = None
    ) -> ContingencyTable:
        """Count records.

        Parameters
        ----------
        codes : ndarray of int, shape (records, attributes)
            Leaf codes.
        classes : ndarray of int, shape (records,)
            Class codes, 0 to `n_classes` − 1.
        n_classes : int
        weights : ndarray of int, shape (records,), optional
            How often each record stands; 1 each by default.
        """
        codes = np.ascontiguousarray(codes, dtype=np.uint16)
        group, first = group_rows(codes)
        size = len(first) * n_classes
        cell = group * n_classes + classes
        if weights is None:
            counts = np.bincount(cell, minlength=size)
        else:
            counts = np.zeros(size, dtype=np.int64)
            np.add.at(counts, cell, weights)
        return cls(codes[first], counts.reshape(len(first), n_classes).astype(np.int64))

    @property
    def n(self) -> int:
        """Number of records (private)."""
        return int(self.counts.sum())

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.counts.shape[1]

    @property
    def class_counts(self) -> np.ndarray:
        """Records of each class, shape (classes,)."""
        return self.counts.sum(axis=0)

    def select(self, columns: list[int]) -> ContingencyTable:
        """The table of some of the attributes."""
        codes = np.ascontiguousarray(self.codes[:, columns])
        group, first = group_rows(codes)
        counts = np.zeros((len(first), self.n_classes), dtype=np.int64)
        np.add.at(counts, group, self.counts)
        return ContingencyTable(codes[first], counts)

    def marginal(self, column: int, leaves: int) -> np.ndarray:
        """Counts of one attribute by class, shape (leaves, classes)."""
        counts = np.zeros((leaves, self.n_classes), dtype=np.int64)
        np.add.at(counts, self.codes[:, column], self.counts)
        return counts

    def cells(self, node_maps: list[np.ndarray], sizes: list[int]) -> np.ndarray:
        """Histogram of a grid, every cell, empty ones included.

        Parameters
        ----------
        node_maps : list of ndarray
            Leaf → node of the grid's level, for each attribute.
        sizes : list of int
            Nodes of that level, for each attribute.

        Returns
        -------
        ndarray of int64, shape (cells, classes)
            Cells in C order of the nodes.
        """
        cell = np.zeros(len(self.codes), dtype=np.int64)
        for column, (node_map, size) in enumerate(zip(node_maps, sizes, strict=True)):
            if size > 1:
                cell = cell * size + node_map[self.codes[:, column]]
        counts = np.zeros((int(np.prod(sizes, dtype=np.int64)), self.n_classes), dtype=np.int64)
        np.add.at(counts, cell, self.counts)
        return counts


def group_rows(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find equal rows.

    Parameters
    ----------
    codes : ndarray of uint16, shape (rows, columns)

    Returns
    -------
    group : ndarray of int64, shape (rows,)
        Number of the distinct row that each row equals.
    first : ndarray of int64, shape (distinct,)
        Where each distinct row stands first.
    """
    rows = len(codes)
    if codes.shape[1] == 0 or rows == 0:
        return np.zeros(rows, dtype=np.int64), np.arange(min(rows, 1))
    words = _pack(codes)
    if len(words) == 1:
        _, first, group = np.unique(words[0], return_index=True, return_inverse=True)
        return group.astype(np.int64), first
    order = np.lexsort(words[::-1])
    changed = np.zeros(rows, dtype=bool)
    changed[0] = True
    for word in words:
        ordered = word[order]
        changed[1:] |= ordered[1:] != ordered[:-1]
    group = np.empty(rows, dtype=np.int64)
    group[order] = np.cumsum(changed) - 1
    return group, order[changed]


def _pack(codes: np.ndarray) -> list[np.ndarray]:
    """Write each row into as few 64-bit words as its codes need."""
    words: list[np.ndarray] = []
    used = 64
    for column in codes.T:
        bits = max(1, int(column.max()).bit_length())
        if used + bits > 64:
            words.append(np.zeros(len(codes), dtype=np.uint64))
            used = 0
        words[-1] |= column.astype(np.uint64) << np.uint64(used)
        used += bits
    return words
