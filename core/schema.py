"""Schema: what is declared in public, before the data is read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from core.errors import InputError
from core.taxonomy import Taxonomy

MAX_ATTRIBUTES = 1_000
"""More attributes than this are refused: no pool of grids over them could be enumerated."""

MAX_SIZE = 10**12
"""A larger public size is a slip of the keyboard."""


class MissingPolicy(StrEnum):
    """What happens to a record with a missing cell."""

    DROP = "drop"
    """The record is left out."""
    LEAF = "leaf"
    """The cell goes to the declared leaf ``missing`` of its attribute."""


@dataclass(frozen=True)
class PrivacyUnit:
    """Who is protected.

    Parameters
    ----------
    who : str
        One word for the protected unit, such as ``person`` or ``household``.
    rows : int
        At most how many records of the table one of them has, ≥ 1.  A unit with k records is protected with k·ε.
    """

    who: str
    rows: int

    def __post_init__(self) -> None:
        if not self.who.strip():
            raise InputError("Say who is protected, for example “person”.")
        if self.rows < 1:
            raise InputError(f"Rows per {self.who} ({self.rows}) must be at least 1.")

    @classmethod
    def parse(cls, text: str) -> PrivacyUnit:
        """Read ``person:1`` as the command line writes it."""
        who, _, rows = text.partition(":")
        if not rows.strip().isdecimal():
            raise InputError("Write the unit of privacy as NAME:ROWS, for example person:1.")
        return cls(who.strip(), int(rows))


@dataclass(frozen=True)
class Label:
    """The attribute that classifiers are to predict.

    Parameters
    ----------
    name : str
    values : tuple of str
        The classes, at least two, in the order that breaks ties ([J] Lemma 2).
    suggested : bool, default False
        True where the values were read from the private data.
    """

    name: str
    values: tuple[str, ...]
    suggested: bool = False

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise InputError(
                f"The label “{self.name}” has {len(self.values)} value; choose a column with at least two classes."
            )
        if not all(value.strip() for value in self.values):
            raise InputError(f"The label “{self.name}” lists a blank value; name every class.")
        if len(set(self.values)) < len(self.values):
            raise InputError(f"The label “{self.name}” lists a value twice; keep one of each.")
        if len(self.values) > 100:
            raise InputError(
                f"The label “{self.name}” has {len(self.values):,} values; choose a column with at most 100 classes."
            )


@dataclass(frozen=True)
class Schema:
    """Everything that is declared about a table.

    Parameters
    ----------
    taxonomies : tuple of Taxonomy
        One for each attribute that takes part, in the order of the columns.
    label : Label
    unit : PrivacyUnit
    size : int or None, default None
        Public rough number of records; None where it is not declared.
    missing : MissingPolicy or None, default None
        None: a missing cell is an error.

    Raises
    ------
    InputError
        Where the declarations contradict each other.
    """

    taxonomies: tuple[Taxonomy, ...]
    label: Label
    unit: PrivacyUnit
    size: int | None = None
    missing: MissingPolicy | None = None

    def __post_init__(self) -> None:
        if not self.taxonomies:
            raise InputError("No attribute has a taxonomy: give at least one attribute besides the label.")
        if len(self.taxonomies) > MAX_ATTRIBUTES:
            raise InputError(
                f"The table has {len(self.taxonomies):,} attributes; choose at most {MAX_ATTRIBUTES:,} of them."
            )
        for name, times in Counter(self.names).items():
            if times > 1:
                raise InputError(f"Attribute “{name}” is declared {times} times; keep one.")
        if self.label.name in self.names:
            raise InputError(
                f"“{self.label.name}” is the label and has a taxonomy as an attribute too: "
                "remove its taxonomy or choose another label."
            )
        if self.size is not None and self.size < 1:
            raise InputError(f"The public rough size ({self.size}) must be at least 1.")
        if self.size is not None and self.size > MAX_SIZE:
            raise InputError(f"The public rough size must be at most {MAX_SIZE:,}.")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes, without the label."""
        return tuple(taxonomy.attribute for taxonomy in self.taxonomies)

    @property
    def suggested(self) -> tuple[str, ...]:
        """Names of the declarations that were made by looking at the private data."""
        found = [taxonomy.attribute for taxonomy in self.taxonomies if taxonomy.suggested]
        return tuple(found + ([self.label.name] if self.label.suggested else []))

    def taxonomy(self, attribute: str) -> Taxonomy:
        """The taxonomy of an attribute."""
        for taxonomy in self.taxonomies:
            if taxonomy.attribute == attribute:
                return taxonomy
        raise InputError(f"There is no attribute “{attribute}”.")

    def select(self, attributes: Sequence[str]) -> Schema:
        """The schema of some of the attributes, in the order of this schema."""
        wanted = set(attributes)
        return replace(self, taxonomies=tuple(t for t in self.taxonomies if t.attribute in wanted))


@dataclass(frozen=True)
class Declaration:
    """The declarations that come with a sample table (file ``*_schema.json``).

    Parameters
    ----------
    title, description, table, taxonomies : str
        ``table`` and ``taxonomies`` are file names beside the declaration.
    label : Label
    size : int or None
    unit : PrivacyUnit
    missing : MissingPolicy or None
    """

    title: str
    description: str
    table: str
    taxonomies: str
    label: Label
    size: int | None
    unit: PrivacyUnit
    missing: MissingPolicy | None

    @classmethod
    def read(cls, text: str) -> Declaration:
        """Read the JSON form.

        Raises
        ------
        InputError
            Where an entry is absent or of the wrong kind.
        """
        try:
            entry: Mapping[str, Any] = json.loads(text)
            missing = entry.get("missing")
            return cls(
                title=str(entry["title"]),
                description=str(entry["description"]),
                table=str(entry["table"]),
                taxonomies=str(entry["taxonomies"]),
                label=Label(str(entry["label"]), tuple(str(value) for value in entry["label_values"])),
                size=None if entry.get("size") is None else int(entry["size"]),
                unit=PrivacyUnit(str(entry["unit"]["who"]), int(entry["unit"]["rows"])),
                missing=None if missing is None else MissingPolicy(missing),
            )
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise InputError("The schema file is incomplete or not JSON: see sample_data for an example.") from error
