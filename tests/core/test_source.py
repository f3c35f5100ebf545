"""core.source: tables as officers bring them, and the files that cannot be used."""

from __future__ import annotations

import contextlib
import datetime
import io
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.source import MAX_COLUMNS, TableSource, label_values, open_table
from tests.core.tables import SUFFIXES, write_table, write_text

SECRET = "Zaphod"
"""Stands in a cell of every broken file; no message may hold it."""

TABLE = {"a": ["1", "2", "3"], "b": ["x", None, "z z"], "y": ["p", "q", "p"]}


def cells(source: TableSource) -> dict[str, list[Any]]:
    """The table as it is read, None for an empty cell."""
    frame = source.head(1_000)
    return {name: [None if cell != cell else cell for cell in column] for name, column in frame.items()}


def read_all(path: Path) -> None:
    """Open a file and read every cell, as a release would."""
    source = open_table(path)
    source.count()
    source.missing_cells(source.columns)
    for column in source.columns:
        source.distinct_values(column, 10)


def refusal(path: Path) -> str:
    """The one sentence with which a file is refused."""
    with pytest.raises(InputError) as caught:
        read_all(path)
    message = str(caught.value)
    assert SECRET not in message
    assert "\n" not in message
    return message


# Formats


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_formats_hold_the_same_table(tmp_path: Path, suffix: str) -> None:
    """CSV, TSV, Parquet and Excel files of one table are read alike."""
    source = open_table(write_table(tmp_path, TABLE, suffix))
    assert cells(source) == TABLE
    assert source.count() == 3
    assert source.columns == ("a", "b", "y")
    assert source.name == f"table{suffix}"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_dialects_of_csv(tmp_path: Path, delimiter: str, line_end: str, mark: str) -> None:
    """The delimiter is found in the header; every line end and a byte-order mark are taken."""
    lines = [delimiter.join(["a", "b", "y"]), *(delimiter.join(cell or "" for cell in row) for row in zip(*TABLE.values()))]  # noqa: B905
    assert cells(open_table(write_text(tmp_path, mark + line_end.join(lines) + line_end))) == TABLE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a","y"\n"1,5","p"\n', {"a": ["1,5"], "y": ["p"]}),
        ('a,y\n"two\nlines",p\n', {"a": ["two\nlines"], "y": ["p"]}),
        ('a,y\n"say ""x""",p\n', {"a": ['say "x"'], "y": ["p"]}),
        ('a,y\n5" pipe,p\n', {"a": ['5" pipe'], "y": ["p"]}),
        ('"a, b, c";y\n1;p\n', {"a, b, c": ["1"], "y": ["p"]}),
        ("y\np\nq\n", {"y": ["p", "q"]}),
        ("a,y\n1,p\n\n2,q\n\n\n", {"a": ["1", "2"], "y": ["p", "q"]}),
        ("a,y\n1,p", {"a": ["1"], "y": ["p"]}),
        ("größe,名前\nklein,次郎\n", {"größe": ["klein"], "名前": ["次郎"]}),
        ("select,count,*,a.b,g{h},c'd\n1,2,3,4,5,6\n", dict(zip(["select", "count", "*", "a.b", "g{h}", "c'd"], "123456", strict=True))),
    ],
)  # fmt: skip
def test_csv_cells_stay_what_they_are(tmp_path: Path, text: str, expected: dict[str, Any]) -> None:
    """Quotes, commas and line ends inside quotes, any script, blank lines and names that mean something to an engine."""
    assert cells(open_table(write_text(tmp_path, text))) == {name: list(column) for name, column in expected.items()}


