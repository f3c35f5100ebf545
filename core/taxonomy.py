"""Taxonomy: a generalisation hierarchy of one attribute ([A] section 3.1).

Level 0 is the root, the deepest level holds the leaves; a leaf above the deepest level stands for itself on every
deeper level, so that every level is a partition of the declared domain.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from core.errors import Defect, TaxonomyError

MISSING = "missing"
"""Leaf that takes the missing cells of an attribute under the policy ``leaf``."""

OTHER = "other"
"""Leaf that takes the values outside the declared domain."""

MAX_LEAVES = 65_536
"""Leaf codes are 16-bit unsigned integers."""

MAX_LEVELS = 100
"""Levels below the root; a grid writes its levels as 8-bit integers."""

TOO_DEEP = f"the tree has more than {MAX_LEVELS} levels; use fewer."

_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf)"
_INTERVAL = re.compile(rf"^\(\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\]$")


@dataclass(frozen=True)
class Interval:
    """The left-open interval ``(low, high]``."""

    low: float
    high: float

    @classmethod
    def parse(cls, label: str) -> Interval | None:
        """Read ``"(14.0, 20.0]"``; None if `label` is not written as an interval."""
        found = _INTERVAL.match(label.strip())
        return cls(float(found[1]), float(found[2])) if found else None

    def __str__(self) -> str:
        return f"({self.low}, {self.high}]"


@dataclass(frozen=True)
class Node:
    """A node of a taxonomy: its label and, unless it is a leaf, its children."""

    label: str
    children: tuple[Node, ...] = ()

    @property
    def interval(self) -> Interval | None:
        """The label read as an interval, or None."""
        return Interval.parse(self.label)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, parents first."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def leaves(self) -> list[Node]:
        """The leaves at or below this node, from left to right."""
        return [node for node in self.walk() if not node.children]


@dataclass(frozen=True)
class Taxonomy:
    """A checked generalisation hierarchy of one attribute.

    Parameters
    ----------
    attribute : str
    root : Node
        Children of numeric nodes are put in the order of their intervals.
    suggested : bool, default False
        True where the tree was made by looking at the private data.

    Raises
    ------
    TaxonomyError
        With every defect, each named with the attribute and the node.
    """

    attribute: str
    root: Node
    suggested: bool = False
    _levels: tuple[tuple[Node, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if _is_too_deep(self.root):
            raise TaxonomyError([Defect(self.attribute, self.root.label, TOO_DEEP)])
        object.__setattr__(self, "root", _in_order(self.root))
        defects = find_defects(self.attribute, self.root)
        if defects:
            raise TaxonomyError(defects)
        object.__setattr__(self, "_levels", tuple(tuple(level) for level in _levels(self.root)))

    @property
    def height(self) -> int:
        """Number of the deepest level (at least 1)."""
        return len(self._levels) - 1

    @cached_property
    def numeric(self) -> bool:
        """True if the leaves are intervals (``missing`` and ``other`` apart)."""
        return _is_numeric(self.root)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Labels of the leaves, from left to right: a leaf's code is its position here."""
        return self.labels(self.height)

    def labels(self, level: int) -> tuple[str, ...]:
        """Labels of the nodes of `level`, from left to right."""
        return tuple(node.label for node in self._levels[level])

    def nodes(self, level: int) -> tuple[Node, ...]:
        """The nodes of `level`, from left to right."""
        return self._levels[level]

    @cached_property
    def level_sizes(self) -> tuple[int, ...]:
        """|T[l]|, the number of nodes of each level, root first."""
        return tuple(len(level) for level in self._levels)

    @cached_property
    def level_maps(self) -> np.ndarray:
        """Leaf-to-node maps.

        Returns
        -------
        ndarray of uint16, shape (height + 1, leaves)
            Entry ``[l, v]`` is the position on level ``l`` of the node above leaf ``v``.
        """
        maps = np.empty((self.height + 1, len(self.leaves)), dtype=np.uint16)
        for number, level in enumerate(self._levels):
            maps[number] = np.repeat(np.arange(len(level)), [len(node.leaves()) for node in level])
        return maps

    @cached_property
    def leaf_intervals(self) -> tuple[Interval, ...]:
        """Intervals of the leaves in leaf order (numeric taxonomies, special leaves left out)."""
        found = (node.interval for node in self._levels[-1])
        return tuple(interval for interval in found if interval is not None)

    @cached_property
    def integer(self) -> bool:
        """True for a numeric taxonomy whose finite edges are all whole numbers: its values are drawn as integers.

        Edges beyond 2^53, where floating point skips whole numbers, do not count as whole.
        """
        edges = [edge for interval in self.leaf_intervals for edge in (interval.low, interval.high)]
        return self.numeric and all(not math.isfinite(edge) or (edge == int(edge) and abs(edge) <= 2**53) for edge in edges)

    @cached_property
    def first_branching(self) -> int:
        """Number of children of the root ([A] Algorithm 1)."""
        return len(self.root.children)

    def special_leaf(self, label: str) -> int | None:
        """Code of the leaf `label` (``missing`` or ``other``), or None where none is declared."""
        return self.leaves.index(label) if label in self.leaves else None


