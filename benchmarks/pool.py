"""How fast a pool of grids is scored, against two ways to count each grid from the records.

``python -m benchmarks.pool [--only NAME] [--json FILE]``, or the file itself, runs every case in a process of its own and prints, for each: rows, distinct
rows, pool size, seconds, grids a second, peak memory, threads, and the ratios of seconds a grid, in the same process, of

* ``numpy``: one `bincount` over the records for each grid,
* ``loop``: a compiled loop over the records for each grid,

both on a random sample of at most 1,000 grids of that pool (fewer where a table has over 100,000 rows).  The real tables are looked
for beside the project, in ``../shared/data``; cases without their table are left out and named.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numba import njit

from core.contingency import ContingencyTable
from core.encoding import read_records
from core.grid import GridSpace
from core.pool import score_pool, warm_up
from core.quality import SCALE, expected_loss_table
from core.schema import Label, PrivacyUnit, Schema
from core.source import label_values, open_table
from core.taxonomy_build import suggest_categorical, suggest_from_data, suggest_numeric
from core.taxonomy_io import read_taxonomies

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
EPSILON = 0.6
SAMPLED_GRIDS = 1_000
LARGEST_POOL = 500_000
"""Caps of the smaller tables are lowered until their pool has at most so many grids."""


@dataclass(frozen=True, eq=False)
class Table:
    """Records as leaf codes."""

    schema: Schema
    codes: np.ndarray
    classes: np.ndarray


@dataclass(frozen=True)
class Case:
    """One row of the benchmark.

    Parameters
    ----------
    name : str
    cap : int or None
        None: the largest cap up to 0.1·n whose pool has at most `LARGEST_POOL` grids.
    threads : int
    rows, attributes : int
        Of a generated table; 0 for a real one.
    compared : bool
        Whether the two other ways are timed.
    """

    name: str
    cap: int | None
    threads: int
    rows: int = 0
    attributes: int = 0
    compared: bool = True


@dataclass(frozen=True)
class Measurement:
    """What one case took."""

    case: str
    rows: int
    distinct_rows: int
    attributes: int
    classes: int
    cap: int
    pool_size: int
    seconds: float
    grids_per_second: float
    peak_mib: float
    threads: int
    ratio_numpy: float | None
    ratio_loop: float | None


CASES = (
    *(Case("adult", 4_069, threads) for threads in (1, 2)),
    *(Case("adult", cap, 2, compared=False) for cap in (509, 1_017, 2_035, 8_138, 16_276)),
    *(Case(name, None, 2) for name in ("mushroom", "optdigits", "br2000")),
    *(Case("generated", 200, 2, rows, 10) for rows in (10_000, 100_000, 1_000_000, 10_000_000)),
    *(Case("generated", 200, 2, 100_000, attributes, compared=False) for attributes in (6, 8, 12)),
)


def main() -> None:
    """Run the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", choices=sorted({case.name for case in CASES}))
    parser.add_argument("--json", metavar="FILE", type=Path)
    options = parser.parse_args()
    measurements = []
    columns = list(Measurement.__dataclass_fields__)
    print("  ".join(f"{column:>16}" for column in columns))
    for measurement in _measured([case for case in CASES if options.only in (None, case.name)]):
        measurements.append(measurement)
        print("  ".join(f"{_text(value):>16}" for value in asdict(measurement).values()), flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(measurement) for measurement in measurements], indent=1) + "\n")


