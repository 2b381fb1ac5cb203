"""Where public tables lie, unless an option says otherwise."""

from pathlib import Path

SHARED_DATA = Path(__file__).resolve().parents[3] / "shared/data"
"""Beside the checkout."""
