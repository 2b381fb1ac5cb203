"""What several sites give together: their counts are added, or averaged, and one model is fitted."""

import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import hypot
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from synthdp.core.errors import ParameterError, PrivacyError
from synthdp.core.imports import import_named
from synthdp.core.json_value import JsonValue
from synthdp.core.known_marginal import KnownMarginal
from synthdp.core.measurement import FloatArray, LinearMeasurement, clear_total, total_and_noise
from synthdp.core.reporting import Report, silent
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.privacy.accounting import Accounting
from synthdp.release.certificate.certificate import cautions, guarantee_text
from synthdp.release.certificate.fit_facts import count_cautions, fit_cautions, fit_facts
from synthdp.release.certificate.losses import epsilon_reaching
from synthdp.release.certificate.meaning import Protection, stated_meaning
from synthdp.release.certificate.software import versions
from synthdp.release.certificate.unprotected import PUBLISHED
from synthdp.release.fitting import fit_model, meeting
from synthdp.release.known_tables import KnownLike, published_totals, totals_said
from synthdp.release.loading import load
from synthdp.release.on_demand import READ_ABOUT
from synthdp.release.registry import as_engine
from synthdp.release.run_settings import AboutLike
from synthdp.release.settings import checked_flag
from synthdp.release.synthesis import Drawn, Synthesis
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema
from synthdp.schema.words.headers import listed

SiteLike: TypeAlias = Synthesis | str | PathLike[str]

DISJOINT = "disjoint"
"""Each person is at one site: its loss is all that they lose."""

SAME_PEOPLE = "same-people"
"""A person may be at every site: losses add up."""

AT_ONE_SITE = "people who are at more than one site: the guarantee is for those at one, and losses at several add up"
WHICH_SITE = (
    "at which site somebody is: sites are told apart, and what each of them released is public"
)

MAX_SITES = 10_000
"""More files than this in one command are a slip of the finger."""

_SAME = (
    "format", "epsilon", "delta", "adjacency", "unit_of_privacy", "max_rows_per_unit", "noise", "mechanism",
    "workload",
)  # fmt: skip
"""What the certificates of all sites say alike."""

_MAX_DEVIATIONS = 6
"""Standard deviations of noise by which numbers of records differ, at most: more has a chance below
1e-8.
"""

_COSTS = ("rho_budget", "rho_spent", "rho_left", "failure_delta", "failure_delta_spent")
"""The numbers of its accounting."""

_RUN = {"id", "released", "is_charged_to_budget", "resumed", "meaning", "rescued", "replayed"}
"""What a certificate may say of its run."""


