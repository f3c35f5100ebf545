"""core.taxonomy_io: the JSON of the PrivPfC authors, read and written."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, TaxonomyError
from core.taxonomy import MISSING, OTHER, Node, Taxonomy
from core.taxonomy_io import read_taxonomies, write_taxonomies
from sample_data import sample_path
from tests.core.tables import categories, intervals
from tests.helpers import shapes

labels = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)


@st.composite
def category_trees(draw: st.DrawFn) -> Node:
    """Trees of any shape under labels in any script."""
    shape = draw(shapes)
    names = iter(draw(st.lists(labels, min_size=80, max_size=80, unique=True)))

    def grow(below: tuple) -> Node:
        return Node(next(names), tuple(grow(part) for part in below))

    return grow(shape)


@st.composite
def interval_trees(draw: st.DrawFn) -> Node:
    """Intervals between any edges, joined into ranges level by level, with or without special leaves."""
    number = st.floats(allow_nan=False)
    edges = draw(st.lists(number, min_size=3, max_size=9, unique=True).map(sorted))
    nodes = [Node(f"({low}, {high}]") for low, high in itertools.pairwise(edges)]
    while len(nodes) > draw(st.integers(2, 4)):
        pairs = [nodes[start : start + 2] for start in range(0, len(nodes), 2)]
        nodes = [Node(_joined(pair), tuple(pair)) if len(pair) > 1 else pair[0] for pair in pairs]
    special = draw(st.lists(st.sampled_from([MISSING, OTHER]), unique=True))
    return Node("Any", (*nodes, *(Node(label) for label in special)))


def _joined(nodes: list[Node]) -> str:
    return f"({nodes[0].interval.low}, {nodes[-1].interval.high}]"


@given(st.dictionaries(labels, st.one_of(category_trees(), interval_trees()), min_size=1, max_size=3))
def test_what_is_written_is_read_back(trees: dict[str, Node]) -> None:
    """Any taxonomies, of categories or intervals, are read back equal and in the same order."""
    taxonomies = {name: Taxonomy(name, root) for name, root in trees.items()}
    assert list(read_taxonomies(write_taxonomies(taxonomies)).items()) == list(taxonomies.items())


def test_authors_format_is_read() -> None:
    """``{"sex": {"Any": {"Male": {}, "Female": {}}}}`` is a root with two leaves; intervals come in order."""
    text = '{"sex": {"Any": {"Male": {}, "Female": {}}}, "age": {"(0, 30]": {"(20, 30]": {}, "(0, 20]": {}}}}'
    taxonomies = read_taxonomies(text)
    assert list(taxonomies) == ["sex", "age"]
    assert taxonomies["sex"] == categories("sex", "Male", "Female")
    assert taxonomies["age"].leaves == ("(0, 20]", "(20, 30]")


def test_taxonomies_of_a_file_are_declared() -> None:
    """A file does not carry the mark of a suggestion: who hands it in declares it."""
    suggested = categories("a", "x", "y", suggested=True)
    assert not read_taxonomies(write_taxonomies([suggested]))["a"].suggested


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "attributes", "leaves"),
    [("adult_hierarchy.json", 14, ("age", 16)), ("adult_marital_hierarchy.json", 14, ("native-country", 41))],
)
def test_authors_files_are_read_and_written(shared_data: Path, file: str, attributes: int, leaves: tuple[str, int]) -> None:
    """The authors' own files are read without a defect, and written and read again unchanged."""
    taxonomies = read_taxonomies((shared_data / file).read_text(encoding="utf-8"))
    assert len(taxonomies) == attributes
    assert len(taxonomies[leaves[0]].leaves) == leaves[1]
    assert read_taxonomies(write_taxonomies(taxonomies)) == taxonomies


@pytest.mark.parametrize("sample", ["census", "clinic"])
def test_sample_taxonomies_are_read_and_written(sample: str) -> None:
    """The taxonomies of the samples are read without a defect, and written and read again unchanged."""
    taxonomies = read_taxonomies(sample_path(f"{sample}_taxonomies.json").read_text(encoding="utf-8"))
    assert read_taxonomies(write_taxonomies(taxonomies)) == taxonomies


