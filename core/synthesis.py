"""Noisy histogram → rows of a synthetic table.  Post-processing: it costs no privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from core.release import Release
from core.taxonomy import Node, Taxonomy

ANY = "Any"
"""Value of the attributes outside the grid, in the generalised shape."""

Shape = Literal["generalised", "sampled"]


def repaired_counts(counts: np.ndarray, rule: Literal["clip", "project"] = "clip") -> np.ndarray:
    """Whole counts ≥ 0 from noisy ones.

    Parameters
    ----------
    counts : ndarray of int64, shape (cells, classes)
        Noisy, negative ones included.
    rule : {"clip", "project"}, default "clip"
        Negative → 0 as in [A]; or the nearest counts ≥ 0 with the noisy total (Euclidean projection, rounded).

    Returns
    -------
    ndarray of int64, shape (cells, classes)
    """
    if rule == "clip":
        return np.maximum(counts, 0)
    flat = np.sort(counts.ravel())[::-1].astype(np.float64)
    total = max(0.0, float(counts.sum()))
    surplus = (np.cumsum(flat) - total) / np.arange(1, len(flat) + 1)
    kept = int(np.flatnonzero(flat - surplus > 0)[-1]) if total > 0 else 0
    shift = surplus[kept] if total > 0 else math.inf
    return np.rint(np.maximum(counts - shift, 0)).astype(np.int64)


def histogram_frame(release: Release) -> pd.DataFrame:
    """The noisy histogram itself, one row a cell and class, negative counts included.

    Returns
    -------
    DataFrame
        A column for each attribute of the grid (node labels), one for the label, and ``noisy_count``.
    """
    frame = _cell_frame(release)
    classes = release.schema.label.values
    frame = frame.loc[frame.index.repeat(len(classes))].reset_index(drop=True)
    frame[release.schema.label.name] = np.tile(np.array(classes, dtype=object), len(release.counts))
    frame["noisy_count"] = release.counts.ravel()
    return frame


def synthetic_rows(
    release: Release, shape: Shape, generator: np.random.Generator, rule: Literal["clip", "project"] = "clip"
) -> pd.DataFrame:
    """Rows of the synthetic table, in random order.

    Parameters
    ----------
    release : Release
    shape : {"generalised", "sampled"}
        ``generalised``: node labels, ``Any`` for attributes outside the grid, every declared column ([A]).
        ``sampled``: a value of the original domain drawn uniformly below the node; attributes outside the grid are left
        out.
    generator : numpy.random.Generator
        For the order and the drawn values.
    rule : {"clip", "project"}
        See `repaired_counts`.
    """
    counts = repaired_counts(release.counts, rule).ravel()
    classes = release.schema.label.values
    cell = generator.permutation(np.repeat(np.arange(len(counts)), counts))
    code, label = np.divmod(cell, len(classes))
    places = dict(zip(release.grid, np.unravel_index(code, _shape(release)), strict=True)) if release.grid else {}
    columns: dict[str, np.ndarray] = {}
    for taxonomy in release.schema.taxonomies:
        name = taxonomy.attribute
        if name in places:
            nodes = taxonomy.nodes(release.grid[name])
            if shape == "generalised":
                columns[name] = np.array([node.label for node in nodes], dtype=object)[places[name]]
            else:
                columns[name] = _draw(taxonomy, nodes, places[name], generator)
        elif shape == "generalised":
            columns[name] = np.full(len(cell), ANY, dtype=object)
    columns[release.schema.label.name] = np.array(classes, dtype=object)[label]
    return pd.DataFrame(columns)


def left_out(release: Release) -> tuple[str, ...]:
    """Attributes outside the grid: the sampled shape does not have them."""
    return tuple(name for name in release.schema.names if name not in release.grid)


def _shape(release: Release) -> tuple[int, ...]:
    return tuple(len(nodes) for nodes in release.nodes)


def _cell_frame(release: Release) -> pd.DataFrame:
    """Node labels of every cell, in the order of the counts."""
    if not release.grid:
        return pd.DataFrame(index=pd.RangeIndex(1))
    places = np.unravel_index(np.arange(len(release.counts)), _shape(release))
    return pd.DataFrame(
        {
            name: np.array([node.label for node in nodes], dtype=object)[place]
            for name, nodes, place in zip(release.grid, release.nodes, places, strict=True)
        }
    )


def _draw(taxonomy: Taxonomy, nodes: Sequence[Node], places: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A value of the original domain below each row's node."""
    drawn = np.empty(len(places), dtype=object)
    for place, node in enumerate(nodes):
        rows = np.flatnonzero(places == place)
        if not len(rows):
            continue
        if node.interval is not None:
            drawn[rows] = _draw_number(node, taxonomy.integer, len(rows), generator)
            continue
        leaves = node.leaves()
        picked = generator.integers(len(leaves), size=len(rows))
        for number, leaf in enumerate(leaves):
            here = rows[picked == number]
            if leaf.interval is not None:
                drawn[here] = _draw_number(leaf, taxonomy.integer, len(here), generator)
            else:
                drawn[here] = leaf.label
    return drawn


def _draw_number(node: Node, integer: bool, size: int, generator: np.random.Generator) -> np.ndarray:
    """Uniform in (low, high]; an open end is the finite edge itself."""
    interval = node.interval
    assert interval is not None
    low, high = interval.low, interval.high
    if not math.isfinite(low) or not math.isfinite(high):
        edge = high if math.isfinite(high) else low + 1 if math.isfinite(low) else 0.0
        return np.full(size, int(edge) if integer else edge, dtype=object)
    if integer:
        return generator.integers(int(low) + 1, int(high) + 1, size=size).astype(object)
    return (high - (high - low) * generator.random(size)).astype(object)