def test_cells_of_text_files_are_never_guessed(tmp_path: Path) -> None:
    """0/1, 007, 1.0 and dates of a text file stay the text they were."""
    column = ["0", "1", "007", "1.0", "1e3", "true", "2020-01-02", "+5", "NA"]
    source = open_table(write_table(tmp_path, {"a": column, "y": ["p"] * len(column)}))
    assert source.distinct_values("a", 99) == sorted(column)


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (pa.array([0, 1, 1], pa.int8()), ["0", "1"]),
        (pa.array([7, 2**64 - 1], pa.uint64()), ["18446744073709551615", "7"]),
        (pa.array([1.0, 2.5, 0.1], pa.float32()), ["0.1", "1.0", "2.5"]),
        (pa.array([1.0, 2.5, 0.1], pa.float64()), ["0.1", "1.0", "2.5"]),
        (pa.array([Decimal("1.50")], pa.decimal128(9, 2)), ["1.50"]),
        (pa.array([True, False]), ["false", "true"]),
        (pa.array([datetime.date(2020, 1, 2)]), ["2020-01-02"]),
        (pa.array(["x", "z", "x"]).dictionary_encode(), ["x", "z"]),
        (pa.array(["007", " 007 "]), ["007"]),
        (pa.array([[1], [1, 2]]), ["[1, 2]", "[1]"]),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)  # fmt: skip
def test_parquet_types_as_text(tmp_path: Path, column: pa.Array, texts: list[str]) -> None:
    """As categories, whole numbers have no decimal point, floats are as short as can be, and text is stripped."""
    assert open_table(write_table(tmp_path, {"a": column}, ".parquet")).distinct_values("a", 99) == texts


def test_excel_types_as_text(tmp_path: Path) -> None:
    """Numbers, dates and truth values of Excel become text; whole numbers have no decimal point."""
    column = [1, 2.0, 2.5, True, datetime.datetime(2020, 1, 2), "007"]
    source = open_table(write_table(tmp_path, {"a": column, "y": ["p"] * 6}, ".xlsx"))
    assert cells(source)["a"] == ["1", "2", "2.5", "True", "2020-01-02T00:00:00", "007"]


def test_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    """``TABLE.CSV`` is a CSV file."""
    assert open_table(write_text(tmp_path, "a,y\n1,p\n", "TABLE.CSV")).count() == 1


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("stem", ["t[1]", "t*", "t?"])
def test_one_path_is_one_file(tmp_path: Path, suffix: str, stem: str) -> None:
    """Brackets, stars and question marks of a file's name are no pattern: its neighbours are not read in its place."""
    write_table(tmp_path, {"a": ["neighbour"]}, suffix, stem="t1")
    path = write_table(tmp_path, {"a": ["wanted"]}, suffix, stem=stem)
    assert cells(open_table(path)) == {"a": ["wanted"]}


# Missing cells and numbers


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_blank_cells_are_missing(tmp_path: Path, suffix: str) -> None:
    """Empty cells and cells of blanks are missing in every format."""
    source = open_table(write_table(tmp_path, {"a": ["x", None, "", "  ", "\t"], "b": list("vwxyz")}, suffix))
    assert source.missing_cells(["a", "b"]) == {"a": 4}
    assert source.distinct_values("a", 9) == ["x"]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
@pytest.mark.parametrize("statistics", [True, False])
def test_not_a_number_is_missing(tmp_path: Path, kind: pa.DataType, statistics: bool) -> None:
    """A float column's not-a-number of either sign is missing, whether or not the file has statistics of the column."""
    numbers = np.array([0.5, np.nan, np.copysign(np.nan, -1), 0.25], dtype=kind.to_pandas_dtype())
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"a": pa.array(numbers, kind)}), path, write_statistics=statistics)
    source = open_table(path)
    assert source.missing_cells(["a"]) == {"a": 2}
    assert source.numeric_range("a") == (0.25, 0.5, False)


@pytest.mark.parametrize(
    ("column", "span"),
    [
        (["1", "2", "", "-3"], (-3, 2, True)),
        (["1", "2.0", "1e3"], (1, 1000, True)),
        (["1", "2.5"], (1, 2.5, False)),
        ([" 1 ", "\t2"], (1, 2, True)),
        (["1e300", "-1e300"], (-1e300, 1e300, False)),
        (["1", "x"], None),
        (["1", "NaN"], None),
        (["1", "inf"], None),
        (["1", "1,5"], None),
        (["", ""], None),
    ],
)
def test_range_of_a_column(tmp_path: Path, column: list[str], span: tuple[float, float, bool] | None) -> None:
    """The range of a column whose cells are all finite numbers, and whether they are whole; None otherwise."""
    source = open_table(write_table(tmp_path, {"a": column, "y": ["p"] * len(column)}))
    assert source.numeric_range("a") == span


