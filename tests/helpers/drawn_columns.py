"""What random columns of Hypothesis are made of."""

from hypothesis import strategies as st


@st.composite
def rounded_edges(draw):
    """A number of decimals, and edges of two bins or more that have no more."""
    decimals = draw(st.integers(-3, 6))
    points = sorted(
        draw(st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=9, unique=True))
    )
    return decimals, tuple(point / 10.0**decimals for point in points)


@st.composite
def resolutions(draw):
    """A type of dates, and a unit of time that it can have."""
    kind = draw(st.sampled_from(["date", "datetime"]))
    units = ["year", "quarter", "month", "week", "day"]
    units += ["hour", "minute", "second"] * (kind == "datetime")
    return kind, draw(st.sampled_from(units))
