"""NOT PRIVATE. The page of an evaluation."""
