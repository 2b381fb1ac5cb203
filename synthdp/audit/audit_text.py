"""What an audit found, for people."""

from synthdp.audit.audit import AuditResult, Verdict

_HEADS = ("", "proven", "point", "best", "half noise", "claimed")
_WIDTH = 12


def audit_text(found: AuditResult) -> str:
    """The result on half a screen: what was proven, what could have been, and what is claimed."""
    lines = [
        f"Audit of {found.mechanism}: ({found.epsilon:g}, {found.delta:g})-differential privacy by {found.accounting}.",
        f"{found.tables}: {found.n_runs:,} releases of each of two neighbouring tables.",
        "",
        "".join(f"{head:>{_WIDTH}}" for head in _HEADS).rstrip(),
        _row("mu", found.mu),
        _row("epsilon", found.epsilon_bound),
        "",
        f"proven      lower bounds, which hold together with confidence {found.confidence:g}, counted on "
        f"{found.n_counted:,} releases of each",
        "point       the same without confidence",
        "best        what so many releases prove on average of Gaussian noise that spends the whole budget",
        "half noise  the same, had the noise half that scale",
        f"claimed     epsilon at delta {found.delta:g}; {_about_mu(found)}",
        "",
        *(f"{what} is proven by {verdict.statistic}." for what, verdict in _verdicts(found)),
        "",
        _sentence(found),
    ]
    return "\n".join(lines)


def failures(found: AuditResult) -> list[str]:
    """What is proven to be more than is claimed."""
    return [
        f"{what} is at least {verdict.lower:.3g}, and {verdict.claim:.3g} is claimed"
        for what, verdict in _verdicts(found)
        if not verdict.is_kept
    ]


def _verdicts(found: AuditResult) -> tuple[tuple[str, Verdict], ...]:
    return ("mu", found.mu), ("epsilon", found.epsilon_bound)


def _row(name: str, verdict: Verdict) -> str:
    claim = f"{verdict.claim:.3f}" if verdict.is_claimed else f"({verdict.claim:.3f})"
    numbers = [verdict.lower, verdict.point, verdict.best, verdict.half_noise]
    cells = [name, *(f"{number:.3f}" for number in numbers), claim]
    return "".join(f"{cell:>{_WIDTH}}" for cell in cells)


def _about_mu(found: AuditResult) -> str:
    """What the claim of mu is."""
    if found.mu.is_claimed:
        return "mu of Gaussian DP, which the budget stands for"
    return "mu, which is no claim here, of Gaussian noise that spends the whole budget"


def _sentence(found: AuditResult) -> str:
    """The audit in one sentence."""
    if failed := failures(found):
        return f"FAILED: {' and '.join(failed)}."
    if (
        max(found.mu.half_noise - found.mu.claim, found.epsilon_bound.half_noise - found.epsilon)
        <= 0
    ):
        return "Nothing was found, but so few releases would not have shown noise of half the scale either: play more."
    return "Nothing contradicts the guarantee."