def test_distinct_values_stop_at_the_limit(tmp_path: Path) -> None:
    """One value more than the limit is returned, so that a caller can tell."""
    source = open_table(write_table(tmp_path, {"a": list("abcdef")}))
    assert len(source.distinct_values("a", 3)) == 4
    assert source.distinct_values("a", 6) == list("abcdef")


def test_classes_are_read_and_marked(tmp_path: Path) -> None:
    """Classes read from the data are sorted and marked as suggested; an unknown label is refused."""
    source = open_table(write_table(tmp_path, TABLE))
    label = label_values(source, "y")
    assert (label.values, label.suggested) == (("p", "q"), True)
    with pytest.raises(InputError, match="no column “z”"):
        label_values(source, "z")


@pytest.mark.parametrize(("column", "count"), [(["x", "x", ""], "1 value"), (["", "", ""], "0 value")])
def test_label_of_one_value_is_refused(tmp_path: Path, column: list[str], count: str) -> None:
    """A column with fewer than two values is no label."""
    with pytest.raises(InputError, match=f"“y” has {count}; choose a column with at least two classes"):
        label_values(open_table(write_table(tmp_path, {"a": ["1", "2", "3"], "y": column})), "y")


def test_label_of_many_values_is_refused(tmp_path: Path) -> None:
    """A column with more than a hundred values is no label."""
    numbers = [str(number) for number in range(101)]
    with pytest.raises(InputError, match="101 values"):
        label_values(open_table(write_table(tmp_path, {"y": numbers, "a": numbers})), "y")


# Files that cannot be used


def parquet_bytes(**columns: Any) -> bytes:
    """A Parquet file."""
    return parquet_of(pa.table(columns))


