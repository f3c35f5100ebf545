"""core.encoding: cells become leaf codes; nothing is dropped, guessed or invented in silence."""

from __future__ import annotations

import bisect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import encoding
from core.contingency import ContingencyTable
from core.encoding import read_contingency, read_records
from core.errors import InputError, UncoveredValuesError
from core.schema import Label, MissingPolicy, PrivacyUnit, Schema
from core.source import TableSource, open_table
from core.taxonomy import MISSING, OTHER, Taxonomy
from core.taxonomy_io import read_taxonomies
from tests.core.tables import SUFFIXES, categories, declare, intervals, node, write_table

DROP, LEAF = MissingPolicy.DROP, MissingPolicy.LEAF


def as_counts(table: ContingencyTable) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Leaf codes → counts by class, rows without records left out."""
    pairs = zip(table.codes.tolist(), table.counts.tolist(), strict=True)
    return {tuple(codes): tuple(counts) for codes, counts in pairs if any(counts)}


def source_of(folder: Path, suffix: str = ".csv", **columns: Any) -> TableSource:
    """An open table; a label with both classes is added where none is given."""
    rows = len(next(iter(columns.values())))
    return open_table(write_table(folder, {"y": (["p", "q"] * rows)[:rows]} | columns, suffix))


def leaves_of(source: TableSource, schema: Schema) -> list[str]:
    """The leaf of the first attribute in each record that is kept."""
    return [schema.taxonomies[0].leaves[code] for code in read_records(source, schema).codes[:, 0]]


# The two ways to read


CELLS = {
    "a": ["1", "2.5", "4", "0.5", "", " "],
    "b": ["x", "z", "Zürich", "", "other"],
    "y": ["p", "q", "p", "q", "p", ""],
}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_grouping_in_the_engine_equals_counting_records(tmp_path: Path, data: st.DataObject) -> None:
    """The contingency table grouped by the engine is the one counted from the records, dropped records included."""
    row = st.tuples(*(st.sampled_from(values) for values in CELLS.values()))
    rows = [("1", "x", "p"), ("4", "z", "q"), *data.draw(st.lists(row, max_size=20))]
    source = open_table(write_table(tmp_path, dict(zip(CELLS, zip(*rows, strict=True), strict=True))))
    policy = data.draw(st.sampled_from([DROP, LEAF] if all(label for *_, label in rows) else [DROP]))
    schema = declare(
        intervals("a", 0, 1, 2.5, 4, special=[MISSING]), categories("b", "x", "z", OTHER, MISSING), missing=policy
    )
    grouped, records = read_contingency(source, schema), read_records(source, schema)
    assert as_counts(grouped.contingency) == as_counts(records.contingency(2))
    assert grouped.dropped == records.dropped
    assert grouped.contingency.n + grouped.dropped == len(rows)


@pytest.mark.data
def test_adult_is_read_alike(shared_data: Path) -> None:
    """On Adult the engine groups the very table that is counted from the records: 45,222 of them, none dropped."""
    taxonomies = read_taxonomies((shared_data / "adult_hierarchy.json").read_text(encoding="utf-8"))
    schema = Schema(tuple(taxonomies.values()), Label("class", ("<=50K", ">50K")), PrivacyUnit("person", 1))
    source = open_table(shared_data / "adult.csv")
    grouped, records = read_contingency(source, schema), read_records(source, schema)
    assert grouped.contingency.class_counts.tolist() == [34_014, 11_208]
    assert as_counts(grouped.contingency) == as_counts(records.contingency(2))
    assert grouped.dropped == records.dropped == 0


def test_records_keep_the_order_of_the_file(tmp_path: Path) -> None:
    """Records come in the order of the file, with the numbers of numeric attributes and the folds beside them."""
    numbers = [str(number) for number in np.random.default_rng(0).permutation(2_000)]
    source = source_of(tmp_path, a=numbers, b=["x", "z"] * 1_000, fold=[str(row % 10) for row in range(2_000)])
    schema = declare(categories("b", "x", "z"), intervals("a", -1, 999, 1_999))
    records = read_records(source, schema, fold_column="fold")
    assert records.numbers[:, 1].tolist() == [float(number) for number in numbers]
    assert np.isnan(records.numbers[:, 0]).all()
    assert records.codes[:, 0].tolist() == [0, 1] * 1_000
    assert records.codes[:, 1].tolist() == [int(int(number) > 999) for number in numbers]
    assert records.folds is not None
    assert records.folds.tolist() == list(range(10)) * 200
    assert records.classes.tolist() == [0, 1] * 1_000


# Missing cells


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("taxonomy", [categories("a", "1", "2", MISSING), intervals("a", 0, 1, 2, special=[MISSING])])
def test_missing_cells_follow_the_policy(tmp_path: Path, suffix: str, taxonomy: Taxonomy) -> None:
    """Without a policy a missing cell is an error that counts them; else the record is dropped, or the cell has its leaf."""
    source = source_of(tmp_path, suffix, a=["1", None, "  ", "2", "1"])
    with pytest.raises(
        InputError, match="“a” has 2 empty cells: choose the missing-value policy “drop” to leave such records out"
    ):
        read_contingency(source, declare(taxonomy))
    dropped = read_contingency(source, declare(taxonomy, missing=DROP))
    assert (dropped.contingency.n, dropped.dropped) == (3, 2)
    kept = read_contingency(source, declare(taxonomy, missing=LEAF))
    assert (kept.contingency.n, kept.dropped) == (5, 0)
    assert as_counts(kept.contingency)[2,] == (1, 1)


@pytest.mark.parametrize("taxonomy", [categories("a", "1", "2"), intervals("a", 0, 1, 2)])
def test_missing_cells_need_their_leaf(tmp_path: Path, taxonomy: Taxonomy) -> None:
    """The policy ``leaf`` is refused where the taxonomy declares no leaf ``missing``; ``other`` does not take them."""
    source = source_of(tmp_path, a=["1", "", "2", "1"])
    with pytest.raises(InputError, match="“a” has empty cells but its taxonomy has no leaf “missing”"):
        read_contingency(source, declare(taxonomy, missing=LEAF))
    with pytest.raises(InputError, match="no leaf “missing”"):
        read_contingency(source, declare(categories("a", "1", "2", OTHER), missing=LEAF))


def test_not_a_number_of_parquet_is_missing(tmp_path: Path) -> None:
    """Not-a-number in a float column is a missing cell, for intervals and for categories, and never ``other``."""
    source = source_of(tmp_path, ".parquet", a=[0.5, math.nan, 1.0, None])
    for taxonomy in (intervals("a", 0, 0.5, 1, special=[MISSING, OTHER]), categories("a", "0.5", "1.0", MISSING, OTHER)):
        with pytest.raises(InputError, match="2 empty cells"):
            read_contingency(source, declare(taxonomy))
        counted = read_contingency(source, declare(taxonomy, missing=LEAF)).contingency
        assert as_counts(counted)[taxonomy.leaves.index(MISSING),] == (0, 2)
        assert (taxonomy.leaves.index(OTHER),) not in as_counts(counted)


@pytest.mark.parametrize("policy", [None, LEAF])
def test_missing_label_is_dropped_or_refused(tmp_path: Path, policy: MissingPolicy | None) -> None:
    """A record without a label is dropped where the policy says so, and an error otherwise."""
    source = source_of(tmp_path, a=["1", "2", "1"], y=["p", "q", ""])
    taxonomy = categories("a", "1", "2", MISSING)
    assert read_contingency(source, declare(taxonomy, missing=DROP)).dropped == 1
    with pytest.raises(InputError, match="The label “y” has empty cells"):
        read_contingency(source, declare(taxonomy, missing=policy))


def test_dropped_records_are_not_checked(tmp_path: Path) -> None:
    """A record that is dropped for a missing cell may hold values outside the other taxonomies."""
    source = source_of(tmp_path, a=["1", "2", ""], b=["x", "z", "unheard of"], c=["1", "2", "no number"])
    schema = declare(categories("a", "1", "2"), categories("b", "x", "z"), intervals("c", 0, 1, 2), missing=DROP)
    assert read_contingency(source, schema).contingency.n == 2


def test_missing_numbers_are_not_a_number(tmp_path: Path) -> None:
    """A record in the leaf ``missing`` of a numeric attribute has no number."""
    schema = declare(intervals("a", 0, 1, 2, special=[MISSING]), missing=LEAF)
    records = read_records(source_of(tmp_path, a=["1", "", "2"]), schema)
    assert np.array_equal(records.numbers[:, 0], [1, math.nan, 2], equal_nan=True)
    assert records.codes[:, 0].tolist() == [0, 2, 1]


# Categories


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_categories_stay_what_they_were(tmp_path: Path, suffix: str) -> None:
    """0, 1, 007, 1.0, 7 and 1 are six categories of a text file; none is read as a number."""
    cells = ["0", "1", "007", "1.0", "7", "01"]
    assert leaves_of(source_of(tmp_path, suffix, a=cells), declare(categories("a", *cells))) == cells


def test_whole_numbers_of_parquet_have_no_point(tmp_path: Path) -> None:
    """The whole number 1 of a Parquet file is the category 1, not 1.0; of a float column it is 1.0."""
    schema = declare(categories("a", "0", "1"))
    assert leaves_of(source_of(tmp_path, ".parquet", a=[0, 1, 1]), schema) == ["0", "1", "1"]
    with pytest.raises(UncoveredValuesError):
        leaves_of(source_of(tmp_path, ".parquet", a=[0.0, 1.0]), schema)


def test_blanks_around_a_cell_do_not_count(tmp_path: Path) -> None:
    """Blanks at the ends of a cell are no part of its value; blanks inside are."""
    source = source_of(tmp_path, a=[" x", "x ", "\tx", "x x"])
    assert leaves_of(source, declare(categories("a", "x", "x x"))) == ["x", "x", "x", "x x"]


def test_capitals_count(tmp_path: Path) -> None:
    """“Male” and “male” are two values."""
    with pytest.raises(UncoveredValuesError):
        leaves_of(source_of(tmp_path, a=["Male", "male"]), declare(categories("a", "Male", "Female")))


def test_names_of_inner_nodes_are_no_values(tmp_path: Path) -> None:
    """Only leaves are values: the label of a group is outside the domain."""
    taxonomy = Taxonomy("a", node("Any", {"Group": {"x": {}, "z": {}}, "w": {}}))
    with pytest.raises(UncoveredValuesError):
        leaves_of(source_of(tmp_path, a=["x", "Group"]), declare(taxonomy))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_values_outside_the_taxonomy_are_named_to_the_curator(tmp_path: Path, suffix: str) -> None:
    """Uncovered values are an error with the attribute and their number; the values are beside it, never in the text."""
    source = source_of(tmp_path, suffix, a=["x", "secret", "z", "hidden", "secret"])
    with pytest.raises(UncoveredValuesError, match="“a” has 3 records with a value outside its taxonomy") as caught:
        read_contingency(source, declare(categories("a", "x", "z")))
    assert (caught.value.attribute, caught.value.count) == ("a", 3)
    assert set(caught.value.values) == {"secret", "hidden"}
    assert not any(value in str(caught.value) for value in caught.value.values)


def test_other_takes_what_is_outside(tmp_path: Path) -> None:
    """A declared leaf ``other`` takes every value outside the domain, of categories and of numbers."""
    source = source_of(tmp_path, a=["x", "new", "z"], b=["1", "99", "-99"])
    schema = declare(categories("a", "x", "z", OTHER), intervals("b", 0, 1, 2, special=[OTHER]))
    assert read_records(source, schema).codes.tolist() == [[0, 0], [2, 2], [1, 2]]


# Numbers


EDGES = [
    ("0", None), ("0.0000001", 0), ("1", 0), ("1.0", 0), ("1e0", 0), ("+1", 0), (" 1 ", 0), ("1.0000001", 1), ("2.5", 1),
    ("2.5000001", 2), ("4", 2), ("4.0000001", None), ("-1", None), ("1e400", None), ("-inf", None), ("inf", None),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "leaf"), EDGES)
@pytest.mark.parametrize("limit", [0, 256])
def test_intervals_are_closed_on_the_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str, leaf: int | None, limit: int
) -> None:
    """A value on an edge belongs to the interval that ends there; outside the range it is not covered, on both paths."""
    monkeypatch.setattr(encoding, "_BINNED_LEAVES", limit)
    schema = declare(intervals("a", 0, 1, 2.5, 4, special=[OTHER]))
    codes = read_records(source_of(tmp_path, a=[cell, "2"]), schema).codes[:, 0]
    assert codes.tolist() == [3 if leaf is None else leaf, 1]
    if leaf is None:
        with pytest.raises(UncoveredValuesError):
            read_contingency(source_of(tmp_path, a=[cell, "2"]), declare(intervals("a", 0, 1, 2.5, 4)))


@pytest.mark.parametrize("limit", [0, 256])
def test_open_ends_take_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Intervals from −inf and to inf leave out minus infinity alone, which no left-open interval holds."""
    monkeypatch.setattr(encoding, "_BINNED_LEAVES", limit)
    schema = declare(intervals("a", -math.inf, 0, math.inf, special=[OTHER]))
    source = source_of(tmp_path, a=["-1e308", "0", "1e308", "inf", "-inf"])
    assert read_records(source, schema).codes[:, 0].tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("limit", [0, 256])