def find_defects(attribute: str, root: Node) -> list[Defect]:
    """List everything wrong with a tree.

    Parameters
    ----------
    attribute : str
    root : Node

    Returns
    -------
    list of Defect
        One-node trees, blank labels, repeated leaves and labels, intervals that are empty, overlap, leave a gap or
        do not fill their parent.
    """
    if not root.children:
        return [Defect(attribute, root.label, "the tree has one node only; give the root at least two leaves below it.")]
    defects = [Defect(attribute, "", "a node has no label; name it.") for node in root.walk() if not node.label.strip()]
    for node in root.walk():
        if (shown := node.label.encode(errors="replace").decode()) != node.label:
            defects.append(Defect(attribute, shown, "the label holds a character that cannot be written; type it again."))
    leaves = root.leaves()
    for label, times in Counter(node.label for node in leaves).items():
        if times > 1:
            defects.append(Defect(attribute, label, f"the leaf appears {times} times; keep one."))
    if len(leaves) < 2:
        defects.append(Defect(attribute, root.label, "the tree has one leaf only; give it at least two."))
    if len(leaves) > MAX_LEAVES:
        defects.append(Defect(attribute, root.label, f"the tree has more than {MAX_LEAVES:,} leaves; use fewer."))
    repeated_leaves = {defect.node for defect in defects}
    for number, level in enumerate(_levels(root)):
        for label, times in Counter(node.label for node in level).items():
            if times > 1 and label not in repeated_leaves:
                repeated_leaves.add(label)
                reason = f"the label is used {times} times on level {number}; give each node of a level its own."
                defects.append(Defect(attribute, label, reason))
    if any(node.interval for node in leaves):
        defects += _interval_defects(attribute, root)
    return defects


def _interval_defects(attribute: str, root: Node) -> list[Defect]:
    """Defects of a tree with interval leaves."""
    defects = []
    for node in root.walk():
        own = node.interval
        if own is not None and not own.low < own.high:
            defects.append(Defect(attribute, node.label, "the interval is empty; its first number must be the smaller."))
        if not node.children:
            if own is None and node.label not in (MISSING, OTHER):
                reason = f"the leaf is not an interval like (0.0, 5.0], nor “{MISSING}” nor “{OTHER}”."
                defects.append(Defect(attribute, node.label, reason))
            continue
        children = _in_order(node).children
        parts = [(child.label, span) for child in children if (span := _span(child)) is not None]
        for (before, left), (after, right) in itertools.pairwise(parts):
            if right.low < left.high:
                defects.append(Defect(attribute, after, f"the interval overlaps “{before}”; make them meet."))
            elif right.low > left.high:
                reason = f"there is a gap between “{before}” and this interval; make them meet."
                defects.append(Defect(attribute, after, reason))
        if own is not None and parts:
            if len(parts) < len(children):
                reason = f"only intervals may stand below an interval; move “{MISSING}” and “{OTHER}” above it."
                defects.append(Defect(attribute, node.label, reason))
            low, high = parts[0][1].low, parts[-1][1].high
            if (low, high) != (own.low, own.high):
                reason = f"its children reach from {low} to {high}; they must fill the interval exactly."
                defects.append(Defect(attribute, node.label, reason))
    return defects


def _is_too_deep(root: Node) -> bool:
    level: list[Node] = [root]
    for _ in range(MAX_LEVELS + 1):
        level = [child for node in level for child in node.children]
    return bool(level)


def _span(node: Node) -> Interval | None:
    """The interval of a node, or of the outermost edges below it where its label is not an interval."""
    if node.interval is not None:
        return node.interval
    spans = [span for child in node.children if (span := _span(child)) is not None]
    return Interval(min(s.low for s in spans), max(s.high for s in spans)) if spans else None


def _is_numeric(root: Node) -> bool:
    leaves = root.leaves()
    return any(leaf.interval for leaf in leaves) and all(
        leaf.interval is not None or leaf.label in (MISSING, OTHER) for leaf in leaves
    )


def _in_order(node: Node) -> Node:
    """Put numeric children in the order of their intervals (files list them as text), special leaves last."""
    children = tuple(_in_order(child) for child in node.children)
    spans = [_span(child) for child in children]
    if any(spans):
        order = sorted(range(len(children)), key=lambda i: span.low if (span := spans[i]) else math.inf)
        children = tuple(children[i] for i in order)
    return Node(node.label, children)


def _levels(root: Node) -> Sequence[Sequence[Node]]:
    """The nodes of each level; a leaf above the deepest level is repeated on every deeper one."""
    levels: list[list[Node]] = [[root]]
    while any(node.children for node in levels[-1]):
        levels.append([below for node in levels[-1] for below in (node.children or (node,))])
    return levels
