"""core.cli: `privpfc`, one JSON object or a few lines for people; errors in one line, exit status 2."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import cli
from core.bundle import Bundle
from core.cli import main
from core.visibility import PublicOutput
from tests.core.tables import SUFFIXES, write_table, write_text

SECRET = "Zaphod"
"""Stands in a cell of every table; nothing that is printed may hold it."""

TAXONOMIES = {
    "a": {"(-1, 8]": {"(-1, 3]": {"(-1, 1]": {}, "(1, 3]": {}}, "(3, 8]": {"(3, 5]": {}, "(5, 8]": {}}}},
    "b": {"Any": {"u": {}, "v": {}, "w": {}}},
}

COLUMNS = {
    "a": [str(row % 8) for row in range(240)],
    "b": ["uvw"[row % 3] for row in range(240)],
    "name": [SECRET] * 240,
    "fold": [str(row % 4) for row in range(240)],
    "y": ["pq"[row % 8 > 3] for row in range(240)],
}
"""The class follows a: p up to 3, q above."""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a folder with a table and its taxonomies; gives the status and what was printed."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path, COLUMNS, stem="t")
    write_text(tmp_path, json.dumps(TAXONOMIES), "t.json")

    def command(*arguments: str) -> tuple[int, str, str]:
        try:
            status = main(arguments)
        except SystemExit as stopped:
            status = int(stopped.code or 0)
        out, err = capsys.readouterr()
        assert SECRET not in out + err
        assert "Traceback" not in err
        return status, out, err

    return command


DECLARED = ("--label", "y", "--taxonomies", "t.json")
NOTICE = "Note: left out, as they have no taxonomy: name, fold\n"


def answer(run: Run, command: str, *arguments: str) -> dict[str, Any]:
    """The one JSON object that a command prints."""
    status, out, _ = run(command, "t.csv", *DECLARED, *arguments, "--json")
    assert status == 0
    assert out.count("\n") == 1
    return dict(json.loads(out, parse_constant=pytest.fail))


# Answers


def test_preview_prints_one_object(run: Run) -> None:
    """``preview --json`` prints n, cap, pool, path, k and the ranking, best first."""
    found = answer(run, "preview", "--epsilon", "1", "--recipe", "paper-2015")
    assert found == {
        "n": 240,
        "cell_cap": 24,
        "pool_size": 6,
        "feature_selection": False,
        "k": None,
        "ranking": [{"attribute": "a", "score": 240.0}, {"attribute": "b", "score": 0.0}],
    }
    assert answer(run, "preview", "--epsilon", "1", "--recipe", "paper-2015", "--size", "120")["n"] == 120


@pytest.mark.parametrize("recipe", ["tuned", "journal-2018", "paper-2015"])
def test_release_writes_the_bundle(run: Run, tmp_path: Path, recipe: str) -> None:
    """``release --json`` writes every file it names and prints what the manifest says."""
    found = answer(run, "release", "--epsilon", "0.5", "--recipe", recipe, "--out", "new/out")
    assert list(found) == ["epsilon", "epsilon_spent", "grid", "cells", "pool_size", "rows", "caveats", "files"]
    assert sorted(found["files"]) == sorted(path.name for path in (tmp_path / "new" / "out").iterdir())
    manifest = json.loads((tmp_path / "new" / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert (found["epsilon"], found["epsilon_spent"]) == ("1/2", manifest["guarantee"]["epsilon_spent"])
    assert found["epsilon_spent"] <= 0.5
    assert (found["grid"], found["cells"], found["rows"]) == (
        manifest["grid"], manifest["cells"], manifest["synthetic_rows"],
    )  # fmt: skip
    assert manifest["private"] is True


def test_release_takes_every_declaration(run: Run, tmp_path: Path) -> None:
    """Classes, size, unit, split, policy and repair come from the options: such a release has no caveat."""
    found = answer(
        run, "release", "--epsilon", "1", "--label-values", "p, q", "--size", "250", "--unit", "patient:2",
        "--split", "selection=40,histogram=60", "--missing", "drop", "--counts", "project", "--out", "out",
    )  # fmt: skip
    assert found["caveats"] == []
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["guarantee"]["epsilon_per_unit"] == "2"
    assert manifest["records"] == {"number_used": 250, "source": "declared", "missing_values": "drop"}
    assert {step: part["epsilon"] for step, part in manifest["split"].items()} == {"selection": "2/5", "histogram": "3/5"}
    assert "projected" in manifest["negative_counts"]


def test_quality_prints_expected_errors(run: Run, tmp_path: Path) -> None:
    """``quality --json`` prints Eq. 1 of each grid in the order of the file: all-root, the exact rule, too fine, irrelevant."""
    grids: list[dict[str, int]] = [{}, {"a": 1}, {"a": 2, "b": 1}, {"b": 1}]
    write_text(tmp_path, json.dumps(grids), "g.json")

    def loss(x: int) -> float:
        return x * math.exp(-0.5 * x) * (1 + 0.5 * x / 2) / 2

    found = answer(run, "quality", "--histogram-epsilon", "0.5", "--grids", "g.json")
    assert list(found) == ["qualities"]
    sizes = [
        sum(240 // 24 for row in range(24) if row % 8 in leaf and row % 3 == b)
        for leaf in ({0, 1}, {2, 3}, {4, 5}, {6, 7})
        for b in range(3)
    ]
    assert found["qualities"] == pytest.approx([120, 2 * loss(120), sum(map(loss, sizes)), 120])


def test_evaluate_prints_every_result(run: Run) -> None:
    """``evaluate --json`` prints a result for each method, ε, classifier, fold and repeat."""
    found = answer(
        run, "evaluate", "--epsilon", "1,1/2", "--methods", "tuned,noise-free,majority", "--classifiers", "tree",
        "--folds", "3", "--repeats", "2", "--seed", "0",
    )  # fmt: skip
    assert list(found) == ["results"]
    assert len(found["results"]) == 2 * 3 * (2 + 1 + 1)
    for result in found["results"]:
        assert list(result) == ["method", "epsilon", "classifier", "fold", "repeat", "error", "seconds"]
    assert {result["error"] for result in found["results"] if result["method"] == "noise-free"} == {0.0}
    assert {result["error"] for result in found["results"] if result["method"] == "majority"} == {0.5}
    assert {result["epsilon"] for result in found["results"] if result["method"] == "tuned"} == {1.0, 0.5}


def test_evaluate_takes_folds_from_a_column(run: Run) -> None:
    """``--fold-column`` and ``--only-folds`` choose the folds, also where taxonomies are suggested."""
    options = (
        "--epsilon",
        "1",
        "--methods",
        "majority",
        "--classifiers",
        "tree",
        "--fold-column",
        "fold",
        "--only-folds",
        "1,3",
    )
    assert [result["fold"] for result in answer(run, "evaluate", *options)["results"]] == [1, 3]
    status, out, err = run("evaluate", "t.csv", "--label", "y", *options, "--json")
    assert status == 0
    assert [result["fold"] for result in json.loads(out)["results"]] == [1, 3]
    assert err.splitlines() == [
        "Note: no taxonomies given: suggested from the private data, so the release is not private end to end",
        "Note: “name” is left out: it holds a single value",
    ]


def test_repeatable_noise_repeats(run: Run) -> None:
    """``--seed`` repeats an experiment; without it the noise is never the same twice."""
    options = ("--epsilon", "0.05", "--methods", "tuned", "--classifiers", "tree", "--folds", "2", "--repeats", "8")

    def errors(*seed: str) -> list[float]:
        return [result["error"] for result in answer(run, "evaluate", *options, *seed)["results"]]

    assert errors("--seed", "3") == errors("--seed", "3")
    assert errors() != errors()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_taken(run: Run, tmp_path: Path, suffix: str) -> None:
    """A table of any format gives the same preview."""
    write_table(tmp_path, COLUMNS, suffix, stem="same")
    status, out, _ = run("preview", f"same{suffix}", *DECLARED, "--epsilon", "1", "--json")
    assert status == 0
    assert json.loads(out) == answer(run, "preview", "--epsilon", "1")


PEOPLE: dict[str, tuple[tuple[str, ...], str]] = {
    "preview": (("--epsilon", "1"), "CURATOR-ONLY"),
    "quality": (("--histogram-epsilon", "1", "--grids", "g.json"), "CURATOR-ONLY"),
    "evaluate": (("--epsilon", "1", "--folds", "2", "--classifiers", "tree"), "CURATOR-ONLY"),
    "release": (("--epsilon", "1", "--unit", "patient:3", "--out", "out"), "Released with ε = 1 for one record, 3 for one patient"),
}  # fmt: skip


@pytest.mark.parametrize("command", PEOPLE)
def test_people_read_who_may_see_it(run: Run, tmp_path: Path, command: str) -> None:
    """Without ``--json`` the first line says who may see the answer, or what was spent; notices go to standard error."""
    write_text(tmp_path, '[{"a": 1}]', "g.json")
    options, first = PEOPLE[command]
    status, out, err = run(command, "t.csv", *DECLARED, *options)
    assert status == 0
    assert out.startswith(first)
    assert err == NOTICE


def test_dropped_records_are_noticed(run: Run, tmp_path: Path) -> None:
    """Records left out for a missing cell are counted in a notice to the curator, on standard error."""
    write_table(tmp_path, COLUMNS | {"a": ["", " ", *COLUMNS["a"][2:]]}, stem="gaps")
    status, _, err = run("preview", "gaps.csv", *DECLARED, "--epsilon", "1", "--missing", "drop", "--json")
    assert status == 0
    assert err == NOTICE + "Note: 2 records with an empty cell were left out (curator only)\n"


@pytest.mark.data
def test_preview_of_adult(run: Run, shared_data: Path) -> None:
    """Adult under paper-2015 at ε = 1: 45,222 records, cap 4,522, 276,640 grids, and no selection of attributes."""
    status, out, _ = run(
        "preview", str(shared_data / "adult.csv"), "--label", "class", "--taxonomies",
        str(shared_data / "adult_hierarchy.json"), "--epsilon", "1", "--recipe", "paper-2015", "--json",
    )  # fmt: skip
    assert status == 0
    found = json.loads(out)
    assert (found["n"], found["cell_cap"], found["pool_size"]) == (45_222, 4_522, 276_640)
    assert found["feature_selection"] is False
    assert len(found["ranking"]) == 14
    assert found["ranking"][0]["attribute"] == "relationship"


# The other commands and ways to stop


def test_dashboard_starts_streamlit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """``dashboard --port`` starts the application under Streamlit and passes its exit status on."""
    started: list[list[str]] = []
    monkeypatch.setattr(subprocess, "call", lambda command, cwd: started.append(command) or 7)
    assert run("dashboard", "--port", "8600")[0] == 7
    assert started[0][1:4] == ["-m", "streamlit", "run"]
    assert Path(started[0][4]).is_file()
    assert started[0][5:] == ["--server.port", "8600"]


def test_interruption_is_no_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a command with one line and status 130."""

    def interrupted(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "open_table", interrupted)
    assert run("preview", "t.csv", *DECLARED, "--epsilon", "1") == (130, "", "Stopped; nothing was written.\n")