def measure(case: Case) -> Measurement:
    """Score one pool, and count a sample of it in the two other ways."""
    table = _generated(case) if case.name == "generated" else _real(case.name)
    contingency = ContingencyTable.from_records(table.codes, table.classes, len(table.schema.label.values))
    space = GridSpace.of(table.schema)
    cap = case.cap or space.profile(len(table.codes) // 10).largest_cap(1, LARGEST_POOL)
    pool = space.pool(cap)
    warm_up()
    started = time.perf_counter()
    scores = score_pool(contingency, table.schema, pool, EPSILON, threads=case.threads)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ratios: dict[str, float] = {}
    if case.compared:
        size = max(20, min(SAMPLED_GRIDS, SAMPLED_GRIDS * 100_000 // len(table.codes)))
        sample = np.random.default_rng(0).choice(len(pool), min(size, len(pool)), replace=False)
        for name, way in (("numpy", _bincounts), ("loop", _loops)):
            found, took = way(table, pool[sample], space)
            np.testing.assert_array_equal(found, scores[sample])
            ratios[name] = (took / len(sample)) / (seconds / len(pool))
    return Measurement(
        case=case.name, rows=len(table.codes), distinct_rows=len(contingency.codes), attributes=len(space.names),
        classes=contingency.n_classes, cap=cap, pool_size=len(pool), seconds=seconds, grids_per_second=len(pool) / seconds,
        peak_mib=peak, threads=case.threads, ratio_numpy=ratios.get("numpy"), ratio_loop=ratios.get("loop"),
    )  # fmt: skip


def _measured(cases: list[Case]) -> Iterator[Measurement]:
    """Each case in a process of its own, so that the peak of memory is its own too."""
    spawn = multiprocessing.get_context("spawn")
    for case in cases:
        if case.name != "generated" and not (DATA / f"{case.name}.csv").is_file():
            print(f"{case.name} is left out: its table is not beside the project")
            continue
        with ProcessPoolExecutor(1, mp_context=spawn) as executor:
            yield executor.submit(measure, case).result()


def _real(name: str) -> Table:
    source = open_table(DATA / f"{name}.csv")
    label = label_values(source, {"adult": "class", "mushroom": "class", "optdigits": "digit", "br2000": "a13"}[name])
    if name == "adult":
        taxonomies = read_taxonomies((DATA / "adult_hierarchy.json").read_text(encoding="utf-8"))
    elif name == "br2000":
        columns = [column for column in source.columns if column != label.name]
        values = {column: source.distinct_values(column, 1_000) for column in columns}
        taxonomies = {column: suggest_categorical(column, values[column], suggested=True) for column in columns}
    else:
        taxonomies, _ = suggest_from_data(source, label)
    schema = Schema(tuple(taxonomies.values()), label, PrivacyUnit("record", 1))
    records = read_records(source, schema)
    return Table(schema, records.codes, records.classes)


def _generated(case: Case) -> Table:
    """Correlated numeric attributes of 16 leaves on four levels, and a binary class."""
    generator = np.random.default_rng(case.rows + case.attributes)
    hidden = generator.normal(size=case.rows)
    columns = []
    for _ in range(case.attributes):
        mixed = generator.uniform(0.3, 0.9) * hidden + generator.normal(size=case.rows)
        columns.append(np.clip(np.floor(8 + 3 * mixed), 0, 15).astype(np.uint16))
    classes = (hidden + generator.normal(size=case.rows) > 0.7).astype(np.int64)
    trees = tuple(suggest_numeric(f"a{j:02}", 0, 15, integer=True, suggested=False) for j in range(case.attributes))
    schema = Schema(trees, Label("class", ("no", "yes")), PrivacyUnit("record", 1))
    return Table(schema, np.column_stack(columns), classes)


def _bincounts(table: Table, levels: np.ndarray, space: GridSpace) -> tuple[np.ndarray, float]:
    """One bincount over the records for each grid; the nodes of every level are looked up beforehand."""
    loss = expected_loss_table(EPSILON)
    n_classes = len(table.schema.label.values)
    nodes = [
        [tree.level_maps[level].astype(np.int64)[table.codes[:, j]] for level in range(tree.height + 1)]
        for j, tree in enumerate(table.schema.taxonomies)
    ]
    scores = np.empty(len(levels), dtype=np.int64)
    started = time.perf_counter()
    for place, row in enumerate(levels):
        cell = np.zeros(len(table.codes), dtype=np.int64)
        for j in np.flatnonzero(row):
            cell = cell * space.level_sizes[j][row[j]] + nodes[j][row[j]]
        size = space.size(row) * n_classes
        counts = np.sort(np.bincount(cell * n_classes + table.classes, minlength=size).reshape(-1, n_classes), axis=1)
        x = np.minimum(counts[:, -1] - counts[:, -2], len(loss) - 1)
        scores[place] = counts[:, -1].sum() * SCALE - loss[x].sum()
    return scores, time.perf_counter() - started


def _loops(table: Table, levels: np.ndarray, space: GridSpace) -> tuple[np.ndarray, float]:
    """The straightforward compiled loop over the records for each grid."""
    trees = table.schema.taxonomies
    deepest, widest = max(tree.height for tree in trees) + 1, max(len(tree.leaves) for tree in trees)
    maps = np.zeros((len(trees), deepest, widest), dtype=np.int64)
    sizes = np.ones((len(trees), deepest), dtype=np.int64)
    for j, tree in enumerate(trees):
        maps[j, : tree.height + 1, : len(tree.leaves)] = tree.level_maps
        sizes[j, : tree.height + 1] = tree.level_sizes
    loss = expected_loss_table(EPSILON)
    n_classes = len(table.schema.label.values)
    way: Callable[..., np.ndarray] = _loop
    way(table.codes[:1], table.classes[:1], n_classes, levels[:1], maps, sizes, loss)
    started = time.perf_counter()
    scores = way(table.codes, table.classes, n_classes, levels, maps, sizes, loss)
    return scores, time.perf_counter() - started


@njit(cache=True)
def _loop(codes, classes, n_classes, levels, maps, sizes, loss):  # type: ignore[no-untyped-def]
    scores = np.empty(len(levels), dtype=np.int64)
    rows, d = codes.shape
    for place in range(len(levels)):
        cells = 1
        for j in range(d):
            cells *= sizes[j, levels[place, j]]
        counts = np.zeros((cells, n_classes), dtype=np.int64)
        for row in range(rows):
            cell = 0
            for j in range(d):
                level = levels[place, j]
                if level > 0:
                    cell = cell * sizes[j, level] + maps[j, level, codes[row, j]]
            counts[cell, classes[row]] += 1
        majority, lost = 0, 0
        for cell in range(cells):
            a, b = 0, 0
            for k in range(n_classes):
                b = max(b, min(a, counts[cell, k]))
                a = max(a, counts[cell, k])
            majority += a
            lost += loss[min(a - b, len(loss) - 1)]
        scores[place] = (majority << 32) - lost
    return scores


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    main()