def combine(
    sites: Sequence[SiteLike],
    *,
    same_people: bool = False,
    known: KnownLike = None,
    engine: str | Engine = "auto",
    about: AboutLike = None,
    report: Report = silent,
) -> Synthesis:
    """Take together what several sites measured by one plan; costs no privacy.

    Counts of different people add up, and so do the variances of their noise. Each of these people
    loses what their own site states, which is the guarantee of all together. Counts of the same
    people are averaged, with weights by the inverse of their variances, and losses add up.

    Parameters
    ----------
    sites
        What `measure` returned, or its files; at least two.
    same_people
        Whether a person may be at more than one site.
    known
        Published tables, as in `synthesize`, of all sites together: rows have them exactly.
    engine
        How to rebuild a table: a name or an `Engine`.
    about
        What the curator says of the release of all, as in `synthesize`.
    report
        Called with the progress.

    Raises
    ------
    ParameterError
        If sites measured by different plans, or guarantee different things; one is there twice, was
        stopped before its end, or is no site's; or published tables contradict each other.
    PrivacyError
        If the noise of a site can be predicted.
    SchemaError
        If a published table does not fit the columns.
    DataFileError
        If a file cannot be read.
    ModelTooLargeError
        If the engine cannot hold a model of these marginals.

    >>> import pandas as pd
    >>> from synthdp import measure, plan_measurements
    >>> plan = plan_measurements({"sex": 2, "town": 3}, epsilon=1.0, delta=1e-9)
    >>> frame = pd.DataFrame({"sex": [0, 1, 1] * 500, "town": [2, 0, 1] * 500})
    >>> both = combine([measure(frame[:900], plan), measure(frame[900:], plan)])
    >>> both.sample(5, seed=1).shape, both.certificate["guarantee"]
    ((5, 2), '(1, 1e-09)-differential privacy')
    """
    checked_flag("same_people", same_people)
    fitter = as_engine(engine)
    said = {} if about is None else {"about": import_named(READ_ABOUT)(about)}
    parts = _parts(sites)
    schema = parts[0].synthesis.schema
    measurements = [
        _combined(repeats, same_people=same_people)
        for repeats in zip(*(part.synthesis.measurements for part in parts), strict=True)
    ]
    published, unchecked = published_totals(known, OpenSchema.from_schema(schema), "known")
    model = fit_model(meeting(fitter, published), schema, measurements, report=report)
    certificate = _certificate(parts, measurements, fitter, model, same_people=same_people)
    certificate |= said
    certificate["cautions"] += _unmeasured_cautions(schema, measurements, published)
    if same_people:
        certificate["cautions"] += _other_people(parts)
    drawn = None
    if published:
        n_rows = round(model.total)
        drawn = Drawn(n_rows=n_rows, seed=0, codes=model.sample(n_rows, seed=0))
        known_said, cautions = totals_said(published, model, drawn.codes, measurements, 0.0)
        certificate |= known_said
        certificate["cautions"] += unchecked + cautions
        certificate["unprotected"] = [*certificate["unprotected"], dict(PUBLISHED)]
    return Synthesis(
        schema=schema,
        measurements=measurements,
        model=model,
        certificate=certificate,
        drawn=drawn,
        known=published,
    )


def _unmeasured_cautions(
    schema: Schema, measurements: Sequence[LinearMeasurement], known: Sequence[KnownMarginal]
) -> list[str]:
    """What users should know of columns of which neither sites nor published tables say anything."""
    measured = {name for measurement in measurements for name in measurement.clique}
    measured |= {name for marginal in known for name in marginal.clique}
    domain = schema.domain
    unmeasured = [name for name in domain.attributes if domain[name] > 1 and name not in measured]
    if not unmeasured:
        return []
    return [
        f"no site measured {listed(unmeasured)}, as if that were published: all its levels are equally frequent; "
        "combine anew with the published tables (known)"
    ]


class _Part(NamedTuple):
    """What one site gave, and what errors call it."""

    name: str
    synthesis: Synthesis
    certificate: Mapping[str, Any]


def _parts(sites: Sequence[SiteLike]) -> list[_Part]:
    """What all sites gave, checked to be of one plan and of different runs."""
    if isinstance(sites, str | PathLike | Synthesis) or not isinstance(sites, Sequence):
        raise ParameterError(
            f"sites is a {type(sites).__name__}; give a list of what sites measured"
        )
    if not 2 <= len(sites) <= MAX_SITES:
        raise ParameterError(f"sites: there are {len(sites)}; give 2 to {MAX_SITES:,}")
    parts = [_part(site, number) for number, site in enumerate(sites)]
    first = parts[0]
    runs: dict[object, str] = {}
    for part in parts:
        _check_alike(first, part)
        run = part.certificate["run"]["id"]
        if run in runs:
            raise ParameterError(
                f"{part.name} and {runs[run]} are of one run; name what each site measured once"
            )
        runs[run] = part.name
    return parts


def _part(site: SiteLike, number: int) -> _Part:
    name = repr(str(site)) if isinstance(site, str | PathLike) else f"sites[{number}]"
    if not isinstance(site, str | PathLike | Synthesis):
        raise ParameterError(f"{name} is a {type(site).__name__}; give a Synthesis, or its file")
    synthesis = site if isinstance(site, Synthesis) else load(site)
    certificate = synthesis.certificate
    if not isinstance(certificate.get("plan"), Mapping) or "sites" in certificate:
        raise ParameterError(
            f"{name} is not what one site measured by a plan; give a file that synthdp measure wrote"
        )
    if not certificate.get("complete"):
        raise ParameterError(
            f"{name}: its run was stopped before all of the plan was measured; go on with its journal"
        )
    if certificate["is_private"] is not True:
        raise PrivacyError(
            f"{name}: its noise can be predicted, so that it protects nobody; measure the site anew"
        )
    _check_stated(JsonValue(certificate, name, error=ParameterError))
    return _Part(name, synthesis, certificate)


