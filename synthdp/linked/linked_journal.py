"""A release of what the journal of a run over linked tables holds, without its run."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from synthdp.core.errors import SynthdpError
from synthdp.learning.learner import LearntColumn
from synthdp.linked.families.repeated import repeated_pairs
from synthdp.linked.linked_certificate import domain_facts, linked_certificate
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.package.opened import learnt_parts
from synthdp.linked.package.package import Package
from synthdp.linked.package.view import MAX_GRID, LinkedView, views_of
from synthdp.linked.refitted_view import refitted_view, root_with_numbers_below
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import SystemRandomness
from synthdp.release.certificate.run_facts import RunFacts
from synthdp.release.certificate.unprotected import unprotected_quantities
from synthdp.release.learnt_domain import learnt_in
from synthdp.release.persistence.kept_answers import NO_RUN, KeptAnswers
from synthdp.release.persistence.kept_events import fraction_in
from synthdp.release.persistence.run_identity import RunIdentity
from synthdp.release.registry import engine_named
from synthdp.release.settings import DOMAIN_SHARE
from synthdp.release.synthesis import Synthesis
from synthdp.schema.open_schema import OpenSchema


def linked_release_of(kept: KeptAnswers, identity: RunIdentity) -> LinkedSynthesis:
    """What the answers about linked tables make; all that is in the file is held against its
    package.

    Each view of which a marginal was measured is fitted by itself when it is needed, without
    what the views before it say of the rows that its own hang on. Raises `DataFileError` if there
    is no marginal, or it is no such journal.
    """
    facts = kept.header["facts"]
    try:
        declared = Package.from_dict(facts["package"])
        ledger = replace(kept, answers=()).ledger()
        columns = dict[str, LearntColumn]()
        for column, caution in map(learnt_in, kept.notes):
            columns[column.name] = LearntColumn(column=column, caution=caution)
        package = declared
        public = facts["public"]
        # Said anew once columns were learnt, and as rows above say how a table's part is divided.
        stated = facts["views"] | (kept.stated_views or {})
        for event in kept.before_views:  # of a package of which nothing is open there are none
            ledger.charge(event)
        if declared.is_open:
            package = declared.closed({name: each.column for name, each in columns.items()})
            public = public | domain_facts(declared, facts["domain_share"], columns)
        views = {
            label: replace(view, heaviest=int(stated[label].get("heaviest", MAX_GRID)))
            for label, view in views_of(package).items()
            if view.schema is not None
        }
        known = learnt_parts(declared.joint_schema) if columns else {}
        read = {
            label: _part(
                views[label],
                answers,
                ledger,
                stated[label],
                public,
                identity,
                known,
            )
            for label, answers in kept.by_view().items()
        }
        parts = {label: part for label, part in read.items() if part.measurements}
        root = package.root.name
        if root in parts:
            parts[root] = root_with_numbers_below(views, parts, engine_named("auto"), learnt=known)
        certificate: Mapping[str, Any] = {}
        if parts:
            certificate = linked_certificate(
                package,
                views,
                parts,
                ledger=ledger,
                engine=engine_named("auto"),
                randomness=SystemRandomness(),
                public=public,
                run=identity.to_dict(),
                declared=declared,
                learnt=columns,
            )
    except (ArithmeticError, AttributeError, KeyError, SynthdpError, TypeError, ValueError):
        kept.refuse(NO_RUN)
    if not parts:
        kept.refuse("it holds no marginal yet: nothing can be made of it")
    return LinkedSynthesis(
        package=package, parts=parts, certificate={**certificate, "complete": kept.has_ended}
    )


def _part(
    view: LinkedView,
    kept: KeptAnswers,
    ledger: PrivacyLedger,
    stated: Mapping[str, Any],
    public: Mapping[str, Any],
    identity: RunIdentity,
    learnt: Mapping[str, Collection[str]],
) -> Synthesis:
    """The release of one view, its answers charged to the ledger of all."""
    assert view.schema is not None
    schema = OpenSchema.from_schema(view.schema)
    own = ledger.part(fraction_in(stated["budget"]), max_rows=stated["max_rows"])
    for event, _, _ in kept.answers:
        own.charge(event)
    assert view.reading_schema is not None
    measured, unread = kept.measurements(view.schema, view.reading_schema.domain)
    asked = {
        "mechanism": public["mechanism"],
        "workload": stated["workload"],
        "unprotected": unprotected_quantities(schema, own.unit, has_public_dtypes=False),
    }
    certificate = RunFacts(schema=schema, domain_share=DOMAIN_SHARE, public=asked).certificate(
        ledger=own,
        randomness=SystemRandomness(),
        engine=engine_named("auto"),
        learnt={},
        run=identity.to_dict(),
        schema=view.schema,
        measurements=measured,
        unread=unread,
    )
    part = Synthesis(schema=view.schema, measurements=measured, model=None, certificate=certificate)
    # Fitted only when it is needed, but where clipped noise would multiply rows, or fill a level.
    known = repeated_pairs(view, part)
    if not (measured and (view.counts or known or {*learnt} & {*view.drawn})):
        return part
    return refitted_view(view, part, engine_named("auto"), known=known, learnt=learnt)