@pytest.mark.parametrize(
    "cell", ["x", "1,5", "1 000", "NaN", "NA", "1/2", "$1", "true", "2020-01-01", "1.2.3", "--1", "0x1"]
)
def test_cells_that_are_no_numbers_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str, limit: int
) -> None:
    """A cell that is not a number under intervals is an error, also where there is a leaf ``other``; it is not quoted."""
    monkeypatch.setattr(encoding, "_BINNED_LEAVES", limit)
    source = source_of(tmp_path, a=["1", cell, cell])
    with pytest.raises(InputError, match="“a” is numeric by its taxonomy but 2 cells cannot be read as a number") as caught:
        read_contingency(source, declare(intervals("a", 0, 1, 2, special=[OTHER, MISSING]), missing=LEAF))
    assert f" {cell} " not in f" {caught.value} "


numbers = st.one_of(
    st.integers(-20, 320).map(str),
    st.floats(-20, 320).map(repr),
    st.builds("{:.2f}".format, st.floats(-20, 320)),
    st.sampled_from(["", "1e2", "+7", "007", ".5", "5.", "inf", "-inf", " 3 ", "1e-400", "1e400"]),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(numbers, min_size=1, max_size=30), st.integers(257, 300))
def test_many_intervals_are_read_by_the_definition(tmp_path: Path, cells: list[str], bins: int) -> None:
    """With more intervals than the engine bins itself, every cell still has the leaf that the definition gives."""
    edges = [float(edge) for edge in range(bins + 1)]
    schema = declare(intervals("a", *edges, special=[MISSING, OTHER]), missing=LEAF)
    expected = []
    for cell in cells:
        number = float(cell) if cell.strip() else None
        place = 0 if number is None else bisect.bisect_left(edges, number)
        expected.append(bins if number is None else place - 1 if 0 < place <= bins else bins + 1)
    source = source_of(tmp_path, a=[*cells, "1"], y=[*("p" for _ in cells), "q"])
    assert read_records(source, schema).codes[:-1, 0].tolist() == expected
    assert read_contingency(source, schema).contingency.n == len(cells) + 1


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(numbers, min_size=1, max_size=30))
def test_both_paths_agree(tmp_path: Path, cells: list[str]) -> None:
    """Binning in the engine and binning the text give the same leaves."""
    schema = declare(intervals("a", -5, 0, 0.5, 3, 100, 250, special=[MISSING, OTHER]), missing=LEAF)
    source = source_of(tmp_path, a=[*cells, "1"])
    with pytest.MonkeyPatch.context() as patch:
        binned = read_records(source, schema).codes
        patch.setattr(encoding, "_BINNED_LEAVES", 0)
        assert read_records(source, schema).codes.tolist() == binned.tolist()