def _other_people(parts: Sequence[_Part]) -> list[str]:
    """What users should know of sites whose numbers of records are too far apart for the same
    people.
    """
    named = [(part.name, *total_and_noise(part.synthesis.measurements)) for part in parts]
    least = min(named, key=lambda each: each[1])
    most = max(named, key=lambda each: each[1])
    if most[1] - least[1] <= _MAX_DEVIATIONS * hypot(most[2], least[2]):
        return []
    return [
        f"same people: {most[0]} has about {most[1]:,.0f} records, {least[0]} about {least[1]:,.0f}, and noise "
        "does not explain that: the mean describes neither; combine sites of different people without same_people"
    ]


def _check_stated(certificate: JsonValue) -> None:
    """Refuse a certificate that is not as `synthdp.measure` writes it, where it is repeated."""
    for key in ("epsilon", "delta"):
        certificate[key].number("a number above 0", least=sys.float_info.min)
    accounting = certificate["accounting"]
    accounting["currency"].choice([each.value for each in Accounting])
    accounting["theorem"].text()
    accounting.check_keys(("currency", "theorem", *_COSTS))
    for key in _COSTS:
        accounting[key].number("a number of 0 or more", least=0)
    certificate["cautions"].texts()
    certificate["not_covered"].texts()
    for quantity in certificate["unprotected"].entries():
        quantity["quantity"].text()
        quantity["source"].text()
        quantity.check_keys(("quantity", "source"))
    run = certificate["run"]
    run.check_keys(_RUN)
    run["id"].text()
    run["is_charged_to_budget"].flag()
    run["resumed"].default(()).texts()
    for key in _RUN - {"id", "is_charged_to_budget", "resumed"}:
        run[key].default("").text()
    if certificate["about"].is_given:
        import_named(READ_ABOUT)(certificate["about"].mapping())


def _check_alike(first: _Part, part: _Part) -> None:
    """Refuse a site of another plan; the rest is asked as well, for a file may be anybody's."""
    if part.certificate["plan"] != first.certificate["plan"]:
        raise ParameterError(
            f"{part.name} was measured by another plan than {first.name}; give sites of one plan"
        )
    if part.synthesis.schema.to_dict() != first.synthesis.schema.to_dict():
        raise ParameterError(
            f"{part.name} has another schema than {first.name}; give sites of one plan"
        )
    for name in _SAME:
        if part.certificate.get(name) != first.certificate.get(name):
            raise ParameterError(
                f"{part.name} has another {name} than {first.name}; give sites of one plan"
            )
    if part.certificate["accounting"]["currency"] != first.certificate["accounting"]["currency"]:
        raise ParameterError(
            f"{part.name} has another accounting than {first.name}; give sites of one plan"
        )
    if (
        _questions(part) != _questions(first)
        or part.certificate["events"] != first.certificate["events"]
    ):
        raise ParameterError(
            f"{part.name} was asked for other marginals than {first.name}; give sites of one plan"
        )


def _questions(part: _Part) -> list[object]:
    """What a site was asked."""
    return [
        (measurement.clique, {name: groups.tolist() for name, groups in measurement.groups.items()})
        for measurement in part.synthesis.measurements
    ]


def _combined(repeats: Sequence[LinearMeasurement], *, same_people: bool) -> LinearMeasurement:
    """One marginal of all sites: the sum of their counts, or their mean by inverse variance."""
    variances: list[FloatArray] = [np.asarray(each.variance) for each in repeats]
    values: FloatArray
    if same_people:
        weight = np.sum([1.0 / variance for variance in variances], axis=0)
        weighted = [
            each.values / variance for each, variance in zip(repeats, variances, strict=True)
        ]
        values = np.sum(weighted, axis=0) / weight
        variance = 1.0 / weight
    else:
        values = np.sum([each.values for each in repeats], axis=0)
        variance = np.sum(variances, axis=0)
    return LinearMeasurement(repeats[0].clique, values, np.sqrt(variance), repeats[0].coarsening)


