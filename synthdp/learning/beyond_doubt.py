"""When a column counts as one of which nothing was read: by noisy counts, beyond their doubt."""

NEARLY_ALL = 0.9
"""A column is taken for one that is not read if so large a part of its values could not be, or a
larger one.
"""

BEYOND_DOUBT = 5.0
"""And more of them than could be, by so many standard deviations: where there is neither, noise
says so once in three million columns, and of a column that is read it never does.
"""


def share_unread(unread: float, read: float, stddev: float) -> float:
    """The share of the values of a column that cannot be read if nearly all cannot, beyond doubt;
    else 0.

    Parameters
    ----------
    unread, read
        Noisy numbers of values that could not be read, and that could.
    stddev
        Noise of their difference.

    >>> share_unread(1000.0, 30.0, 20.0), share_unread(1000.0, 300.0, 20.0), share_unread(90, 0, 20)
    (0.970873786407767, 0.0, 0.0)
    >>> share_unread(0.0, -500.0, 20.0)
    0.0
    """
    known = max(read, 0.0)
    is_beyond_doubt = unread - read > BEYOND_DOUBT * stddev
    if is_beyond_doubt and unread > 0 and unread >= NEARLY_ALL * (unread + known):
        return unread / (unread + known)
    return 0.0