@pytest.mark.parametrize("limit", [0, 256])
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64(), pa.decimal128(9, 1)])
def test_typed_numbers_on_an_edge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: pa.DataType, limit: int) -> None:
    """0.1, 0.3 and 0.7 of any Parquet type belong to the intervals that end there."""
    monkeypatch.setattr(encoding, "_BINNED_LEAVES", limit)
    source = source_of(tmp_path, ".parquet", a=pa.array([0.1, 0.3, 0.7]).cast(kind))
    assert read_records(source, declare(intervals("a", 0, 0.1, 0.3, 0.7))).codes[:, 0].tolist() == [0, 1, 2]


def test_special_leaves_may_stand_anywhere(tmp_path: Path) -> None:
    """Codes follow the leaves of the tree, wherever ``missing`` and ``other`` stand in it."""
    below = {"known": {"(0, 1]": {}, OTHER: {}, "(1, 2]": {}}, MISSING: {}, "(2, 3]": {}}
    taxonomy = Taxonomy("a", node("Any", below))
    source = source_of(tmp_path, a=["0.5", "2", "3", "", "9"])
    expected = ["(0, 1]", "(1, 2]", "(2, 3]", MISSING, OTHER]
    assert leaves_of(source, declare(taxonomy, missing=LEAF)) == expected


