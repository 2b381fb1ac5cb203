"""The loop that moves records, one after the other: what `RecordMoves` does, over plain arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.inference.compiled import Compiled

_BLOCK = 64
"""Rows whose cells are worked out together, marginal by marginal: the compiler makes vectors of
them, which is five times as quick as row by row, and quicker still if `Layout.starts` are of 32
bits.

So is what leaving them relieves, by which most rows are passed over: drawing takes two thirds of
the time (Adult, NLTCS and made-up tables, epsilon 1 and 10), and tables come as close as without.
"""

DOUBTED = 2.0
"""A cell that is off by more than so many times its own chance pulls no harder than one that is off
by so much: it contradicts others, and no record can mend it.

Against plain squares tables of contradictory measurements come 15 % closer (NLTCS at epsilon 1),
and a round over a million rows takes half as long, since fewer moves are tried in vain.
"""

# Cells are looked up by unsigned numbers: numba asks of all others whether they count from the end,
# which takes a fourth of a round.
Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


class Layout(NamedTuple):
    """Where the marginals lie, and which of them a move changes.

    Marginals are numbered, wanted ones before constraints, and their cells lie end to end; so do
    the lists of attributes here, those of item ``i`` from ``first[i]`` to ``first[i + 1]``.
    """

    starts: NDArray[np.signedinteger]
    """Where the cells of each marginal start, shape ``(n_marginals,)``; as wide as cells need."""
    first_member: Ints
    members: Ints
    """The attributes of each marginal."""
    member_strides: NDArray[np.signedinteger]
    """By how many cells one level more moves a record there."""
    first_holder: Ints
    holders: Ints
    """The marginals of each attribute."""
    holder_strides: Ints
    """By how many cells one level more moves a record there."""
    sizes: Ints
    """Number of levels of each attribute, shape ``(n_attributes,)``."""


class Ties(NamedTuple):
    """Attributes that move together, and the combinations that they are moved to.

    Lists lie end to end as in `Layout`.
    """

    first_name: Ints
    names: Ints
    """The attributes of each tie."""
    first_value: Ints
    values: Ints
    """The codes of its combinations, one after the other."""
    n_values: Ints
    """Number of combinations, shape ``(n_ties,)``."""
    first_holder: Ints
    holders: Ints
    """The marginals that it changes."""
    first_offset: Ints
    offsets: Ints
    """For each of these the cells of the combinations, less the one of zeros."""


class Trends(NamedTuple):
    """Pairs of attributes that go up, or down, with each other."""

    pairs: Ints
    """Their attributes, shape ``(n_pairs, 2)``."""
    first: Ints
    places: Ints
    """The pairs of each attribute."""
    others: Ints
    """The other attribute of each of these."""
    ranks: Floats
    """Standardised ranks of the levels, shape ``(n_attributes, most levels)``."""
    correlations: NDArray[np.float64]
    """What the mean of the products of their ranks should be, shape ``(n_pairs,)``."""
    weights: Floats
    """Weight of each pair, shape ``(n_pairs,)``."""
    gaps: NDArray[np.float64]
    """By how much products of ranks, summed over the records, are too large; changed with them."""


def add_products(row: NDArray[np.int32], trends: Trends, sign: float) -> None:
    """Add a record's products of ranks to the gaps of all pairs, or take them away."""
    for pair in range(trends.gaps.size):
        one = trends.pairs[pair, 0]
        other = trends.pairs[pair, 1]
        trends.gaps[pair] += sign * trends.ranks[one, row[one]] * trends.ranks[other, row[other]]


