"""Truth against synthetic, which is not private, and pages and pictures."""