def test_program_prints_json_alone(run: Run, tmp_path: Path) -> None:
    """As a program of its own, standard output is the JSON object and standard error the notices; no warning slips in."""
    program = [sys.executable, "-c", "from core.cli import main; raise SystemExit(main())"]
    good = ["preview", "t.csv", *DECLARED, "--epsilon", "1", "--json"]
    done = subprocess.run(program + good, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, NOTICE)
    assert json.loads(done.stdout)["n"] == 240
    done = subprocess.run([*program, *good[:-2], "nothing"], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == NOTICE + "The privacy budget (ε) must be a number above 0, for example 0.5.\n"


# Errors


def failure(run: Run, *arguments: str) -> str:
    """The one line on standard error with which a command fails; notices apart."""
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.endswith("\n")
    (line,) = [line for line in err.splitlines() if not line.startswith("Note: ")]
    assert err.splitlines()[-1] == line
    return line


PREVIEW = ("preview", "t.csv", *DECLARED, "--epsilon", "1")

USAGE: dict[str, tuple[tuple[str, ...], str]] = {
    "no command": ((), "required: COMMAND"),
    "unknown command": (("publish",), "invalid choice: 'publish'"),
    "no table": (("preview",), "required: TABLE"),
    "no label": (("preview", "t.csv", "--epsilon", "1"), "required: --label"),
    "no epsilon": (("preview", "t.csv", "--label", "y"), "required: --epsilon"),
    "no folder": (("release", "t.csv", *DECLARED, "--epsilon", "1"), "required: --out"),
    "no taxonomies": (("quality", "t.csv", "--label", "y"), "required: --taxonomies"),
    "unknown option": ((*PREVIEW, "--seed", "1"), "unrecognized arguments: --seed"),
    "option without value": ((*PREVIEW, "--size"), "argument --size: expected one argument"),
    "size in words": ((*PREVIEW, "--size", "many"), "argument --size: invalid int value"),
    "folds in words": (("evaluate", *PREVIEW[1:], "--folds", "few"), "argument --folds: invalid int value"),
    "unknown policy": ((*PREVIEW, "--missing", "ignore"), "argument --missing: invalid choice"),
    "unknown repair": (("release", *PREVIEW[1:], "--out", "o", "--counts", "round"), "argument --counts: invalid choice"),
    "port in words": (("dashboard", "--port", "http"), "argument --port: invalid int value"),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_is_one_line(run: Run, case: str) -> None:
    """Wrong arguments end with one line that names the argument and where to find help."""
    arguments, reason = USAGE[case]
    line = failure(run, *arguments)
    assert reason in line
    assert line.endswith("see privpfc --help")


@pytest.mark.parametrize(
    "epsilon",
    ["0", "-1", "nan", "inf", "-inf", "abc", "", " ", "0,5", "0x1", "1e400", "1e-400", "1e300", "1e-320", "1e10", "1 2"],
)
@pytest.mark.parametrize("command", ["preview", "release", "evaluate", "quality"])
def test_budget_must_be_a_number_above_zero(run: Run, tmp_path: Path, command: str, epsilon: str) -> None:
    """An ε that is no number above 0, or a tiny or huge one, is refused by every command, and no folder is made."""
    option = "--histogram-epsilon" if command == "quality" else "--epsilon"
    more = {"release": ("--out", "out"), "quality": ("--grids", "g.json")}.get(command, ())
    write_text(tmp_path, "[{}]", "g.json")
    line = failure(run, command, "t.csv", *DECLARED, f"{option}={epsilon}", *more)
    assert "must be a number above 0" in line
    assert line.endswith("for example 0.5.")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("recipe", ["tuned", "journal-2018", "paper-2015"])
def test_extreme_budgets_are_taken_or_refused(run: Run, recipe: str) -> None:
    """The largest ε is released; the smallest is refused in one line, without a folder of half a release."""
    assert answer(run, "release", "--epsilon", "1e9", "--recipe", recipe, "--out", "large")["epsilon"] == "1000000000"
    options = ("--epsilon", "1e-9", "--recipe", recipe, "--out", "small")
    assert "is too small" in failure(run, "release", "t.csv", *DECLARED, *options)


@pytest.mark.parametrize(
    ("split", "reason"),
    [
        ("selection=35,histogram=64", "add up to 99 %; they must add up to exactly 100 %"),
        ("selection=100", "A split needs a share for selection and one for histogram"),
        ("selection=0,histogram=100", "must be above 0 %"),
        ("selection=-5,histogram=105", "must be above 0 %"),
        ("selection=half,histogram=50", "must be a number of percent"),
        ("selection=nan,histogram=50", "must be a number of percent"),
        ("choice=50,histogram=50", "steps are size, features, selection, histogram"),
        ("selection=50,selection=50", "each step once"),
        ("35,65", "Write the split as STEP=PERCENT"),
    ],
)
def test_split_must_add_up(run: Run, split: str, reason: str) -> None:
    """A split that does not add up, or names no step, is refused with how to write it."""
    assert reason in failure(run, *PREVIEW, f"--split={split}")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--label", "z"), "There is no column “z”"),
        (("--label", "name"), "The label “name” has 1 value"),
        (("--label", "b"), "“b” is the label and has a taxonomy as an attribute too"),
        (("--label-values", "p"), "has 1 value"),
        (("--label-values", "p,p"), "lists a value twice"),
        (("--label-values", "p,,q"), "lists a blank value"),
        (("--label-values", "p,r"), "120 records with a class that is not declared"),
        (("--size", "0"), "The public rough size (0) must be at least 1."),
        (("--size", "1" + "0" * 30), "The public rough size must be at most"),
        (("--unit", "person"), "NAME:ROWS"),
        (("--unit", "person:0"), "must be at least 1"),
        (("--recipe", "best"), "choose one of tuned, journal-2018, paper-2015"),
    ],
)
def test_declarations_are_checked(run: Run, arguments: tuple[str, ...], reason: str) -> None:
    """Declarations that contradict the table or each other are refused with what to do."""
    assert reason in failure(run, *PREVIEW, *arguments)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not valid JSON"),
        (b'{"a": ', "not valid JSON"),
        (b"[]", "one JSON object"),
        ('{"é": 1}'.encode("latin-1"), "“x.json” cannot be read as UTF-8 text"),
        (b'{"a": {"Any": {"x": {}, "x": {}}}}', "node “x”: the leaf appears 2 times"),
        (b'{"a": {"Any": {}}, "b": {"Any": {}}}', "(And 1 more defect.)"),
        (b'{"a": {"Any": {"(0, 1]": {}, "(1, 2]": {}}}}', "“a” has 180 records with a value outside its taxonomy"),
        (b'{"b": {"Any": {"(0, 1]": {}, "(1, 2]": {}}}}', "“b” is numeric by its taxonomy but 240 cells"),
        (b'{"zz": {"Any": {"x": {}, "y": {}}}}', "The table has no column “zz”"),
        (b'{"a":' * 100_000, "not valid JSON"),
        (b'{"a": {"r": ' + b'{"d": ' * 900 + b"{}" + b"}" * 902, "more than 100 levels"),
        (b'{"b": {"Any": {"u": {}, "\\udfff": {}}}}', "holds a character that cannot be written"),
    ],
)
def test_taxonomies_are_checked(run: Run, tmp_path: Path, content: bytes, reason: str) -> None:
    """Taxonomies that cannot be read, are broken or do not fit the table are refused."""
    write_text(tmp_path, content, "x.json")
    assert reason in failure(run, "preview", "t.csv", "--label", "y", "--taxonomies", "x.json", "--epsilon", "1")


