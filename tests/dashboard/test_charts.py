"""Charts draw what the engine computed, with a unit on every axis."""

import pytest

from core.evaluation import Summary
from core.taxonomy import Node, Taxonomy
from dashboard import charts

GROUP = Summary("m", 1.0, "tree", 0.2, 0.01, 5)

TREE = Taxonomy("sex", Node("Any", (Node("a", (Node("a1"), Node("a2"))), Node("b"))))


def test_taxonomy_figure_draws_every_node_once() -> None:
    """A leaf above the deepest level is drawn once, and values count leaves."""
    figure, depth = charts.taxonomy_figure(TREE)
    icicle = figure.data[0]
    assert sorted(icicle.labels) == ["Any", "a", "a1", "a2", "b"]
    assert dict(zip(icicle.labels, icicle["values"], strict=True))["Any"] == 3
    assert depth == 2


def test_large_taxonomies_are_drawn_down_to_a_readable_level() -> None:
    """A tree of thousands of leaves is cut at the last level that can be read."""
    groups = tuple(Node(f"g{i}", tuple(Node(f"v{i}-{j}") for j in range(100))) for i in range(30))
    figure, depth = charts.taxonomy_figure(Taxonomy("code", Node("Any", groups)))
    assert depth == 1
    assert len(figure.data[0].labels) == 31


@pytest.mark.parametrize(
    "figure",
    [
        charts.pool_curve([0.1, 1.0], [10, 100], 1.0, 100, 1_000),
        charts.ranking_chart(["a", "b"], [1.0, 2.0], "class"),
        charts.error_chart([GROUP], {"m": "Method"}, {"tree": "Decision tree"}),
    ],
    ids=["pool", "ranking", "errors"],
)
def test_charts_name_their_axes(figure: object) -> None:
    """At least one axis carries a title with a unit, and no axis is without one where it holds numbers."""
    layout = figure.layout
    titles = [axis.title.text for axis in (layout.xaxis, layout.yaxis) if axis.title.text]
    assert titles
    assert any("(" in title for title in titles)


def test_error_chart_shows_percent_and_spread() -> None:
    """Shares become percent; the standard deviation becomes the error bar."""
    figure = charts.error_chart([GROUP], {"m": "Method"}, {"tree": "Decision tree"})
    assert figure.data[0].y[0] == pytest.approx(20)
    assert figure.data[0].error_y.array[0] == pytest.approx(1)