def locate_block(
    records: NDArray[np.int32],
    layout: Layout,
    codes: NDArray[np.int32],
    block: NDArray[np.signedinteger],
) -> None:
    """Work out which cell of each marginal each of some records is in, attribute by attribute.

    Parameters
    ----------
    records
        Codes, shape ``(n_rows, n_attributes)``, of at most `_BLOCK` rows.
    layout
        What lies where.
    codes
        Room for the codes of a block, shape ``(n_attributes, _BLOCK)``.
    block
        Where the cells go, shape ``(n_marginals, _BLOCK)``.
    """
    n_rows, n_attributes = records.shape
    for attribute in range(n_attributes):
        for row in range(n_rows):
            codes[attribute, row] = records[row, attribute]
    for marginal in range(layout.starts.size):
        for row in range(n_rows):
            block[marginal, row] = layout.starts[marginal]
        for place in range(layout.first_member[marginal], layout.first_member[marginal + 1]):
            member = layout.members[place]
            stride = layout.member_strides[place]
            for row in range(n_rows):
                block[marginal, row] += stride * codes[member, row]


def screen_cells(
    block: NDArray[np.signedinteger],
    n_rows: int,
    costs: Floats,
    weights: Floats,
    layout: Layout,
    ties: Ties,
    held: Floats,
    relieved: Floats,
) -> None:
    """What leaving its cells relieves each of some rows: those of each attribute, and of each tie.

    Parameters
    ----------
    block, n_rows
        Cells of so many rows, as `locate_block` gives them.
    costs, weights, layout, ties
        As in `sweep`.
    held
        Room for what leaving the cell of each marginal relieves, shape ``(n_marginals, _BLOCK)``.
    relieved
        Where reliefs go, shape ``(n_attributes + n_ties, _BLOCK)``.
    """
    n_attributes = layout.sizes.size
    for marginal in range(layout.starts.size):
        for row in range(n_rows):
            cell = np.uintp(block[marginal, row])
            held[marginal, row] = costs[cell] - weights[cell]
    relieved[:] = 0.0
    for attribute in range(n_attributes):
        for place in range(layout.first_holder[attribute], layout.first_holder[attribute + 1]):
            marginal = layout.holders[place]
            for row in range(n_rows):
                relieved[attribute, row] += held[marginal, row]
    for tie in range(ties.n_values.size):
        for place in range(ties.first_holder[tie], ties.first_holder[tie + 1]):
            marginal = ties.holders[place]
            for row in range(n_rows):
                relieved[n_attributes + tie, row] += held[marginal, row]


def screen_ranks(
    codes: NDArray[np.int32], n_rows: int, trends: Trends, ranks: Floats, relieved: Floats
) -> None:
    """Add what leaving its ranks relieves each of some rows.

    ``ranks`` is room for them, shape ``(n_attributes, _BLOCK)``; the rest is as in `screen_cells`.
    """
    if not trends.gaps.size:
        return
    for attribute in range(codes.shape[0]):
        for row in range(n_rows):
            ranks[attribute, row] = trends.ranks[attribute, np.uintp(codes[attribute, row])]
    for pair in range(trends.gaps.size):
        one = trends.pairs[pair, 0]
        other = trends.pairs[pair, 1]
        pull = trends.weights[pair] * np.float32(trends.gaps[pair])
        for row in range(n_rows):
            product = pull * ranks[one, row] * ranks[other, row]
            relieved[one, row] += product
            relieved[other, row] += product


def pull_of_ranks(
    attribute: int, row: NDArray[np.int32], trends: Trends
) -> tuple[np.float32, np.float32]:
    """How rank correlations pull at an attribute of a record: the slope at its rank, and the bend.

    A rank correlation is one number of the whole table. Its gap pulls at the record in proportion
    to the other attribute's rank, and less the further the record follows: the bend is how fast.
    """
    slope = np.float32(0.0)
    bend = np.float32(0.0)
    for place in range(trends.first[attribute], trends.first[attribute + 1]):
        pair = trends.places[place]
        other = trends.others[place]
        pull = trends.weights[pair] * trends.ranks[other, row[other]]
        slope += pull * np.float32(trends.gaps[pair])
        bend += pull * trends.ranks[other, row[other]]
    return slope, bend