@pytest.mark.parametrize(
    "text", ["", "{", "age", '{"a": {"Any": {"x": {}, "y": {}}}} and more', "{'a': 1}", '{"a":' * 100_000]
)
def test_what_is_not_json_is_refused(text: str) -> None:
    """Text that is not JSON is refused in one sentence, however deep."""
    with pytest.raises(InputError, match="is not valid JSON"):
        read_taxonomies(text)


@pytest.mark.parametrize("text", ["[]", "{}", "null", "1", "NaN", '"age"', '[{"a": {}}]'])
def test_json_of_another_form_is_refused(text: str) -> None:
    """JSON that is not an object with an entry for each attribute is refused."""
    with pytest.raises(InputError, match="one JSON object with an entry for each attribute"):
        read_taxonomies(text)


@pytest.mark.parametrize(
    ("tree", "node", "reason"),
    [
        ('{"x": {}, "y": {}}', "a", "exactly one root node"),
        ("{}", "a", "exactly one root node"),
        ("3", "a", "exactly one root node"),
        ('["x", "y"]', "a", "exactly one root node"),
        ('{"Any": {}}', "Any", "one node only"),
        ('{"Any": {"x": 1, "y": {}}}', "x", "must be an object"),
        ('{"Any": {"x": ["z"], "y": {}}}', "x", "must be an object"),
        ('{"Any": "x"}', "Any", "must be an object"),
        ('{"Any": {"x": {}, "x": {}}}', "x", "appears 2 times"),
        ('{"Any": {"A": {"x": {}, "y": {}}, "A": {"z": {}}}}', "A", "used 2 times on level 1"),
        ('{"Any": {"x": {}, "\\ud800": {}}}', "?", "cannot be written"),
        ('{"Any": ' + '{"deep": ' * 450 + "{}" + "}" * 451, "Any", "more than 100 levels"),
        ('{"Any": ' + '{"deep": ' * 900 + "{}" + "}" * 901, "a", "more than 100 levels"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_defect_of_a_tree_is_named(tree: str, node: str, reason: str) -> None:
    """A tree that cannot be used is reported with its attribute, the node and the reason; repeated keys are not lost."""
    with pytest.raises(TaxonomyError) as caught:
        read_taxonomies(f'{{"a": {tree}}}')
    assert [(defect.attribute, defect.node) for defect in caught.value.defects] == [("a", node)]
    assert reason in str(caught.value)


def test_leaf_may_be_written_empty() -> None:
    """A leaf is ``{}``, ``[]`` or ``null``."""
    assert read_taxonomies('{"a": {"Any": {"x": {}, "y": [], "z": null}}}') == {"a": categories("a", "x", "y", "z")}


def test_attribute_twice_is_named() -> None:
    """A repeated attribute is a defect, not the last one read."""
    with pytest.raises(TaxonomyError) as caught:
        read_taxonomies('{"a": {"Any": {}}, "a": {"Any": {"x": {}, "y": {}}}}')
    assert [defect.node for defect in caught.value.defects] == ["Any", "a"]
    assert "appears twice" in caught.value.defects[1].reason


def test_defects_of_all_attributes_are_reported() -> None:
    """Every broken tree of a file is reported, and sound ones do not hide them."""
    trees = {
        "one": {"Any": {}},
        "sound": {"Any": {"x": {}, "y": {}}},
        "gap": {"Any": {"(0, 1]": {}, "(2, 3]": {}, "(2.5, 4]": {}}},
        "roots": {"x": {}, "y": {}},
    }
    with pytest.raises(TaxonomyError) as caught:
        read_taxonomies(json.dumps(trees))
    assert [defect.attribute for defect in caught.value.defects] == ["one", "gap", "gap", "roots"]


def test_text_is_kept_as_it_is() -> None:
    """Labels are written in their own script, not as escapes."""
    assert "Größe" in write_taxonomies([categories("Größe", "klein", "groß")])


def test_order_of_the_file_counts_for_categories_only() -> None:
    """Leaves of categories keep the order of the file; a numeric tree is in the order of its numbers."""
    assert categories("a", "b", "a").leaves == ("b", "a")
    assert intervals("a", 0, 1, 2) == Taxonomy("a", Node("Any", (Node("(1, 2]"), Node("(0, 1]"))))
