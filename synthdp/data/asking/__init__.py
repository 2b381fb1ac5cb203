"""How sources are asked: in pieces, stoppable, and without a word of theirs getting out."""
