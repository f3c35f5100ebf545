"""Three kinds of output.  Every number, table and plot is one of them, by type and not by discipline."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Visibility(StrEnum):
    """Who may see an output."""

    PUBLIC = "PUBLIC"
    """Follows from declarations alone."""
    CURATOR_ONLY = "CURATOR-ONLY"
    """Looks at the private records: must not leave the building."""
    PRIVATE_RELEASE = "PRIVATE RELEASE"
    """Protected by ε: may leave the building."""


@dataclass(frozen=True)
class PublicOutput:
    """Bytes that follow from declarations alone."""

    content: bytes
    visibility = Visibility.PUBLIC


@dataclass(frozen=True)
class PrivateOutput:
    """Bytes that are protected by ε."""

    content: bytes
    visibility = Visibility.PRIVATE_RELEASE


@dataclass(frozen=True)
class CuratorOutput:
    """Bytes that look at the private records."""

    content: bytes
    visibility = Visibility.CURATOR_ONLY


Publishable = PublicOutput | PrivateOutput
"""What a bundle accepts."""