def test_byte_order_mark_of_taxonomies_is_taken(run: Run, tmp_path: Path) -> None:
    """Taxonomies saved by an editor that writes a byte-order mark are read."""
    write_text(tmp_path, "\ufeff" + json.dumps(TAXONOMIES), "t.json")
    assert answer(run, "preview", "--epsilon", "1")["n"] == 240


@pytest.mark.parametrize("path", ["gone.json", "folder"])
def test_taxonomies_must_be_a_file(run: Run, tmp_path: Path, path: str) -> None:
    """A path without a file is named."""
    (tmp_path / "folder").mkdir()
    line = failure(run, "preview", "t.csv", "--label", "y", "--taxonomies", path, "--epsilon", "1")
    assert line == f"“{path}” cannot be read as UTF-8 text; check the path."


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "not valid JSON"),
        ("[", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("{}", "must be a list of grids"),
        ("[1]", "must be a list of grids"),
        ('[{"a": "1"}]', "must be a list of grids"),
        ('[{"a": 1.0}]', "must be a list of grids"),
        ('[{"a": true}]', "must be a list of grids"),
        ('[{"a": null}]', "must be a list of grids"),
        ('[{"a": NaN}]', "must be a list of grids"),
        ('[{"a": 4}]', "Level 4 of “a” does not exist; its levels are 0 to 2."),
        ('[{"a": 1}, {"a": -1}]', "Level -1 of “a” does not exist"),
        ('[{"name": 1}]', "The grid names “name”, which has no taxonomy."),
    ],
)
def test_grids_are_checked(run: Run, tmp_path: Path, content: str, reason: str) -> None:
    """Grids that cannot be read, or do not exist, are refused before the table is counted."""
    write_text(tmp_path, content, "g.json")
    assert reason in failure(run, "quality", "t.csv", *DECLARED, "--histogram-epsilon", "1", "--grids", "g.json")