def price_levels(
    attribute: int, value: int, cells: Ints, costs: Floats, layout: Layout, arrival: Floats
) -> None:
    """What arriving at each level of an attribute costs a record that has ``value`` there.

    ``cells`` are the record's cells of all marginals; the costs go to the start of ``arrival``.
    """
    size = layout.sizes[attribute]
    arrival[:size] = 0.0
    for place in range(layout.first_holder[attribute], layout.first_holder[attribute + 1]):
        stride = layout.holder_strides[place]
        # Where the row would be with level 0, all else as it is: from there one level is one
        # stride.
        start = cells[np.uintp(layout.holders[place])] - stride * value
        # Written twice for the compiler, which makes wide instructions of a loop over neighbours.
        if stride == 1:
            for level in range(size):
                arrival[level] += costs[np.uintp(start + level)]
        else:
            for level in range(size):
                arrival[level] += costs[np.uintp(start + level * stride)]


def price_combinations(
    tie: int,
    row: NDArray[np.int32],
    cells: Ints,
    reliefs: Floats,
    costs: Floats,
    layout: Layout,
    ties: Ties,
    bases: Ints,
    arrival: Floats,
) -> None:
    """What arriving at each combination of a tie costs a record, as `price_levels` of an attribute.

    ``bases`` gets the cell of each of its marginals where what moves has levels 0, all else as it
    is: the cell of a combination is one offset from there.
    """
    # Attributes that belong together move together: each on its own would leave what is allowed, or
    # what it hangs together with.
    first_name = ties.first_name[tie]
    last_name = ties.first_name[tie + 1]
    n_values = ties.n_values[tie]
    arrival[:n_values] = 0.0
    for place in range(ties.first_holder[tie], ties.first_holder[tie + 1]):
        marginal = ties.holders[place]
        offset = ties.first_offset[place]
        start = cells[marginal]
        for member in range(layout.first_member[marginal], layout.first_member[marginal + 1]):
            for moved in range(first_name, last_name):
                if ties.names[moved] == layout.members[member]:
                    start -= layout.member_strides[member] * row[ties.names[moved]]
        bases[place] = start
        for combination in range(n_values):
            cell = start + ties.offsets[np.uintp(offset + combination)]
            # A marginal in which the record stays where it is changes by nothing.
            stays = cell == cells[marginal]
            arrival[combination] += reliefs[marginal] if stays else costs[np.uintp(cell)]


def look_up(
    block: NDArray[np.signedinteger],
    column: int,
    costs: Floats,
    weights: Floats,
    cells: Ints,
    reliefs: Floats,
) -> None:
    """The cells of a record of a block, and what leaving each of them relieves as things are now."""
    for marginal in range(cells.size):
        cells[marginal] = block[marginal, column]
        cell = np.uintp(cells[marginal])
        reliefs[marginal] = costs[cell] - weights[cell]


def cheapest(arrival: Floats, size: int) -> int:
    """The first of the smallest of so many costs."""
    best = 0
    for level in range(1, size):
        if arrival[level] < arrival[best]:
            best = level
    return best


def move_cell(
    marginal: int,
    cell: int,
    cells: Ints,
    reliefs: Floats,
    costs: Floats,
    weights: Floats,
    more: NDArray[np.int32],
) -> None:
    """Move a record to another cell of a marginal.

    The surplus of the cell that is left falls by one and that of the new cell rises by one, so each
    row sees what rows before it did.
    """
    left = np.uintp(cells[marginal])
    joined = np.uintp(cell)
    costs[left] -= weights[left]
    more[left] -= 1
    cells[marginal] = cell
    reliefs[marginal] = costs[joined]
    costs[joined] += weights[joined]
    more[joined] += 1


