"""The command line, ``privpfc``: thin, one function a command.

Every command prints for people; ``--json`` prints one JSON object on standard output and nothing else there.  Errors are one
line on standard error that says what to do, exit status 2.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from core.budget import parse_epsilon, parse_split
from core.bundle import make_bundle, make_folder
from core.classifiers import CLASSIFIERS
from core.encoding import read_contingency, read_records
from core.errors import InputError, PrivPfCError
from core.evaluation import METHODS, Evaluation, summarise
from core.grid import GridSpace
from core.mechanisms import Noise, NumpyNoise, OpenDPNoise
from core.plan import MAX_CELLS, make_plan, size_source
from core.quality import expected_errors
from core.ranking import rank_attributes
from core.recipes import RECIPES, recipe_named
from core.release import grid_histogram, run
from core.schema import Label, MissingPolicy, PrivacyUnit, Schema
from core.source import TableSource, label_values, open_table
from core.taxonomy_build import suggest_from_data
from core.taxonomy_io import read_taxonomies


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except PrivPfCError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; nothing was written.", file=sys.stderr)
        return 130
    return 0


def dashboard(options: argparse.Namespace) -> None:
    """Start the application."""
    root = Path(__file__).resolve().parent.parent
    command = [sys.executable, "-m", "streamlit", "run", str(root / "dashboard" / "app.py")]
    if options.port is not None:
        command += ["--server.port", str(options.port)]
    # A checkout keeps .streamlit at its top, where Streamlit looks from the working directory only.
    folder = root if (root / ".streamlit").is_dir() else None
    raise SystemExit(subprocess.call(command, cwd=folder))


def release(options: argparse.Namespace) -> None:
    """Release a table and write the bundle."""
    source, schema = _declared(options)
    epsilon = parse_epsilon(options.epsilon)
    split = parse_split(options.split) if options.split else None
    table = read_contingency(source, schema)
    _notice_dropped(table.dropped)
    out = Path(options.out)
    make_folder(out)  # before any budget is spent
    done = run(table.contingency, schema, recipe_named(options.recipe), epsilon, OpenDPNoise(), split=split)
    bundle = make_bundle(done, datetime.now(UTC), np.random.default_rng(), options.counts)
    bundle.write(out)
    manifest = bundle.manifest
    answer = {
        "epsilon": manifest["guarantee"]["epsilon_per_record"],
        "epsilon_spent": manifest["guarantee"]["epsilon_spent"],
        "grid": done.grid,
        "cells": manifest["cells"],
        "pool_size": done.pool_size,
        "rows": manifest["synthetic_rows"],
        "caveats": manifest["caveats"],
        "files": list(bundle.files),
    }
    if options.json:
        return _print_json(answer)
    print(f"Released with ε = {options.epsilon} for one record, {done.unit_epsilon} for one {schema.unit.who}.")
    print(f"Grid: {_grid_text(done.grid)} ({manifest['cells']:,} cells, chosen among {done.pool_size:,} grids)")
    print(f"{manifest['synthetic_rows']:,} synthetic rows in {out}: {', '.join(bundle.files)}")
    for caveat in done.caveats:
        print(f"Note: {caveat}")
    return None


def preview(options: argparse.Namespace) -> None:
    """Show what a release would work on.  Looks at the records: for the curator only."""
    source, schema = _declared(options)
    epsilon = parse_epsilon(options.epsilon)
    table = read_contingency(source, schema)
    _notice_dropped(table.dropped)
    split = parse_split(options.split) if options.split else None
    recipe = recipe_named(options.recipe)
    n = schema.size if schema.size is not None else table.contingency.n
    plan = make_plan(recipe, schema, epsilon, n, size_source(recipe, schema.size), split)
    scores = rank_attributes(table.contingency, schema)
    ranking = sorted(zip(schema.names, map(float, scores), strict=True), key=lambda pair: -pair[1])
    if options.json:
        return _print_json(
            {
                "n": plan.n,
                "cell_cap": plan.cap,
                "pool_size": plan.pool_size,
                "feature_selection": plan.feature_selection,
                "k": plan.k,
                "ranking": [{"attribute": name, "score": score} for name, score in ranking],
            }
        )
    print("CURATOR-ONLY: this preview looks at the records.")
    print(f"Records: {plan.n:,}   cell cap: {plan.cap:,}   pool: {plan.pool_size:,} grids")
    print(f"Attributes are selected first: {f'yes, {plan.k}' if plan.feature_selection else 'no'}")
    for name, score in ranking:
        print(f"  {score:12,.1f}  {name}")
    return None


def quality(options: argparse.Namespace) -> None:
    """Print the expected number of misclassified records of given grids."""
    source, schema = _declared(options)
    epsilon = float(parse_epsilon(options.histogram_epsilon))
    grids = _read_grids(options.grids)
    space = GridSpace.of(schema)
    for grid in grids:
        if (cells := space.size(space.levels(grid))) > MAX_CELLS:
            raise InputError(f"A grid has {cells:,} cells; choose grids of at most {MAX_CELLS:,}.")
    contingency = read_contingency(source, schema).contingency
    values = [expected_errors(contingency, grid_histogram(contingency, schema, grid), epsilon) for grid in grids]
    if options.json:
        return _print_json({"qualities": values})
    print("CURATOR-ONLY: expected misclassified records")
    for grid, value in zip(grids, values, strict=True):
        print(f"  {value:14,.3f}  {_grid_text(grid)}")
    return None


def evaluate(options: argparse.Namespace) -> None:
    """Cross-validate methods.  Looks at the records: for the curator only."""
    source, schema = _declared(options, leave_out=[options.fold_column])
    evaluation = Evaluation(
        epsilons=tuple(parse_epsilon(entry) for entry in options.epsilon.split(",")),
        methods=tuple(options.methods.split(",")),
        classifiers=tuple(options.classifiers.split(",")),
        folds=options.folds,
        repeats=options.repeats,
        only_folds=None if options.only_folds is None else _whole_numbers(options.only_folds),
        split=parse_split(options.split) if options.split else None,
    )
    records = read_records(source, schema, options.fold_column)
    _notice_dropped(records.dropped)
    if options.seed is not None and options.seed < 0:
        raise InputError(f"The seed ({options.seed}) must be at least 0.")
    noise: Noise = OpenDPNoise() if options.seed is None else NumpyNoise(np.random.default_rng(options.seed))
    results = list(evaluation.run(records, schema, noise, _show_progress if sys.stderr.isatty() else None))
    if options.json:
        return _print_json({"results": [asdict(result) for result in results]})
    print("CURATOR-ONLY: share of held-out records that are misclassified")
    for group in summarise(results):
        spread = "" if group.sd is None else f" ± {group.sd:.4f}"
        at = "" if group.epsilon is None else f"ε = {group.epsilon:g}"
        print(f"  {group.method:14} {at:10} {group.classifier:10} {group.mean:.4f}{spread}  ({group.runs} runs)")
    return None


class _Parser(argparse.ArgumentParser):
    """Errors in one line."""

    def error(self, message: str) -> NoReturn:
        print(f"{message}; see privpfc --help", file=sys.stderr)
        raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="privpfc", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    def add(name: str, function: Any) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=function.__doc__.splitlines()[0], description=function.__doc__)
        command.set_defaults(command=function)
        return command

    add("dashboard", dashboard).add_argument("--port", type=int, metavar="P")
    for name, function in (("release", release), ("preview", preview), ("quality", quality), ("evaluate", evaluate)):
        command = add(name, function)
        command.add_argument("table", metavar="TABLE", help="CSV, TSV, Parquet or Excel file, or a URL of one")
        command.add_argument("--label", required=True, metavar="COL")
        command.add_argument(
            "--label-values", metavar="A,B,…", help="declared classes; else read from the data and marked so"
        )
        command.add_argument("--taxonomies", metavar="F.json", required=name == "quality")
        command.add_argument("--size", type=int, metavar="N", help="public rough number of records")
        command.add_argument("--unit", default="record:1", metavar="WHO:ROWS", help="who is protected, rows each at most")
        command.add_argument(
            "--missing", choices=[policy.value for policy in MissingPolicy], help="records with empty cells"
        )
        command.add_argument("--json", action="store_true")
        if name == "quality":
            command.add_argument("--histogram-epsilon", required=True, metavar="E")
            command.add_argument("--grids", required=True, metavar="G.json")
            continue
        command.add_argument("--epsilon", required=True, metavar="E[,E…]" if name == "evaluate" else "E")
        command.add_argument("--split", metavar="STEP=PERCENT,…", help="for example selection=35,histogram=65")
        if name == "evaluate":
            command.add_argument("--methods", default="tuned,noise-free,majority", help=", ".join(METHODS))
            command.add_argument("--classifiers", default="tree,svm", help=", ".join(CLASSIFIERS))
            command.add_argument("--folds", type=int, default=10)
            command.add_argument("--repeats", type=int, default=1)
            command.add_argument("--fold-column", metavar="C", help="take the folds from a column")
            command.add_argument("--only-folds", metavar="I,J,…")
            command.add_argument("--seed", type=int, help="repeatable noise: NOT PRIVATE, for experiments")
        else:
            command.add_argument("--recipe", default="tuned", help=", ".join(RECIPES))
        if name == "release":
            command.add_argument("--out", required=True, metavar="DIR")
            command.add_argument(
                "--counts", choices=["clip", "project"], default="clip",
                help="negative noisy counts: set to 0, or project all onto counts ≥ 0 with the noisy total",
            )  # fmt: skip
    return parser


def _declared(options: argparse.Namespace, leave_out: Collection[str | None] = ()) -> tuple[TableSource, Schema]:
    """The table and its declarations; what was read from the data instead is named in a notice."""
    source = open_table(options.table)
    if options.label_values:
        label = Label(options.label, tuple(value.strip() for value in options.label_values.split(",")))
    else:
        label = label_values(source, options.label)
    missing = MissingPolicy(options.missing) if options.missing else None
    if options.taxonomies:
        taxonomies = read_taxonomies(_read_text(options.taxonomies))
        unused = [name for name in source.columns if name not in taxonomies and name != label.name]
        if unused:
            _notice(f"left out, as they have no taxonomy: {', '.join(unused)}")
    else:
        taxonomies, skipped = suggest_from_data(source, label, missing_leaf=missing is MissingPolicy.LEAF)
        taxonomies = {name: taxonomy for name, taxonomy in taxonomies.items() if name not in leave_out}
        _notice("no taxonomies given: suggested from the private data, so the release is not private end to end")
        for name, reason in skipped.items():
            _notice(f"“{name}” is left out: {reason}")
    unit = PrivacyUnit.parse(options.unit)
    return source, Schema(tuple(taxonomies.values()), label, unit, options.size, missing)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"“{Path(path).name}” cannot be read as UTF-8 text; check the path.") from error


def _read_grids(path: str) -> list[dict[str, int]]:
    try:
        grids = json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"“{Path(path).name}” is not valid JSON: it must be a list of grids.") from error
    if not isinstance(grids, list) or not all(
        isinstance(grid, dict) and all(type(level) is int for level in grid.values()) for grid in grids
    ):
        raise InputError(f'“{Path(path).name}” must be a list of grids such as {{"age": 2}}.')
    return grids


def _whole_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(entry) for entry in text.split(","))
    except ValueError as error:
        raise InputError("Write the folds as whole numbers with commas between, for example 0,1.") from error


def _grid_text(grid: dict[str, int]) -> str:
    return ", ".join(f"{name} at level {level}" for name, level in grid.items()) or "no attribute, classes only"


def _show_progress(done: int, total: int) -> bool:
    print(f"\r{done:,} of {total:,} results", end="\n" if done == total else "", file=sys.stderr)
    return True


def _notice_dropped(dropped: int) -> None:
    if dropped:
        _notice(f"{dropped:,} records with an empty cell were left out (curator only)")


def _notice(text: str) -> None:
    print(f"Note: {text}", file=sys.stderr)


def _print_json(answer: Any) -> None:
    print(json.dumps(answer, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError(type(value).__name__)
