"""What a release of rows that hang together does not take."""

from synthdp.core.errors import ParameterError


def refuse_parameter(name: str, value: object) -> None:
    """Raise `ParameterError` if there is a value for what this kind of release does not take."""
    if value is not None:
        raise ParameterError(
            f"{name}: this release is of rows that hang together, which it is not for; leave it out"
        )