def test_grid_too_large_to_count_is_refused(run: Run, tmp_path: Path) -> None:
    """A grid of more cells than memory holds is refused with its size."""
    names = [f"c{j}" for j in range(40)]
    write_table(tmp_path, {name: ["x", "z"] for name in names} | {"y": ["p", "q"]}, stem="wide")
    write_text(tmp_path, json.dumps({name: {"Any": {"x": {}, "z": {}}} for name in names}), "wide.json")
    write_text(tmp_path, json.dumps([dict.fromkeys(names, 1)]), "g.json")
    line = failure(
        run,
        "quality",
        "wide.csv",
        "--label",
        "y",
        "--taxonomies",
        "wide.json",
        "--histogram-epsilon",
        "1",
        "--grids",
        "g.json",
    )
    assert line.startswith("A grid has 1,099,511,627,776 cells; choose grids of at most")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--methods", "best"), "no method “best”"),
        (("--methods", ""), "no method “”"),
        (("--classifiers", "forest"), "no classifier “forest”"),
        (("--folds", "1"), "must be at least 2"),
        (("--folds", "121"), "choose fewer folds"),
        (("--repeats", "0"), "must be at least 1"),
        (("--only-folds", "10"), "There is no fold 10; folds are 0 to 9."),
        (("--only-folds", "first"), "whole numbers with commas between"),
        (("--fold-column", "part"), "There is no column “part”"),
        (("--fold-column", "name"), "“name” must hold a whole number"),
        (("--seed=-1",), "The seed (-1) must be at least 0."),
        (("--epsilon", "1,,2"), "must be a number above 0"),
    ],
)
def test_evaluations_are_checked(run: Run, arguments: tuple[str, ...], reason: str) -> None:
    """Methods, classifiers, folds, repeats, columns and seeds that do not exist are refused."""
    assert reason in failure(run, "evaluate", "t.csv", *DECLARED, "--epsilon", "1", *arguments)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("gone.csv", "There is no file “gone.csv”; check the path."),
        (".", "is not a table this program reads"),
        ("t.json", "is not a table this program reads"),
        ("", "is not a table this program reads"),
        ("broken.csv", "has a line with more or fewer cells"),
        ("broken.xlsx", "is not what its suffix says"),
        ("postgres://host/table", "is not a table this program reads"),
    ],
)
def test_tables_are_checked(run: Run, tmp_path: Path, table: str, reason: str) -> None:
    """A table that is not there or cannot be read is refused, and none of its cells is printed."""
    write_text(tmp_path, f"a,b,y\n1,u,p\n2,{SECRET}\n", "broken.csv")
    write_text(tmp_path, f"a,b,y\n1,{SECRET},p\n", "broken.xlsx")
    assert reason in failure(run, "preview", table, *DECLARED, "--epsilon", "1")


