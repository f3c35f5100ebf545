from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ranking import (
    CORRELATION_SENSITIVITY,
    correlation,
    correlation_to_prior,
    normalised_prior,
    prior_sensitivity,
    rank_attributes,
)
from tests.helpers import all_counts, dense_table, flat, one_more, schema_of

SMALL = [(2, 2, 7), (3, 2, 5), (2, 3, 5), (3, 3, 4)]
"""Values, classes, most records."""


def grid_of(counts: tuple[int, ...], values: int) -> np.ndarray:
    """Counts as a table of values by classes."""
    return np.array(counts).reshape(values, -1)


priors = (
    st.lists(st.integers(0, 1000), min_size=2, max_size=4)
    .filter(any)
    .map(lambda parts: [Fraction(part, sum(parts)) for part in parts])
)
"""Random rational class shares, zeros included."""


@pytest.mark.parametrize(("values", "classes", "n"), SMALL)
def test_correlation_is_its_definition(values: int, classes: int, n: int) -> None:
    """Cor = Σ |o − row·col/n|, exactly, on every small table."""
    for counts in all_counts(values * classes, n):
        o = grid_of(counts, values)
        e = [
            [Fraction(int(o[i].sum()) * int(o[:, j].sum()), max(1, int(o.sum()))) for j in range(classes)]
            for i in range(values)
        ]
        assert correlation(o) == sum(abs(int(o[i, j]) - e[i][j]) for i in range(values) for j in range(classes))


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_counter_example_to_lemma_4(n: int) -> None:
    """N records of class 2 without value v have Cor 0; with one (v, class 1) more, 4n/(n + 1): above 2, towards 4."""
    before, after = np.array([[0, n], [0, 0]]), np.array([[0, n], [1, 0]])
    assert correlation(before) == 0
    assert correlation(after) == Fraction(4 * n, n + 1)


@pytest.mark.parametrize(("values", "classes", "n"), SMALL)
def test_correlation_sensitivity(values: int, classes: int, n: int) -> None:
    """One record changes Cor by at most 4 (n − row)(n − col) / (n(n + 1)) < 4, and both signs occur."""
    signs = set()
    for counts in all_counts(values * classes, n):
        before, total = grid_of(counts, values), sum(counts)
        for neighbour in one_more(counts):
            after = grid_of(neighbour, values)
            (i,), (j,) = np.nonzero(after - before)
            rest = (total - int(before[i].sum())) * (total - int(before[:, j].sum()))
            change = correlation(after) - correlation(before)
            assert abs(change) <= (Fraction(4 * rest, total * (total + 1)) if total else 0) < CORRELATION_SENSITIVITY
            signs.add(change > 0)
    assert signs == {True, False}


@pytest.mark.parametrize(("values", "classes", "n"), SMALL)
@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 4, 2), (0, 3, 1), (97, 2, 1)])
def test_prior_sensitivity_on_all_small_tables(values: int, classes: int, n: int, weights: tuple[int, ...]) -> None:
    """One record changes Cor_p by at most 2·max(1 − p), and by just that on some table."""
    prior = [Fraction(weight, sum(weights[:classes])) for weight in weights[:classes]]
    largest = max(
        abs(correlation_to_prior(grid_of(neighbour, values), prior) - correlation_to_prior(grid_of(counts, values), prior))
        for counts in all_counts(values * classes, n - 1)
        for neighbour in one_more(counts)
    )
    assert largest == prior_sensitivity(prior) == 2 * max(1 - share for share in prior) <= 2


@given(priors, st.data())
def test_prior_sensitivity_of_random_priors(prior: list[Fraction], data: st.DataObject) -> None:
    """The bound holds for any rational prior and any table, in both directions."""
    cells = 3 * len(prior)
    counts = tuple(data.draw(st.lists(st.integers(0, 30), min_size=cells, max_size=cells)))
    before = correlation_to_prior(grid_of(counts, 3), prior)
    for neighbour in one_more(counts):
        assert abs(correlation_to_prior(grid_of(neighbour, 3), prior) - before) <= prior_sensitivity(prior)


@given(priors, st.integers(0, 20))
def test_prior_sensitivity_is_tight(prior: list[Fraction], others: int) -> None:
    """A first record of the rarest class with its value attains 2·max(1 − p), whatever the other values hold."""
    rarest = prior.index(min(prior))
    before = np.zeros((2, len(prior)), dtype=int)
    before[0] = others
    after = before.copy()
    after[1, rarest] = 1
    assert correlation_to_prior(after, prior) - correlation_to_prior(before, prior) == prior_sensitivity(prior)


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=5))
def test_normalised_prior_is_a_distribution(noisy: list[int]) -> None:
    """Noisy class counts become shares that are not negative and add up to exactly 1; none left: all equal."""
    prior = normalised_prior(np.array(noisy))
    assert sum(prior) == 1
    assert min(prior) >= 0
    assert all((share == 0) == (count <= 0) for share, count in zip(prior, noisy, strict=True)) or max(noisy) <= 0
    if max(noisy) <= 0:
        assert set(prior) == {Fraction(1, len(noisy))}


@given(st.lists(st.integers(0, 9), min_size=12, max_size=12), priors.filter(lambda prior: len(prior) == 2))
def test_attributes_are_ranked_by_their_leaves(counts: list[int], prior: list[Fraction]) -> None:
    """Each attribute's score is that of its own marginal, in the order of the schema, with and without a prior."""
    schema = schema_of(flat("a", 3), flat("b", 2))
    table = dense_table(schema, tuple(counts))
    cube = np.array(counts).reshape(3, 2, 2)
    marginals = [cube.sum(axis=1), cube.sum(axis=0)]
    assert rank_attributes(table, schema) == [correlation(marginal) for marginal in marginals]
    assert rank_attributes(table, schema, prior) == [correlation_to_prior(marginal, prior) for marginal in marginals]


def test_independence_has_no_correlation() -> None:
    """Rows in proportion to the classes score 0, against their own prior as well; an empty table does too."""
    table = np.array([[2, 6], [1, 3], [0, 0]])
    assert correlation(table) == correlation_to_prior(table, [Fraction(1, 4), Fraction(3, 4)]) == 0
    assert correlation(np.zeros((2, 2), dtype=int)) == 0