def _certificate(
    parts: Sequence[_Part],
    measurements: Sequence[LinearMeasurement],
    engine: Engine,
    model: Model,
    *,
    same_people: bool,
) -> dict[str, Any]:
    """What all sites guarantee together, and each of them by itself."""
    first = parts[0].certificate
    guarantee = _losses_of_all(parts) if same_people else _loss_of_one(first)
    epsilon = guarantee["epsilon"]
    delta = guarantee["delta"]
    n_rows = clear_total(measurements)
    unknown = [] if any(each.is_count for each in model.known) else count_cautions(measurements)
    weak = cautions(
        epsilon=epsilon, delta=delta, n_rows=n_rows, max_rows=first["max_rows_per_unit"]
    )
    of_sites = {
        f"{part.name}: {caution}": None
        for part in parts
        for caution in part.certificate["cautions"]
        if caution not in cautions(epsilon=first["epsilon"], delta=first["delta"])
    }
    kept = (
        "format", "is_private", "adjacency", "unit_of_privacy", "max_rows_per_unit", "noise", "mechanism", "workload",
        "unprotected", "plan",
    )  # fmt: skip
    return {
        **{name: first[name] for name in kept},
        **guarantee,
        "cautions": [*weak, *of_sites, *unknown, *fit_cautions(model)],
        **fit_facts(parts[0].synthesis.schema, engine, model),
        "versions": versions(),
        "sites": {
            "people": SAME_PEOPLE if same_people else DISJOINT,
            "each": [_of_site(part.certificate) for part in parts],
        },
        "not_covered": [*first["not_covered"], *([] if same_people else [AT_ONE_SITE]), WHICH_SITE],
    }


def _of_site(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of one site."""
    epsilon = certificate["epsilon"]
    delta = certificate["delta"]
    stated = {"guarantee": guarantee_text(epsilon, delta), "epsilon": epsilon, "delta": delta}
    stated["rho_spent"] = certificate["accounting"]["rho_spent"]
    return stated | {name: certificate[name] for name in ("run", "about") if name in certificate}


def _loss_of_one(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The guarantee where each person is at one site: that of any site, as all have the same plan.

    A person changes the counts of one site only, and what the others released does not depend on
    them: of all sites' answers together, those of one site are all that they change [McSherry
    2009, Thm. 4].
    """
    accounting = Accounting(certificate["accounting"]["currency"])
    epsilon = certificate["epsilon"]
    delta = certificate["delta"]
    rho = accounting.rho(epsilon=epsilon, delta=delta)
    return {
        **_guarantee(epsilon, delta, accounting, rho),
        "accounting": certificate["accounting"],
        "events": certificate["events"],
    }


def _guarantee(
    epsilon: float, delta: float, accounting: Accounting, rho: Fraction
) -> dict[str, Any]:
    """What a certificate says of epsilon and delta, and of a cost that they allow for."""
    protection = Protection(epsilon=epsilon, delta=delta, accounting=accounting, rho=float(rho))
    return {
        "guarantee": guarantee_text(epsilon, delta),
        "epsilon": epsilon,
        "delta": delta,
        "meaning": stated_meaning(protection),
    }


def _losses_of_all(parts: Sequence[_Part]) -> dict[str, Any]:
    """The guarantee where a person may be at all sites: costs in rho add up."""
    first = parts[0].certificate
    stated = first["accounting"]
    accounting = Accounting(stated["currency"])
    delta = first["delta"]
    # From epsilon and delta, exactly: the number in a certificate is rounded.
    rho = len(parts) * accounting.rho(epsilon=first["epsilon"], delta=delta)
    epsilon = epsilon_reaching(accounting, rho, delta, least=first["epsilon"])
    sums = {
        name: sum(part.certificate["accounting"][name] for part in parts)
        for name in ("rho_spent", "rho_left")
    }
    return {
        **_guarantee(epsilon, delta, accounting, rho),
        "accounting": {**stated, "rho_budget": float(rho), **sums},
        "events": [event for part in parts for event in part.certificate["events"]],
    }
