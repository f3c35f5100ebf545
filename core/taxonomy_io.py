"""The exchange format of taxonomies: the JSON of the PrivPfC authors.

``{"sex": {"Any": {"Male": {}, "Female": {}}}, …}``; numeric nodes are left-open intervals ``"(14.0, 20.0]"``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from core.errors import Defect, InputError, TaxonomyError
from core.taxonomy import TOO_DEEP, Node, Taxonomy


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its keys as written: a dict would drop repeated keys without a word."""


def read_taxonomies(text: str) -> dict[str, Taxonomy]:
    """Read the taxonomies of a table.

    Parameters
    ----------
    text : str
        JSON: attribute → root label → child label → … → ``{}``.

    Returns
    -------
    dict of str to Taxonomy
        In the order of the file.

    Raises
    ------
    InputError
        If the text is not JSON of that form.
    TaxonomyError
        With the defects of all attributes.
    """
    try:
        document = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        raise InputError("The taxonomy file is not valid JSON: export it again or correct it in an editor.") from error
    if not isinstance(document, _Pairs) or not document:
        raise InputError("The taxonomy file must hold one JSON object with an entry for each attribute.")
    taxonomies: dict[str, Taxonomy] = {}
    seen: set[str] = set()
    defects: list[Defect] = []
    for attribute, tree in document:
        try:
            if attribute in seen:
                raise TaxonomyError([Defect(attribute, attribute, "the attribute appears twice in the file; keep one.")])
            seen.add(attribute)
            taxonomies[attribute] = _taxonomy(attribute, tree)
        except TaxonomyError as error:
            defects += error.defects
        except RecursionError:
            defects.append(Defect(attribute, attribute, TOO_DEEP))
    if defects:
        raise TaxonomyError(defects)
    return taxonomies


def write_taxonomies(taxonomies: Mapping[str, Taxonomy] | Iterable[Taxonomy]) -> str:
    """Write taxonomies as JSON; `read_taxonomies` reads back equal ones."""
    trees = taxonomies.values() if isinstance(taxonomies, Mapping) else taxonomies
    document = {tree.attribute: {tree.root.label: _children(tree.root)} for tree in trees}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _taxonomy(attribute: str, tree: Any) -> Taxonomy:
    if not isinstance(tree, _Pairs) or len(tree) != 1:
        raise TaxonomyError([Defect(attribute, attribute, "the attribute must have exactly one root node.")])
    (label, below) = tree[0]
    return Taxonomy(attribute, _node(attribute, label, below))


def _node(attribute: str, label: str, below: Any) -> Node:
    if not isinstance(below, _Pairs) and below not in ({}, None, []):
        raise TaxonomyError([Defect(attribute, label, "what stands below it must be an object, {} for a leaf.")])
    return Node(label, tuple(_node(attribute, child, rest) for child, rest in below or ()))


def _children(node: Node) -> dict[str, Any]:
    return {child.label: _children(child) for child in node.children}
