"""The result of an audit as text."""

from synthdp.audit.audit import AuditResult, Verdict

_HEADS = ("", "proven", "point", "best", "half noise", "claimed")
_WIDTH = 12


def audit_text(result: AuditResult) -> str:
    """The result on half a screen: what was proven, what could have been, and what is claimed."""
    lines = [
        f"Audit of {result.mechanism}: ({result.epsilon:g}, {result.delta:g})-differential "
        f"privacy by {result.accounting}.",
        f"{result.tables}: {result.n_runs:,} releases of each of two neighbouring tables.",
        "",
        "".join(f"{head:>{_WIDTH}}" for head in _HEADS).rstrip(),
        _row("mu", result.mu),
        _row("epsilon", result.epsilon_bound),
        "",
        f"proven      lower bounds, which hold together with confidence {result.confidence:g}, counted on "
        f"{result.n_counted:,} releases of each",
        "point       the same without confidence",
        "best        what so many releases prove on average of Gaussian noise that spends the whole budget",
        "half noise  the same, had the noise half that scale",
        f"claimed     epsilon at delta {result.delta:g}; {_about_mu(result)}",
        "",
        *(f"{what} is proven by {verdict.statistic}." for what, verdict in _verdicts(result)),
        "",
        _sentence(result),
    ]
    return "\n".join(lines)


def failures(result: AuditResult) -> list[str]:
    """What is proven to be more than is claimed."""
    return [
        f"{what} is at least {verdict.lower:.3g}, and {verdict.claim:.3g} is claimed"
        for what, verdict in _verdicts(result)
        if not verdict.is_kept
    ]


def _verdicts(result: AuditResult) -> tuple[tuple[str, Verdict], ...]:
    return ("mu", result.mu), ("epsilon", result.epsilon_bound)


def _row(name: str, verdict: Verdict) -> str:
    claim = f"{verdict.claim:.3f}" if verdict.is_claimed else f"({verdict.claim:.3f})"
    numbers = [verdict.lower, verdict.point, verdict.best, verdict.half_noise]
    cells = [name, *(f"{number:.3f}" for number in numbers), claim]
    return "".join(f"{cell:>{_WIDTH}}" for cell in cells)


def _about_mu(result: AuditResult) -> str:
    """What the claim of mu is."""
    if result.mu.is_claimed:
        return "mu of Gaussian DP, which the budget stands for"
    return "mu, which is no claim here, of Gaussian noise that spends the whole budget"


def _sentence(result: AuditResult) -> str:
    """The audit in one sentence."""
    if failed := failures(result):
        return f"FAILED: {' and '.join(failed)}."
    if (
        max(
            result.mu.half_noise - result.mu.claim, result.epsilon_bound.half_noise - result.epsilon
        )
        <= 0
    ):
        return "Nothing was found, but so few releases would not have shown noise of half the scale either: play more."
    return "Nothing contradicts the guarantee."
