"""The direct engine: the graphical model's fit with every cell of the domain in one clique.

It answers any marginal without a junction tree, which is what MWEM was made for, and is the
reference for the other engines on small domains.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError
from synthdp.inference.engines.graphical_model import MaximumLikelihoodEngine
from synthdp.inference.trees.junction_tree import JunctionTree


@final
@dataclass(frozen=True, kw_only=True)
class DirectEngine(MaximumLikelihoodEngine):
    """Maximum-likelihood distribution over all cells of the domain: its tree is one clique.

    Its parameters are those of `MaximumLikelihoodEngine`.
    """

    name: ClassVar[str] = "direct"
    max_cells: int = 10_000_000

    def check_domain(self, domain: Domain) -> None:
        """Raise `ModelTooLargeError` if the domain has more than ``max_cells`` cells."""
        if domain.size() > self.max_cells:
            raise ModelTooLargeError(
                f"direct: the domain has {domain.size()} cells, at most {self.max_cells} are allowed; "
                "use engine='graphical-model', which needs only the measured cliques"
            )

    def _tree(self, domain: Domain, cliques: Sequence[Clique]) -> JunctionTree:  # noqa: ARG002 - it holds all
        self.check_domain(domain)
        return JunctionTree.covering(domain, [domain.varying(domain.attributes)])
