import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from konsil.stats.inference.multiplicity import holm


@pytest.mark.slow  # the peer alone takes seconds to load
@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=12))
def test_as_statsmodels(p):
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], rel=1e-12)


def test_an_undefined_p_is_no_member_of_the_family():
    adjusted = holm([0.01, np.nan, 0.03])
    assert np.isnan(adjusted[1])
    assert adjusted[[0, 2]] == pytest.approx(holm([0.01, 0.03]))
    assert holm([]).shape == (0,)


def test_one_dimension_is_expected():
    with pytest.raises(ValueError, match="one dimension"):
        holm([[0.1]])
