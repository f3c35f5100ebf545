"""The release bundle: what leaves the building, and nothing else."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from core import __version__
from core.errors import InputError, PrivacyError
from core.mechanisms import Spend
from core.release import Release
from core.synthesis import histogram_frame, left_out, synthetic_rows
from core.taxonomy_io import write_taxonomies
from core.visibility import PrivateOutput, PublicOutput, Publishable

MANIFEST = "manifest.json"
SYNTHETIC, SAMPLED, HISTOGRAM, TAXONOMIES = "synthetic", "synthetic_sampled", "histogram.csv", "taxonomies.json"


@dataclass(frozen=True)
class Bundle:
    """Files of a release by name.

    Parameters
    ----------
    files : dict of str to PublicOutput or PrivateOutput

    Raises
    ------
    PrivacyError
        If any file is neither public nor a private release.
    """

    files: Mapping[str, Publishable]

    def __post_init__(self) -> None:
        for name, output in self.files.items():
            if not isinstance(output, PublicOutput | PrivateOutput):
                raise PrivacyError(f"“{name}” is for the curator only and cannot be part of a release.")

    def __getitem__(self, name: str) -> bytes:
        return self.files[name].content

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest, read back."""
        document: dict[str, Any] = json.loads(self[MANIFEST])
        return document

    def archive(self) -> bytes:
        """All files in one ZIP."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in self.files:
                archive.writestr(name, self[name])
        return buffer.getvalue()

    def write(self, directory: Path) -> list[Path]:
        """Write the files into a new or empty folder.

        Raises
        ------
        InputError
            If the folder holds something, as an earlier release is never overwritten, or cannot be written.
        """
        make_folder(directory)
        paths = []
        for name in self.files:
            path = directory / name
            try:
                path.write_bytes(self[name])
            except OSError as error:
                raise InputError(f"“{name}” cannot be written; check the folder and its disk.") from error
            paths.append(path)
        return paths


def make_folder(directory: Path) -> None:
    """Make a folder for a release, or take an empty one.

    Raises
    ------
    InputError
        If it holds something or cannot be made.
    """
    try:
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise InputError(f"“{directory.name}” is not empty; choose a new folder for the release.")
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"“{directory.name}” cannot be made; choose another folder for the release.") from error


def make_bundle(
    release: Release, created: datetime, generator: np.random.Generator, rule: Literal["clip", "project"] = "clip"
) -> Bundle:
    """Everything that may be published of a release.

    Parameters
    ----------
    release : Release
    created : datetime
        For the manifest.
    generator : numpy.random.Generator
        For the order of rows and the sampled values (post-processing).
    rule : {"clip", "project"}, default "clip"
        See `core.synthesis.repaired_counts`.

    Raises
    ------
    PrivacyError
        If the release is not private.
    """
    if not release.private:
        raise PrivacyError("The noise of this run was repeatable, for experiments only; nothing of it can be released.")
    generalised = synthetic_rows(release, "generalised", generator, rule)
    sampled = synthetic_rows(release, "sampled", generator, rule)
    files: dict[str, Publishable] = {}
    for name, frame in ((SYNTHETIC, generalised), (SAMPLED, sampled)):
        files[f"{name}.csv"] = PrivateOutput(_csv(frame))
        files[f"{name}.parquet"] = PrivateOutput(_parquet(frame))
    files[HISTOGRAM] = PrivateOutput(_csv(histogram_frame(release)))
    files[TAXONOMIES] = PublicOutput(write_taxonomies(release.schema.taxonomies).encode())
    manifest = _manifest(release, created, rule, len(generalised))
    manifest["files"] = {name: hashlib.sha256(output.content).hexdigest() for name, output in files.items()}
    files[MANIFEST] = PrivateOutput(json.dumps(manifest, indent=2, ensure_ascii=False).encode() + b"\n")
    return Bundle(files)


def _manifest(release: Release, created: datetime, rule: str, rows: int) -> dict[str, Any]:
    """Every parameter of the release, without a figure that was not paid for."""
    schema, plan, recipe = release.schema, release.plan, release.plan.recipe
    # The exact number of records can be computed back from the cap and the pool that follow from it.
    exact = plan.size_source == "exact"
    return {
        "program": "privpfc",
        "version": __version__,
        "created": created.isoformat(timespec="seconds"),
        "private": release.private,
        "caveats": list(release.caveats),
        "guarantee": {
            "definition": "pure ε-differential privacy",
            "neighbours": "tables that differ by adding or removing one record",
            "epsilon_per_record": str(release.epsilon),
            "unit": schema.unit.who,
            "records_per_unit_at_most": schema.unit.rows,
            "epsilon_per_unit": str(release.unit_epsilon),
            "epsilon_spent": float(release.spent),
        },
        "recipe": {
            "name": recipe.name,
            "source": recipe.source,
            "noise_to_signal": str(recipe.noise_to_signal),
            "pool_limit": recipe.pool_limit,
        },
        "split": {step: {"epsilon": str(part), "share": float(part / release.epsilon)}
                  for step, part in plan.budget.parts.items()},
        "draws": [_draw(spend) for spend in release.spends],
        "records": {
            "number_used": None if exact else plan.n,
            "source": plan.size_source,
            "missing_values": None if schema.missing is None else schema.missing.value,
        },
        "label": {"name": schema.label.name, "values": list(schema.label.values)},
        "attributes": list(schema.names),
        "suggested_from_data": list(schema.suggested),
        "pool": {
            "cell_cap": None if exact else release.cap,
            "size": None if exact else release.pool_size,
            "feature_selection": plan.feature_selection,
            "k": plan.k,
            "candidates": list(release.attributes),
            "dropped": list(release.dropped),
        },
        "grid": release.grid,
        "cells": int(release.counts.shape[0]),
        "negative_counts": {"clip": "set to 0", "project": "projected to counts ≥ 0 with the noisy total"}[rule],
        "synthetic_rows": rows,
        "left_out_of_sampled": list(left_out(release)),
        "corrections": (
            "Lemma 4 of the 2015 paper gives the ranking sensitivity 2; it is 4 under adding or removing a record, "
            "and 4, or the lower proved bound of the draw, was used."
        ),
    }  # fmt: skip


def _draw(spend: Spend) -> dict[str, Any]:
    return {
        "step": spend.step,
        "mechanism": spend.mechanism,
        "sensitivity_records": float(spend.sensitivity),
        "noise_scale_records": spend.scale,
        "epsilon_granted": str(spend.granted),
        "epsilon_spent_by_map": float(spend.spent),
    }


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, lineterminator="\n").encode()


def _parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    # Columns of mixed text and numbers (a numeric attribute with a leaf “missing”) are text.
    plain = frame.apply(lambda column: column.map(str) if column.map(type).nunique() > 1 else column)
    plain.to_parquet(buffer, index=False)
    return buffer.getvalue()
