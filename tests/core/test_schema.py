"""core.schema: declarations are checked before the data is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import InputError
from core.schema import MAX_ATTRIBUTES, Declaration, Label, MissingPolicy, PrivacyUnit, Schema
from tests.core.tables import categories, declare, intervals

SCHEMA = {
    "title": "Trial",
    "description": "Invented.",
    "table": "trial.csv",
    "taxonomies": "trial.json",
    "label": "y",
    "label_values": ["p", "q"],
    "size": 1000,
    "unit": {"who": "patient", "rows": 2},
    "missing": "drop",
}


@pytest.mark.parametrize("text", ["person:1", " person : 1 "])
def test_unit_is_read(text: str) -> None:
    """``person:1`` says who is protected and how many rows each has at most."""
    assert PrivacyUnit.parse(text) == PrivacyUnit("person", 1)


@pytest.mark.parametrize("text", ["", "person", "person:", "person:0", "person:-1", "person:1.5", "person:many", ":1", "1"])
def test_unit_must_be_whole(text: str) -> None:
    """A unit without a name, or without a number of rows of at least 1, is refused."""
    with pytest.raises(InputError):
        PrivacyUnit.parse(text)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((), "has 0 value"),
        (("p",), "has 1 value"),
        (("p", "q", "p"), "lists a value twice"),
        (("p", " "), "lists a blank value"),
        (tuple(map(str, range(101))), "has 101 values"),
    ],
)
def test_label_needs_classes(values: tuple[str, ...], message: str) -> None:
    """A label has between two and a hundred classes, each named once; the refusal names the label."""
    with pytest.raises(InputError, match=f"^The label “y” {message}"):
        Label("y", values)


def test_label_may_have_a_hundred_classes() -> None:
    """A hundred classes are taken."""
    assert len(Label("y", tuple(map(str, range(100)))).values) == 100


def test_schema_needs_an_attribute() -> None:
    """A label alone is no schema."""
    with pytest.raises(InputError, match="No attribute has a taxonomy"):
        declare()


def test_label_is_no_attribute() -> None:
    """The label cannot be an attribute at the same time."""
    with pytest.raises(InputError, match="“y” is the label and has a taxonomy as an attribute too"):
        declare(categories("a", "x", "z"), categories("y", "p", "q"))


def test_attributes_are_declared_once() -> None:
    """Two taxonomies of one attribute are refused by name."""
    with pytest.raises(InputError, match="Attribute “a” is declared 2 times"):
        declare(categories("a", "x", "z"), intervals("a", 0, 1, 2))


@pytest.mark.parametrize("size", [0, -5, 10**30])
def test_size_must_be_plausible(size: int) -> None:
    """A declared size below one record, or beyond any table, is refused."""
    with pytest.raises(InputError, match="The public rough size"):
        declare(categories("a", "x", "z"), size=size)


def test_number_of_attributes_has_a_limit() -> None:
    """A thousand attributes are taken, one more is refused."""
    taxonomies = [categories(f"a{j}", "x", "z") for j in range(MAX_ATTRIBUTES + 1)]
    assert len(declare(*taxonomies[:-1]).names) == MAX_ATTRIBUTES
    with pytest.raises(InputError, match="The table has 1,001 attributes"):
        declare(*taxonomies)


def test_suggested_declarations_are_named() -> None:
    """Taxonomies and labels that were read from the data are named, declared ones are not."""
    told, seen = categories("told", "x", "z"), categories("seen", "x", "z", suggested=True)
    label = Label("y", ("p", "q"), suggested=True)
    assert Schema((told, seen), label, PrivacyUnit("person", 1)).suggested == ("seen", "y")
    assert declare(told).suggested == ()


def test_selection_keeps_the_order() -> None:
    """Some of the attributes make a schema in the order of the columns, with the same label, unit, size and policy."""
    schema = declare(*(categories(name, "x", "z") for name in "abc"), missing=MissingPolicy.DROP, size=9, rows=3)
    assert schema.select(["c", "a"]) == declare(
        categories("a", "x", "z"), categories("c", "x", "z"), missing=MissingPolicy.DROP, size=9, rows=3
    )


def test_unknown_attribute_is_refused() -> None:
    """Asking for an attribute that is not declared is an input error."""
    schema = declare(categories("a", "x", "z"))
    assert schema.taxonomy("a").leaves == ("x", "z")
    with pytest.raises(InputError, match="no attribute “b”"):
        schema.taxonomy("b")


def test_declaration_is_read() -> None:
    """A schema file is read with everything it declares."""
    assert Declaration.read(json.dumps(SCHEMA)) == Declaration(
        "Trial", "Invented.", "trial.csv", "trial.json", Label("y", ("p", "q")), 1000, PrivacyUnit("patient", 2),
        MissingPolicy.DROP,
    )  # fmt: skip


@pytest.mark.parametrize("entry", ["size", "missing"])
def test_size_and_policy_may_be_absent(entry: str) -> None:
    """A size and a policy for missing cells need not be declared."""
    without = {name: value for name, value in SCHEMA.items() if name != entry}
    assert getattr(Declaration.read(json.dumps(without)), entry) is None


@pytest.mark.parametrize(
    "change",
    [
        *({entry: None} for entry in ("label_values", "unit")),
        {"label_values": []},
        {"label_values": ["p"]},
        {"label_values": 2},
        {"unit": "patient"},
        {"unit": {"who": "patient"}},
        {"unit": {"who": "patient", "rows": "many"}},
        {"unit": {"who": "", "rows": 1}},
        {"size": "many"},
        {"size": float("inf")},
        {"missing": "ignore"},
    ],
    ids=str,
)
def test_declaration_of_the_wrong_kind_is_refused(change: dict[str, Any]) -> None:
    """A schema file with an entry of the wrong kind is refused."""
    with pytest.raises(InputError):
        Declaration.read(json.dumps({**SCHEMA, **change}))


@pytest.mark.parametrize("entry", [name for name in SCHEMA if name not in ("size", "missing")])
def test_incomplete_declaration_is_refused(entry: str) -> None:
    """Every other entry is required."""
    with pytest.raises(InputError, match="incomplete or not JSON"):
        Declaration.read(json.dumps({name: value for name, value in SCHEMA.items() if name != entry}))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"y"', "[" * 100_000])
def test_schema_file_must_be_an_object(text: str) -> None:
    """A schema file that is not a JSON object is refused."""
    with pytest.raises(InputError, match="incomplete or not JSON"):
        Declaration.read(text)