@pytest.mark.parametrize("column", ["a", "b", "y"])
def test_cells_are_never_printed(run: Run, tmp_path: Path, column: str) -> None:
    """A value that fits no declaration is counted, not quoted, whether it is a number, a category or a class."""
    write_table(tmp_path, COLUMNS | {column: [SECRET, *COLUMNS[column][1:]]}, stem="odd")
    declared = (*DECLARED, "--label-values", "p,q")
    assert f"“{column}”" in failure(run, "preview", "odd.csv", *declared, "--epsilon", "1")
    write_table(tmp_path, COLUMNS | {column: ["", *COLUMNS[column][1:]]}, stem="gap")
    assert "empty cell" in failure(run, "preview", "gap.csv", *declared, "--epsilon", "1")


@pytest.mark.parametrize(
    ("out", "reason"),
    [
        (".", "is not empty; choose a new folder for the release."),
        ("t.csv", "“t.csv” is not empty; choose a new folder"),
        ("t.csv/out", "“out” cannot be made; choose another folder"),
        ("x" * 300, "cannot be made; choose another folder"),
    ],
)
def test_folder_is_checked_before_the_budget_is_spent(
    run: Run, monkeypatch: pytest.MonkeyPatch, out: str, reason: str
) -> None:
    """A folder that holds something or cannot be made is refused before any noise is drawn."""
    monkeypatch.setattr(cli, "run", lambda *arguments, **options: pytest.fail("noise was drawn"))
    assert reason in failure(run, "release", "t.csv", *DECLARED, "--epsilon", "1", "--out", out)


def test_full_disk_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be written is named in one line."""

    def full(path: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    line = failure(run, "release", "t.csv", *DECLARED, "--epsilon", "1", "--out", "out")
    assert line == "“synthetic.csv” cannot be written; check the folder and its disk."


def test_second_release_does_not_overwrite(run: Run, tmp_path: Path) -> None:
    """A folder with a release is not taken again."""
    Bundle({"synthetic.csv": PublicOutput(b"earlier")}).write(tmp_path / "out")
    failure(run, "release", "t.csv", *DECLARED, "--epsilon", "1", "--out", "out")
    assert [path.read_bytes() for path in (tmp_path / "out").iterdir()] == [b"earlier"]


@pytest.mark.parametrize("arguments", [("--help",), ("release", "--help"), ("evaluate", "--help")])
def test_help_is_printed(run: Run, arguments: tuple[str, ...]) -> None:
    """``--help`` prints the usage on standard output."""
    status, out, err = run(*arguments)
    assert (status, err) == (0, "")
    assert out.startswith("usage: privpfc")
