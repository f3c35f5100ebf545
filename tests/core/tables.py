"""Small tables on disk, the declarations that go with them, and releases with given counts."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from core.budget import Recipe
from core.plan import make_plan, size_source
from core.recipes import TUNED
from core.release import Release
from core.schema import Label, MissingPolicy, PrivacyUnit, Schema
from core.taxonomy import Node, Taxonomy

SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx")

Below = Mapping[str, Any]
"""Label → what stands below it; ``{}`` for a leaf."""


def node(label: str, below: Below) -> Node:
    """A node with everything below it."""
    return Node(label, tuple(node(child, rest) for child, rest in below.items()))


def categories(attribute: str, *leaves: str, suggested: bool = False) -> Taxonomy:
    """``Any`` with leaves below it."""
    return Taxonomy(attribute, node("Any", {leaf: {} for leaf in leaves}), suggested)


def intervals(attribute: str, *edges: float, special: Sequence[str] = ()) -> Taxonomy:
    """``Any`` with the intervals between the edges below it, and special leaves such as ``missing``."""
    labels = [f"({low}, {high}]" for low, high in itertools.pairwise(edges)]
    return Taxonomy(attribute, node("Any", {label: {} for label in (*labels, *special)}))


def declare(
    *taxonomies: Taxonomy,
    values: Sequence[str] = ("p", "q"),
    missing: MissingPolicy | None = None,
    size: int | None = None,
    rows: int = 1,
) -> Schema:
    """A schema with the label ``y``."""
    return Schema(taxonomies, Label("y", tuple(values)), PrivacyUnit("person", rows), size, missing)


def write_text(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    """A file with exactly these characters, in UTF-8."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def write_table(folder: Path, columns: Mapping[str, Sequence[Any]], suffix: str = ".csv", stem: str = "table") -> Path:
    """A table in one of the four formats; None is an empty cell."""
    path = folder / f"{stem}{suffix}"
    rows = list(zip(*columns.values(), strict=True))
    if suffix == ".parquet":
        pq.write_table(pa.table(dict(columns)), path)
    elif suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in (tuple(columns), *rows):
            book.active.append(row)
        book.save(path)
    else:
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
        writer.writerows([tuple(columns), *rows])
        write_text(folder, text.getvalue(), path.name)
    return path


def release_of(
    schema: Schema,
    grid: dict[str, int],
    counts: Sequence[Sequence[int]],
    *,
    recipe: Recipe = TUNED,
    n: int = 100,
    epsilon: Fraction = Fraction(1),
) -> Release:
    """The release of a grid with given noisy counts, one row a cell."""
    plan = make_plan(recipe, schema, epsilon, n, size_source(recipe, schema.size))
    return Release(
        schema=schema, plan=plan, epsilon=epsilon, attributes=schema.names, dropped=(), cap=plan.cap,
        pool_size=plan.pool_size, grid=grid, counts=np.array(counts, dtype=np.int64), spends=(), private=True,
    )  # fmt: skip
