"""Words for certificates, numbers and levels."""