# Labels, folds and absent columns


def test_undeclared_class_is_refused(tmp_path: Path) -> None:
    """A class that is not declared is an error that counts its records and does not quote it."""
    source = source_of(tmp_path, a=["1", "2", "1"], y=["p", "q", "secret"])
    with pytest.raises(InputError, match="The label “y” has 1 record with a class that is not declared") as caught:
        read_contingency(source, declare(categories("a", "1", "2")))
    assert "secret" not in str(caught.value)


def test_classes_keep_the_declared_order(tmp_path: Path) -> None:
    """Class codes follow the declaration; a declared class may have no record, but one class alone is no label."""
    source = source_of(tmp_path, a=["1", "2", "1"], y=["p", "q", "p"])
    schema = declare(categories("a", "1", "2"), values=("q", "r", "p"))
    assert read_contingency(source, schema).contingency.class_counts.tolist() == [1, 0, 2]
    with pytest.raises(InputError, match="has one value only"):
        read_contingency(source_of(tmp_path, a=["1", "2"], y=["p", "p"]), schema)


@pytest.mark.parametrize("read", [read_contingency, read_records])
def test_absent_columns_are_named(tmp_path: Path, read: Any) -> None:
    """An attribute or a label that the table does not have is named."""
    source = source_of(tmp_path, a=["1", "2"], z=["p", "q"])
    with pytest.raises(InputError, match="no column “b”"):
        read(source, declare(categories("a", "1", "2"), categories("b", "1", "2")))
    with pytest.raises(InputError, match="no column “y”"):
        read(open_table(write_table(tmp_path, {"a": ["1", "2"]})), declare(categories("a", "1", "2")))


