"""How far the noise lets a release be from its table: intervals, replicates, and analyses of them."""
