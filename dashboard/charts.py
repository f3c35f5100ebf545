"""core results → Plotly figures.  No Streamlit here; every axis has a title with its unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from core.evaluation import Summary
from core.taxonomy import Taxonomy

# Okabe and Ito’s palette, told apart by colour-blind people, and two greys.
BLUE, ORANGE, GREEN, VERMILION, SKY, GREY, DARK = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#BDBDBD", "#6E6E6E"

MAX_DRAWN_NODES = 400
"""Levels that would make a tree larger than this are left out of its picture."""

_LAYOUT = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "margin": {"l": 10, "r": 20, "t": 50, "b": 10},
    "hoverlabel": {"namelength": -1},
    "legend": {"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom"},
    "colorway": [BLUE, ORANGE, GREEN, VERMILION, SKY],
}


def taxonomy_figure(taxonomy: Taxonomy) -> tuple[go.Figure, int]:
    """A taxonomy as an icicle, from the root (left) to the leaves (right).

    Returns
    -------
    go.Figure
    int
        The deepest level drawn: deeper ones would make the picture too dense.
    """
    depth = 1
    while depth < taxonomy.height and sum(taxonomy.level_sizes[: depth + 2]) <= MAX_DRAWN_NODES:
        depth += 1
    ids, labels, parents, values, levels = [], [], [], [], []
    for level in range(depth + 1):
        maps = taxonomy.level_maps
        for place, node in enumerate(taxonomy.nodes(level)):
            leaf = int(np.searchsorted(maps[level], place))
            if level and not taxonomy.nodes(level - 1)[maps[level - 1][leaf]].children:
                continue  # a leaf above: it stands for itself and is drawn once
            ids.append(f"{level}/{place}")
            labels.append(node.label)
            parents.append(f"{level - 1}/{maps[level - 1][leaf]}" if level else "")
            values.append(len(node.leaves()))
            levels.append(level)
    palette = [(SKY, "black"), (BLUE, "white"), (GREEN, "white"), (ORANGE, "black"), (VERMILION, "white")]
    fills, inks = zip(*(palette[level % len(palette)] for level in levels), strict=True)
    figure = go.Figure(
        go.Icicle(
            ids=ids,
            labels=labels,
            parents=parents,
            values=values,
            branchvalues="total",
            marker={"colors": fills, "line": {"width": 1, "color": "white"}},
            leaf={"opacity": 1},
            textfont={"size": 13, "color": inks},
            tiling={"orientation": "h"},
            hovertemplate="%{label}<br>%{value} leaves<extra></extra>",
            sort=False,
        )
    )
    drawn = taxonomy.level_sizes[depth]
    figure.update_layout(**_LAYOUT, height=int(min(900, max(260, 50 + 22 * drawn))))
    figure.update_layout(margin_t=10)
    return figure, depth


def pool_curve(epsilons: Sequence[float], sizes: Sequence[int], chosen: float, chosen_size: int, limit: int) -> go.Figure:
    """Pool size against ε, with the chosen point and the recipe's limit."""
    figure = go.Figure()
    figure.add_scatter(x=epsilons, y=sizes, mode="lines", name="pool size", line={"color": BLUE, "width": 3})
    figure.add_scatter(
        x=[chosen],
        y=[chosen_size],
        mode="markers",
        name="your choice",
        marker={"color": VERMILION, "size": 12, "symbol": "diamond"},
    )
    figure.add_scatter(
        x=[min(epsilons), max(epsilons)], y=[limit, limit], mode="lines", name="limit", line={"color": GREY, "dash": "dash"}
    )
    figure.update_xaxes(type="log", title="privacy budget (ε), logarithmic")
    figure.update_yaxes(
        type="log", title="candidate grids (number), logarithmic", tickformat=",", dtick=1, minor={"dtick": "D1"}
    )
    figure.update_layout(**_LAYOUT, height=380)
    figure.update_traces(hovertemplate="ε = %{x:.3g}<br>%{y:,} grids<extra></extra>")
    return figure


def ranking_chart(names: Sequence[str], scores: Sequence[float], label: str) -> go.Figure:
    """Attributes by the modified χ², the strongest first."""
    order = np.argsort(scores)
    figure = go.Figure(
        go.Bar(
            x=[scores[i] for i in order],
            y=[names[i] for i in order],
            orientation="h",
            marker_color=BLUE,
            hovertemplate="%{y}<br>%{x:,.0f} records<extra></extra>",
        )
    )
    figure.update_xaxes(title=f"modified χ² with “{label}” (records)", tickformat=",")
    figure.update_yaxes(automargin=True, type="category")
    figure.update_layout(**_LAYOUT, height=max(220, 90 + 24 * len(names)))
    return figure


def error_chart(groups: Sequence[Summary], methods: Mapping[str, str], classifiers: Mapping[str, str]) -> go.Figure:
    """Mean misclassification of each method by classifier, with the standard deviation over folds and repeats.

    Parameters
    ----------
    groups : sequence of Summary
    methods, classifiers : dict of str to str
        Name → words.
    """
    colors = (GREY, VERMILION, GREEN)
    figure = go.Figure()
    for place, method in enumerate(dict.fromkeys(group.method for group in groups)):
        chosen = [group for group in groups if group.method == method]
        figure.add_bar(
            x=[classifiers[group.classifier] for group in chosen],
            y=[100 * group.mean for group in chosen],
            error_y={"type": "data", "array": [100 * (group.sd or 0) for group in chosen], "color": DARK},
            name=methods[method],
            marker_color=colors[place % len(colors)],
            hovertemplate="%{x}<br>%{y:.1f} % misclassified<extra>" + methods[method] + "</extra>",
        )
    top = max(100 * (group.mean + (group.sd or 0)) for group in groups)
    figure.update_yaxes(title="misclassified held-out records (%)", range=[0, 1.08 * top])
    figure.update_xaxes(title="classifier")
    figure.update_layout(**_LAYOUT, barmode="group", height=420)
    return figure
