"""core.visibility: three kinds of output, by type."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import get_args

import pytest

from core.visibility import CuratorOutput, PrivateOutput, PublicOutput, Publishable, Visibility

KINDS = [
    (PublicOutput, Visibility.PUBLIC),
    (PrivateOutput, Visibility.PRIVATE_RELEASE),
    (CuratorOutput, Visibility.CURATOR_ONLY),
]


def test_there_are_three_kinds() -> None:
    """Every kind of output has a type of its own, and pages show it under the name of the design."""
    assert {str(kind) for kind in Visibility} == {"PUBLIC", "CURATOR-ONLY", "PRIVATE RELEASE"}
    assert {visibility for _, visibility in KINDS} == set(Visibility)


@pytest.mark.parametrize(("kind", "visibility"), KINDS)
def test_visibility_belongs_to_the_type(kind: type[PublicOutput], visibility: Visibility) -> None:
    """The kind of an output follows from its type: it can neither be passed nor changed."""
    output = kind(b"content")
    assert output.visibility is visibility
    with pytest.raises(TypeError):
        kind(b"content", visibility=Visibility.PUBLIC)
    with pytest.raises(FrozenInstanceError):
        output.visibility = Visibility.PUBLIC


def test_curator_outputs_cannot_be_published() -> None:
    """A release takes public outputs and private releases; no curator-only type is or inherits from one of them."""
    assert set(get_args(Publishable)) == {PublicOutput, PrivateOutput}
    assert not issubclass(CuratorOutput, get_args(Publishable))
