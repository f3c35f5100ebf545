"""The exceptions that pages and the command line catch and show as one plain sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class PrivPfCError(Exception):
    """Base of every error whose text is meant for the privacy officer."""


class InputError(PrivPfCError):
    """A table, file or declaration that cannot be used; the text says what to do and quotes no cell."""


def counted(number: int, noun: str) -> str:
    """A number with its noun, for messages: ``1 record``, ``2,000 records``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class UncoveredValuesError(InputError):
    """Values of a column that its taxonomy does not cover.

    Parameters
    ----------
    attribute : str
    count : int
        Number of records with such a value (curator only).
    values : sequence of str
        Some of the values (curator only: never part of the message).
    """

    def __init__(self, attribute: str, count: int, values: Sequence[str]) -> None:
        self.attribute = attribute
        self.count = count
        self.values = tuple(values)
        super().__init__(
            f"Attribute “{attribute}” has {counted(count, 'record')} with a value outside its taxonomy: "
            "add the values to the taxonomy, or add a leaf named “other”."
        )


class BudgetError(PrivPfCError):
    """A privacy budget or split that makes no sense."""


class PrivacyError(PrivPfCError):
    """A guarantee that could not be kept; nothing is released."""


class CancelledError(PrivPfCError):
    """The user stopped a long computation."""


@dataclass(frozen=True)
class Defect:
    """One thing wrong with a taxonomy.

    Parameters
    ----------
    attribute : str
    node : str
        Label of the node where it shows.
    reason : str
        What is wrong and what to do.
    """

    attribute: str
    node: str
    reason: str

    def __str__(self) -> str:
        return f"Attribute “{self.attribute}”, node “{self.node}”: {self.reason}"


class TaxonomyError(InputError):
    """One or more defects of a taxonomy.

    Parameters
    ----------
    defects : sequence of Defect
        At least one.
    """

    def __init__(self, defects: Sequence[Defect]) -> None:
        self.defects = tuple(defects)
        more = f" (And {counted(len(self.defects) - 1, 'more defect')}.)" if len(self.defects) > 1 else ""
        super().__init__(f"{self.defects[0]}{more}")
