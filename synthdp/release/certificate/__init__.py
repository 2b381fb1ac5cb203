"""What a release says of itself: its certificate."""