def parquet_of(table: pa.Table) -> bytes:
    """A Parquet file of an Arrow table."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def excel_bytes(*rows: list[Any], prepare: Callable[[openpyxl.Workbook], None] = lambda book: None) -> bytes:
    """An Excel file with these rows on its first sheet."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    prepare(book)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def excel_part(part: str, change: Callable[[bytes], bytes | None]) -> bytes:
    """An Excel file with one of its parts changed, or left out where that gives None."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(excel_bytes(["a", "y"], [1, SECRET], [2, "q"]))) as whole,
        zipfile.ZipFile(buffer, "w") as changed,
    ):
        for name in whole.namelist():
            content = change(whole.read(name)) if name.endswith(part) else whole.read(name)
            if content is not None:
                changed.writestr(name, content)
    return buffer.getvalue()


GOOD = {
    ".csv": f"a,y\n1,{SECRET}\n".encode(),
    ".tsv": f"a\ty\n1\t{SECRET}\n".encode(),
    ".parquet": parquet_bytes(a=[1], y=[SECRET]),
    ".xlsx": excel_bytes(["a", "y"], [1, SECRET]),
}


@pytest.mark.parametrize("named", SUFFIXES)
@pytest.mark.parametrize("holding", [".csv", ".parquet", ".xlsx"])
def test_content_must_be_what_the_suffix_says(tmp_path: Path, named: str, holding: str) -> None:
    """A file of one format under the suffix of another is refused with both said."""
    if named == holding or {named, holding} == {".csv", ".tsv"}:
        read_all(write_text(tmp_path, GOOD[named], f"table{named}"))
    else:
        message = refusal(write_text(tmp_path, GOOD[holding], f"table{named}"))
        assert message.startswith(f"“table{named}” is not what its suffix says: it is named {named}")


OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)

BROKEN: dict[str, tuple[str, bytes | str, str]] = {
    "empty CSV": ("t.csv", "", "is empty"),
    "empty Parquet": ("t.parquet", "", "is empty"),
    "empty Excel": ("t.xlsx", "", "is empty"),
    "byte-order mark only": ("t.csv", "\ufeff", "has no header"),
    "blank lines only": ("t.csv", "\n\n\n", "has no header"),
    "blank first line": ("t.csv", f"\na,y\n1,{SECRET}\n", "has no header"),
    "header only": ("t.csv", "a,y\n", "has no records"),
    "header without line end": ("t.csv", "a,y", "has no records"),
    "header and blanks": ("t.csv", "a,y\n   \n", "has no records"),
    "no header, numbers": ("t.csv", f"1,{SECRET}\n2,q\n", "first line of “t.csv” looks like a record"),
    "duplicate name": ("t.csv", f"a,a,y\n1,2,{SECRET}\n", "Columns 1 and 2 of “t.csv” have the same name"),
    "duplicate name but for blanks": ("t.csv", f"a, a,y\n1,2,{SECRET}\n", "Columns 1 and 2"),
    "duplicate name but for capitals": ("t.csv", f"Age,b,age\n1,2,{SECRET}\n", "Columns 1 and 3"),
    "blank name": ("t.csv", f"a,,y\n1,2,{SECRET}\n", "Column 2 of “t.csv” has no name"),
    "comma after the header": ("t.csv", f"a,y,\n1,{SECRET},\n", "Column 3 of “t.csv” has no name"),
    "10,000 columns": ("t.csv", ",".join(f"c{j}" for j in range(10_000)) + f"\n{SECRET}", "has 10,000 columns"),
    "title above the table": ("t.csv", f"Report\n\na,y\n1,{SECRET}\n", "has no records"),
    "separator line": ("t.csv", f"sep=;\na;y\n1;{SECRET}\n", "has no name"),
    "comment line": ("t.csv", f"# exported\na,y\n1,{SECRET}\n", "more or fewer cells"),
    "line too long": ("t.csv", f"a,y\n1,p\n2,{SECRET},x\n", "more or fewer cells"),
    "line too short": ("t.csv", f"a,b,y\n1,2,p\n{SECRET}\n", "more or fewer cells"),
    "line too short far below": ("t.csv", "a,y\n" + "1,p\n" * 300_000 + f"{SECRET}\n", "more or fewer cells"),
    "unclosed quote": ("t.csv", f'a,y\n1,"{SECRET}\n2,q\n', "an unclosed quote"),
    "unclosed quote at the end": ("t.csv", f'a,y\n1,p\n2,"{SECRET}\n', "an unclosed quote"),
    "text after a quote": ("t.csv", f'a,y\n1,"p"{SECRET}\n', "an unclosed quote"),
    "mixed line ends": ("t.csv", f"a,y\r\n1,{SECRET}\n2,q\r\n3,p\n", "cannot be read"),
    "two lines in a name": ("t.csv", f'"a\nb",y\n1,{SECRET}\n', "more or fewer cells"),
    "Latin-1": ("t.csv", f"a,y\né,{SECRET}\n".encode("latin-1"), "is not UTF-8 text"),
    "bad bytes far below": ("t.csv", b"a,y\n" + b"1,p\n" * 500_000 + b"\xff," + SECRET.encode(), "is not UTF-8 text"),
    "UTF-16": ("t.csv", f"a,y\n1,{SECRET}\n".encode("utf-16"), "is not UTF-8 text"),
    "UTF-16 without a mark": ("t.csv", f"a,y\n1,{SECRET}\n".encode("utf-16-le"), "is not UTF-8 text"),
    "old Excel as CSV": ("t.csv", OLD_EXCEL, "is not UTF-8 text"),
    "old Excel as new Excel": ("t.xlsx", OLD_EXCEL, "is not what its suffix says"),
    "one endless line": ("t.csv", SECRET * 50_000, "has no records"),
    "one endless name": ("t.csv", SECRET * 50_000 + ",y\n1,p\n", "is not a table of cells"),
    "one endless cell": ("t.csv", "a,y\n1," + SECRET * 500_000 + "\n", "is not a table of cells"),
    "one endless cell below": ("t.csv", "a,y\n1,p\n2," + SECRET * 500_000 + "\n", "correct the line"),
    "JSON": ("t.csv", f'{{"a": [1, "{SECRET}"]}}', "has no records"),
    "unknown suffix": ("t.txt", f"a,y\n1,{SECRET}\n", "is not a table this program reads"),
    "no suffix": ("table", f"a,y\n1,{SECRET}\n", "is not a table this program reads"),
    "Parquet magic only": ("t.parquet", b"PAR1" + SECRET.encode() * 99 + b"PAR1", "cannot be read"),
    "half a Parquet file": ("t.parquet", GOOD[".parquet"][:150], "cannot be read"),
    "Parquet with bad bytes in a name": ("t.parquet", GOOD[".parquet"].replace(b"\x01a", b"\x01\x80"), "cannot be read"),
    "Parquet without columns": ("t.parquet", parquet_of(pa.table({})), "cannot be read"),
    "Parquet, duplicate name": (
        "t.parquet", parquet_of(pa.table([pa.array([1]), pa.array([SECRET])], names=["a", "a"])), "Columns 1 and 2",
    ),
    "Parquet, duplicate but for capitals": (
        "t.parquet", parquet_of(pa.table([pa.array([1]), pa.array([SECRET])], names=["a", "A"])), "Columns 1 and 2",
    ),
    "Parquet, blank name": (
        "t.parquet", parquet_of(pa.table([pa.array([1]), pa.array([SECRET])], names=["a", ""])), "Column 2",
    ),
    "Parquet, 10,000 columns": (
        "t.parquet", parquet_bytes(**{f"c{j}": [SECRET] for j in range(10_000)}), "has 10,000 columns",
    ),
    "Excel, empty sheet": ("t.xlsx", excel_bytes(), "has no header"),
    "Excel, empty first sheet": (
        "t.xlsx", excel_bytes(["a", "y"], [1, SECRET], prepare=lambda book: book.create_sheet("front", 0)), "has no header",
    ),
    "Excel, blank first row": ("t.xlsx", excel_bytes([], ["a", "y"], [1, SECRET]), "has no header"),
    "Excel, header only": ("t.xlsx", excel_bytes(["a", "y"]), "has no records"),
    "Excel, title above the table": ("t.xlsx", excel_bytes(["Report"], [], ["a", "y"], [1, SECRET]), "Column 2"),
    "Excel, blank name": ("t.xlsx", excel_bytes(["a", None, "y"], [1, SECRET, "p"]), "Column 2 of “t.xlsx” has no name"),
    "Excel, blank last name": ("t.xlsx", excel_bytes(["a", "y"], [1, "p"], [2, "q", SECRET]), "Column 3 of “t.xlsx”"),
    "Excel, duplicate name": ("t.xlsx", excel_bytes(["a", "b", "a"], [1, 2, SECRET]), "Columns 1 and 3"),
    "Excel, no header": ("t.xlsx", excel_bytes([1, SECRET], [2, "q"]), "looks like a record"),
    "Excel, 10,000 columns": ("t.xlsx", excel_bytes([f"c{j}" for j in range(10_000)], [SECRET]), "has 10,000 columns"),
    "Excel, cut sheet": ("t.xlsx", excel_part("sheet1.xml", lambda part: part[:-40]), "is not a readable Excel file"),
    "Excel, cut book": ("t.xlsx", excel_part("workbook.xml", lambda part: part[:-40]), "is not a readable Excel file"),
    "Excel, no sheet": ("t.xlsx", excel_part("sheet1.xml", lambda part: None), "is not a readable Excel file"),
    "Excel, text where a number should be": (
        "t.xlsx", excel_part("sheet1.xml", lambda part: part.replace(b"<v>1</v>", f"<v>{SECRET}</v>".encode())), "not a readable",
    ),
    "Excel, chart only": (
        "t.xlsx", excel_bytes(prepare=lambda book: (book.create_chartsheet(), book.remove(book.active))), "not a readable",
    ),
    "half an Excel file": ("t.xlsx", GOOD[".xlsx"][:2_000], "is not a readable Excel file"),
    "another ZIP file": ("t.xlsx", excel_part(".xml", lambda part: None), "is not a readable Excel file"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken_file_is_refused(tmp_path: Path, case: str) -> None:
    """A file that cannot be used is refused in one sentence that says why and quotes no cell."""
    name, content, reason = BROKEN[case]
    assert reason in refusal(write_text(tmp_path, content, name))


@pytest.mark.parametrize("name", ["gone.csv", "folder/gone.parquet", "x" * 300 + ".csv", "nul\0.csv"])
def test_absent_file_is_refused(tmp_path: Path, name: str) -> None:
    """A path that leads nowhere, or cannot be one, is refused."""
    assert "check" in refusal(tmp_path / name)


@pytest.mark.parametrize("name", ["folder.csv", "folder.xlsx", "folder.parquet", "folder"])
def test_folder_is_no_table(tmp_path: Path, name: str) -> None:
    """A folder is refused, whatever its name."""
    (tmp_path / name).mkdir()
    refusal(tmp_path / name)


def test_file_that_disappears_is_refused(tmp_path: Path) -> None:
    """A file that is gone when it is read is an input error, not a failure of the engine."""
    source = open_table(write_table(tmp_path, TABLE))
    (tmp_path / "table.csv").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        source.count()


def test_widest_table_is_taken(tmp_path: Path) -> None:
    """2,000 columns are taken, one more is refused."""
    names = [f"c{j}" for j in range(MAX_COLUMNS + 1)]
    assert open_table(write_table(tmp_path, {name: ["x"] for name in names[:-1]})).count() == 1
    assert "has 2,001 columns" in refusal(write_table(tmp_path, {name: ["x"] for name in names}))


def test_excel_rows_are_read_whatever_size_the_sheet_claims(tmp_path: Path) -> None:
    """Some programs write a sheet's size as one cell: no row or column is lost."""
    whole = b'<dimension ref="A1:B3"'
    content = excel_part("sheet1.xml", lambda part: part.replace(whole, b'<dimension ref="A1:A1"'))
    assert content != excel_part("sheet1.xml", lambda part: part)
    assert cells(open_table(write_text(tmp_path, content, "t.xlsx"))) == {"a": ["1", "2"], "y": [SECRET, "q"]}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60), st.sampled_from(SUFFIXES))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes, suffix: str) -> None:
    """Whatever bytes a file holds, it is read or refused with an input error, never another exception."""
    start = {".parquet": b"PAR1", ".xlsx": b"PK\x03\x04"}.get(suffix, b"")
    with contextlib.suppress(InputError):
        read_all(write_text(tmp_path, start + content, f"table{suffix}"))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text('ab1,;"\n\r\t |\0', max_size=40))
def test_any_text_is_read_or_refused(tmp_path: Path, text: str) -> None:
    """Whatever text stands in a CSV file, it is read or refused with an input error, never another exception."""
    with contextlib.suppress(InputError):
        read_all(write_text(tmp_path, text))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_files_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    """A good file with some bytes changed or cut off is read or refused, never another exception."""
    suffix = data.draw(st.sampled_from([".parquet", ".xlsx"]))
    content = bytearray(GOOD[suffix])
    for place, byte in data.draw(st.lists(st.tuples(st.integers(4, len(content) - 1), st.integers(0, 255)), max_size=5)):
        content[place] = byte
    end = data.draw(st.just(len(content)) | st.integers(4, len(content)))
    with contextlib.suppress(InputError):
        read_all(write_text(tmp_path, bytes(content[:end]), f"table{suffix}"))


def test_columns_named_by_year_are_names(tmp_path: Path) -> None:
    """Numbers as column names are names where another name stands over a number too."""
    path = tmp_path / "years.csv"
    path.write_text("person, 2019,2020\n1,5,6\n", encoding="utf-8")
    assert open_table(path).columns == ("person", "2019", "2020")
