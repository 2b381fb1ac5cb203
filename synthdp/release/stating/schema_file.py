"""The published JSON Schema of certificates."""

from pathlib import Path

SCHEMA_FILE = Path(__file__).with_name("certificate.schema.json")
"""JSON Schema (draft 2020-12) of every certificate that this version writes."""