@pytest.mark.parametrize("read", [read_contingency, read_records])
def test_no_record_left_is_refused(tmp_path: Path, read: Any) -> None:
    """A table without records, or whose records are all dropped, is refused."""
    schema = declare(categories("a", "1", "2"), missing=DROP)
    with pytest.raises(InputError, match="No record is left"):
        read(source_of(tmp_path, a=["", ""]), schema)
    empty = {"a": pa.array([], pa.string()), "y": pa.array([], pa.string())}
    with pytest.raises(InputError, match="No record is left"):
        read(open_table(write_table(tmp_path, empty, ".parquet")), schema)


@pytest.mark.parametrize("fold", ["", "x", "0.5", "inf", "1e400"])
def test_folds_are_whole_numbers(tmp_path: Path, fold: str) -> None:
    """A fold that is missing or no whole number is refused, never rounded."""
    source = source_of(tmp_path, a=["1", "2"], fold=["0", fold])
    with pytest.raises(InputError, match="“fold” must hold a whole number"):
        read_records(source, declare(categories("a", "1", "2")), "fold")


@pytest.mark.parametrize(
    ("suffix", "folds"), [(".csv", ["0", "1", "2"]), (".csv", ["0.0", "1", "2.0"]), (".parquet", [0, 1, 2])]
)
def test_folds_of_a_column(tmp_path: Path, suffix: str, folds: list[Any]) -> None:
    """Folds are read as whole numbers however they are written; dropped records have none."""
    source = source_of(tmp_path, suffix, a=["1", "", "2"], fold=folds)
    records = read_records(source, declare(categories("a", "1", "2"), missing=DROP), "fold")
    assert records.folds is not None
    assert records.folds.tolist() == [0, 2]
    with pytest.raises(InputError, match="no column “part”"):
        read_records(source, declare(categories("a", "1", "2"), missing=DROP), "part")
