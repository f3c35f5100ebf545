"""The words officers read: plain words first, the term second."""

from __future__ import annotations

import math

from core.budget import FEATURES, HISTOGRAM, SELECTION, SIZE
from core.visibility import Visibility

VISIBILITY = {
    Visibility.PUBLIC: ("green", "PUBLIC", "Follows from your declarations alone; anyone may see it."),
    Visibility.CURATOR_ONLY: ("red", "CURATOR-ONLY", "Looks at the private records; it must not leave the building."),
    Visibility.PRIVATE_RELEASE: ("blue", "PRIVATE RELEASE", "Protected by the privacy budget; it may leave the building."),
}

STAGES = {
    "": "Starting",
    "read": "Reading the records",
    "plan": "Setting the size of the grids",
    "features": "Choosing attributes privately",
    "scores": "Scoring candidate grids",
    "choice": "Choosing one grid privately",
    "histogram": "Adding noise to its counts",
    "write": "Writing the synthetic table",
    "evaluate": "Training and testing classifiers",
}

STEPS = {
    SIZE: "Number of records",
    FEATURES: "Choosing attributes",
    SELECTION: "Choosing the grid",
    HISTOGRAM: "Noisy counts",
}

MISSING: dict[str, str] = {
    "none": "There are none (stop if one is found)",
    "drop": "Leave such records out",
    "leaf": "Count them under a leaf named “missing”",
}

COUNT_RULES = {
    "clip": "Set them to 0 (as in the paper; the table may get longer)",
    "project": "Spread the surplus so that the length of the table stays right",
}


def certainty(epsilon: float) -> float:
    """How sure someone who held something for 50 % likely can become, 0 to 1."""
    return 1 / (1 + math.exp(-epsilon)) if epsilon < 700 else 1.0


def epsilon_meaning(epsilon: float, who: str) -> str:
    """What ε means in plain odds."""
    sure = certainty(epsilon)
    percent = f"{100 * sure:.1f} %" if sure < 0.999 else "practically certain"
    factor = f"{math.exp(epsilon):,.2f}" if epsilon < 20 else "an astronomical number of"
    return (
        f"Whatever is published, it is at most **{factor} times** as likely with the data of one {who or 'record'} as without. "
        f"Someone who held a fact about one {who or 'record'} for 50 % likely can become at most **{percent}** sure."
    )


def epsilon_advice(epsilon: float) -> str:
    """Where ε lies among the values in use."""
    if epsilon <= 0.1:
        return "Very strong protection; expect a coarse table."
    if epsilon <= 1:
        return "Strong protection, the range most guidance recommends."
    if epsilon <= 3:
        return "Moderate protection; say why you need it."
    return "Weak protection: the guarantee means little in plain odds."