@Compiled
def sweep(  # noqa: C901
    records: NDArray[np.int32],
    costs: Floats,
    weights: Floats,
    layout: Layout,
    ties: Ties,
    trends: Trends,
    movable: NDArray[np.bool_],
    eagerness: Floats,
    more: NDArray[np.int32],
) -> int:
    """Let each record in turn take the values that gain most; how many codes were changed.

    Parameters
    ----------
    records
        Codes, shape ``(n_rows, n_attributes)``; changed in place.
    costs
        What an arrival costs in each cell: its weight times the surplus and a half; infinite where
        no record may be. Changed with the records.
    weights
        Weight of each cell, 0 in constraints.
    layout, ties
        What lies where.
    trends
        Rank correlations that are wanted.
    movable
        Which attributes may change on their own, shape ``(n_attributes,)``.
    eagerness
        What leaving its value relieves each record beyond that, shape of ``records``, at least 0;
        empty for nothing.
    more
        How many records more each cell has than before; changed with the records.
    """
    n_rows, n_attributes = records.shape
    n_marginals = layout.starts.size
    n_ties = ties.n_values.size
    most = 1
    for attribute in range(n_attributes):
        most = max(most, layout.sizes[attribute])
    for tie in range(n_ties):
        most = max(most, ties.n_values[tie])
    arrival = np.empty(most, dtype=np.float32)
    cells = np.empty(n_marginals, dtype=np.int64)
    reliefs = np.empty(n_marginals, dtype=np.float32)
    bases = np.empty(ties.holders.size, dtype=np.int64)
    codes = np.empty((n_attributes, _BLOCK), dtype=np.int32)
    block = np.empty((n_marginals, _BLOCK), dtype=layout.starts.dtype)
    held = np.empty((n_marginals, _BLOCK), dtype=np.float32)
    ranks = np.empty((n_attributes, _BLOCK), dtype=np.float32)
    relieved = np.empty((n_attributes + n_ties, _BLOCK), dtype=np.float32)
    top = 0
    n_moves = 0
    # In one function: with ties moved by another one, a draw took a twentieth longer.
    for i in range(n_rows):
        row = records[i]
        # Cells of a block of rows are worked out attribute by attribute. They are those before any
        # row of the block moved, and a row's own cells change by its own moves only, so none is out
        # of date when its row comes.
        if i % _BLOCK == 0:
            top = i
            n_some = min(_BLOCK, n_rows - top)
            locate_block(records[top : top + n_some], layout, codes, block)
            screen_cells(block, n_some, costs, weights, layout, ties, held, relieved)
            screen_ranks(codes, n_some, trends, ranks, relieved)
        column = i - top
        is_looked_up = has_moved = False
        for attribute in range(n_attributes):
            if not movable[attribute]:
                continue
            eager = eagerness[i, attribute] if eagerness.size else np.float32(0.0)
            # Most rows stop here, by what leaving would relieve as the block began: a few moves of
            # rows before it change that by little.
            if not has_moved and not relieved[attribute, column] + eager > 0.0:
                continue
            if not is_looked_up:
                look_up(block, column, costs, weights, cells, reliefs)
                is_looked_up = True
            relief = eager
            for place in range(layout.first_holder[attribute], layout.first_holder[attribute + 1]):
                relief += reliefs[np.uintp(layout.holders[place])]
            slope, bend = pull_of_ranks(attribute, row, trends)
            here = trends.ranks[attribute, row[attribute]]
            relief += slope * here
            # What leaving would relieve is known without trying a value.
            if not relief > 0.0:
                continue
            size = layout.sizes[attribute]
            price_levels(attribute, row[attribute], cells, costs, layout, arrival)
            if bend > 0.0:
                for level in range(size):
                    rank = trends.ranks[attribute, level]
                    step = rank - here
                    arrival[level] += slope * rank + bend * step * step / np.float32(2.0)
            arrival[row[attribute]] = np.inf  # to come back is no move
            best = cheapest(arrival, size)
            if not arrival[best] < relief:
                continue
            for place in range(layout.first_holder[attribute], layout.first_holder[attribute + 1]):
                marginal = layout.holders[place]
                cell = cells[marginal] + layout.holder_strides[place] * (best - row[attribute])
                move_cell(marginal, cell, cells, reliefs, costs, weights, more)
            add_products(row, trends, -1.0)
            row[attribute] = best
            add_products(row, trends, 1.0)
            n_moves += 1
            has_moved = True
        for tie in range(n_ties):
            # Then what is tied, as one attribute whose levels are the allowed combinations.
            if not has_moved and not relieved[n_attributes + tie, column] > 0.0:
                continue
            if not is_looked_up:
                look_up(block, column, costs, weights, cells, reliefs)
                is_looked_up = True
            first = ties.first_holder[tie]
            last = ties.first_holder[tie + 1]
            relief = np.float32(0.0)
            for place in range(first, last):
                relief += reliefs[np.uintp(ties.holders[place])]
            if not relief > 0.0:
                continue
            n_values = ties.n_values[tie]
            price_combinations(tie, row, cells, reliefs, costs, layout, ties, bases, arrival)
            best = cheapest(arrival, n_values)
            if not arrival[best] < relief:
                continue
            for place in range(first, last):
                cell = bases[place] + ties.offsets[ties.first_offset[place] + best]
                move_cell(ties.holders[place], cell, cells, reliefs, costs, weights, more)
            add_products(row, trends, -1.0)
            first_name = ties.first_name[tie]
            n_names = ties.first_name[tie + 1] - first_name
            for moved in range(n_names):
                code = ties.values[ties.first_value[tie] + best * n_names + moved]
                n_moves += row[ties.names[first_name + moved]] != code
                row[ties.names[first_name + moved]] = code
            add_products(row, trends, 1.0)
    return n_moves


