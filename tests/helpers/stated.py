"""Releases small enough to state something about in no time, and what a curator says of them."""

import numpy as np
import pandas as pd

from synthdp.data import held_rows
from synthdp.inference import GraphicalModelEngine
from synthdp.release import Release, RunSettings
from synthdp.schema import OpenSchema

DECLARED = {
    "fields": [
        {"name": name, "type": "string", "constraints": {"enum": ["n", "y"], "required": True}}
        for name in "abc"
    ]
}
KINDS = {
    "a": "categorical",
    "age": {"type": "integer", "synthdp": {"derive": True, "binning": "privtree"}},
}

ABOUT = {
    "name": "Made-up people",
    "curators": [
        {"name": "Office of Examples", "type": "Government"},
        {"name": "Firm", "type": "Industry"},
    ],
    "contact": "dpo@office.example",
    "description": "Rows that are drawn from a model.\nNobody is in it.",
    "intended_use": "Tests.",
    "region": "Nowhere",
    "sector": "Education",
    "publication_date": "2026-11-22",
    "data_period": "2025",
    "actors": "The office, and the public.",
    "trust_assumptions": "The office is trusted with the records.",
    "release_type": "One release",
    "release_type_details": "No other is planned.",
    "data_source_type": "Static",
    "preprocessing": "None.",
    "hyperparameter_tuning": "None: all settings are defaults.",
    "justification": "Epsilon is that of a test.",
    "utility": "Not measured.",
    "sources": [
        {
            "type": "Other public source",
            "title": "A page",
            "url": "https://office.example",
            "year": 2026,
        }
    ],
    "notes": "First line: a.\nSecond line.",
    "registry_authors": ["A. Clerk"],
}
"""Everything that may be said."""


def people(n_rows=300):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.choice(["n", "y"], n_rows) for name in "abc"})
    return frame.assign(age=rng.integers(0, 90, n_rows), person=np.arange(n_rows) // 2)


def release_of(
    declared=None,
    *,
    about=None,
    unit=None,
    max_rows=1,
    rescue=None,
    report=lambda *_: None,
    randomness=None,
    **settings,
):
    """A release of these people; by default with a quick engine."""
    schema = (
        OpenSchema.from_kinds(KINDS)
        if declared is KINDS
        else OpenSchema.from_dict(declared or DECLARED)
    )
    settings = {
        "epsilon": 2.0,
        "delta": 1e-6,
        "mechanism": "mst",
        "adjacency": "add-remove",
    } | settings
    settings = {"engine": GraphicalModelEngine()} | settings
    stated = {} if about is None else {"about": about}
    run = Release(
        schema=schema,
        settings=RunSettings(unit=unit, max_rows_per_unit=max_rows if unit else None, **settings),
        stated=stated,
        randomness=randomness,
    )
    columns = [*schema.names, *([unit] if unit else [])]
    return run.of(
        held_rows(people()[columns], schema, unit=unit, max_rows=max_rows),
        report=report,
        rescue=rescue,
    )
