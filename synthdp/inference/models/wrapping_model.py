"""What models share that change the answers of another model."""

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.model import Model


class WrappingModel(Model):
    """A model that asks another one, and changes what it answers.

    Parameters
    ----------
    inner
        The other model.
    domain
        The attributes and their sizes; those of the other model unless given.
    """

    def __init__(self, inner: Model, domain: Domain | None = None) -> None:
        own = inner.domain if domain is None else domain
        super().__init__(domain=own, total=inner.total, status=inner.status)
        self._inner = inner
        self.choice = inner.choice

    @property
    def inner(self) -> Model:
        """The other model."""
        return self._inner

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """Those of the other model."""
        return self._inner.cliques

    @property
    def working_bytes(self) -> float:
        """What the other model takes."""
        return self._inner.working_bytes