@Compiled
def price(
    counts: NDArray[np.int32],
    shares: NDArray[np.float64],
    scales: NDArray[np.float64],
    starts: NDArray[np.signedinteger],
    n_rows: int,
    n_parts: int,
    costs: Floats,
    weights: Floats,
) -> None:
    """Work out the weight of each cell of wanted marginals, and what an arrival costs there.

    Parameters
    ----------
    counts
        Records in each cell.
    shares
        The wanted shares of all of them, end to end.
    scales
        How much each marginal weighs.
    starts
        Where the cells of each start.
    n_rows, n_parts
        Records, and parts of them that each mend their part of what is off.
    costs, weights
        Where these go.
    """
    for marginal in range(scales.size):
        start = starts[marginal]
        end = starts[marginal + 1] if marginal + 1 < scales.size else shares.size
        # Counted from 0, for the compiler, which makes wide instructions of what cannot be
        # negative.
        present = counts[start:end]
        wanted = shares[start:end]
        scale = np.float32(scales[marginal])
        part_costs = costs[start:end]
        part_weights = weights[start:end]
        for cell in range(wanted.size):
            expected = n_rows * wanted[cell]
            surplus = np.float32(present[cell] - expected)
            doubted = surplus / np.float32(DOUBTED)
            # One record more keeps empty cells from weighing infinitely much.
            square = doubted * doubted + np.float32(expected) + np.float32(1.0)
            weight = scale / np.sqrt(square)
            part_weights[cell] = weight
            # (s + 1)^2 - s^2 is 2 s + 1, half of which is s and a half: what one arrival adds to
            # the squared distance.
            part_costs[cell] = (surplus / np.float32(n_parts) + np.float32(0.5)) * weight


@Compiled
def count(records: NDArray[np.int32], layout: Layout, counts: NDArray[np.int32]) -> None:
    """Add to each cell of each marginal the number of records in it."""
    n_rows, n_attributes = records.shape
    n_marginals = layout.starts.size
    codes = np.empty((n_attributes, _BLOCK), dtype=np.int32)
    block = np.empty((n_marginals, _BLOCK), dtype=layout.starts.dtype)
    for start in range(0, n_rows, _BLOCK):
        n_some = min(_BLOCK, n_rows - start)
        # A histogram of all marginals at once, block by block, in the same order of memory as the
        # moves.
        locate_block(records[start : start + n_some], layout, codes, block)
        for marginal in range(n_marginals):
            for row in range(n_some):
                counts[block[marginal, row]] += 1


@Compiled
def tally(records: NDArray[np.int32], trends: Trends) -> None:
    """Add the products of the ranks of all records to the gaps."""
    for i in range(records.shape[0]):
        add_products(records[i], trends, 1.0)
