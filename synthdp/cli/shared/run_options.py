"""What the shell says of a run, as its settings."""

from synthdp.cli.arguments.options import RunOptions
from synthdp.release.run_settings import RunSettings, Spelling
from synthdp.release.settings import DOMAIN_SHARE, QUALITY_SHARE
from synthdp.schema.words.texts import between_commas


def settings_of(options: RunOptions) -> RunSettings:
    """The settings that the options of ``synthdp run`` say; refuses what does not fit together."""
    return RunSettings(
        epsilon=options.epsilon,
        delta=options.delta,
        mechanism=options.mechanism,
        workload=options.workload,
        target=options.target,
        engine=options.engine,
        adjacency=options.adjacency,
        accounting=options.accounting,
        unit=options.unit,
        max_rows_per_unit=options.max_rows_per_unit,
        together=options.together,
        order=options.order,
        constant=between_commas(options.constant or ""),
        domain_share=DOMAIN_SHARE if options.domain_share is None else options.domain_share,
        quality_share=QUALITY_SHARE if options.quality_share is None else options.quality_share,
        accept=options.accept,
        choose=options.choose,
        about=options.about,
        known=options.known,
        weight=options.weight,
        prior=options.prior,
        anyway=options.anyway,
        spelling=Spelling.SHELL,
    )
