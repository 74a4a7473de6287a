import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from konsil.stats.shares import clopper_pearson, interval, wilson

COUNTS = [(k, n) for n in (1, 2, 7, 30, 1000) for k in sorted({0, 1, n // 3, n - 1, n})]


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(("ours", "theirs"), [(wilson, "wilson"), (clopper_pearson, "beta")])
def test_as_statsmodels(ours, theirs, level):
    k, n = np.array(COUNTS).T
    low, high = ours(k, n, level)
    for i, (some, all_) in enumerate(COUNTS):
        expected = proportion_confint(some, all_, alpha=1 - level, method=theirs)
        assert (low[i], high[i]) == pytest.approx(expected, abs=1e-12)


def test_the_interval_beside_a_share_is_exact_at_none_and_all():
    low, high = interval([0, 2, 5, 0], [4, 2, 9, 0])
    assert (low[0], high[0]) == tuple(float(bound) for bound in clopper_pearson(0, 4))
    assert (low[1], high[1]) == tuple(float(bound) for bound in clopper_pearson(2, 2))
    assert (low[2], high[2]) == tuple(float(bound) for bound in wilson(5, 9))
    assert np.isnan([low[3], high[3]]).all()
    assert low[0] == 0 and high[1] == 1


def test_shapes_broadcast():
    low, high = interval(np.arange(6).reshape(2, 3), 5)
    assert low.shape == high.shape == (2, 3)
    assert np.all(low < high)


def test_counts_are_checked():
    with pytest.raises(ValueError, match="0 <= k <= n"):
        interval(3, 2)
