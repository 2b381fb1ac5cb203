"""Cautions of many columns in one line, whatever they say."""

from synthdp.core import grouped, with_caution_code

READ = "about {} % of the records have no value; declare how it is written: {}"


def test_columns_that_are_told_the_same_are_told_in_one_line_with_the_range_of_their_shares():
    shares = zip("abcdefg", range(30, 37), strict=True)
    said = [f"column {name!r}: {READ.format(share, 'missingValues')}" for name, share in shares]
    lines = grouped(["few records", *said[:3], "the fit was stopped", *said[3:]])
    most = READ.format("30 to 36", "missingValues")
    assert lines == [
        "few records",
        f"columns 'a', 'b', 'c' and 4 more: {most}",
        "the fit was stopped",
    ]
    assert grouped(said[:4])[0].startswith("columns 'a', 'b', 'c' and 'd': about 30 to 33 %")
    assert grouped([said[0]]) == [said[0]]
    assert grouped([said[0], said[0]]) == [said[0]]  # said twice of one column


def test_what_differs_in_more_than_numbers_is_told_apart():
    said = [
        "column 'a': about 30 % became 'other'",
        "column 'b': about 30 % became 'else'",
        "column 'c': about 30 % have no value",
        "column 'd': from 2020-01-05 on",
        "column 'e': from 2021-01-05 on",
        "people: column 'a': about 30 % became 'other'",
        "column 'f', which is not told of in this way",
    ]
    assert grouped(said) == said
    assert grouped([*said, "people: column 'z': about 4.5 % became 'other'"])[5] == (
        "people: columns 'a' and 'z': about 4.5 to 30 % became 'other'"
    )


def test_names_may_hold_anything():
    names = ["it's", 'a "b": c', "x: 3 %", "new\nline"]
    said = [
        f"column {name!r}: bounds of {name!r} are uncertain by about {n}.5"
        for n, name in enumerate(names)
    ]
    shown = ", ".join(map(repr, names[:3])) + f" and {names[3]!r}"
    assert grouped(said) == [f"columns {shown}: bounds of it are uncertain by about 0.5 to 3.5"]


def test_numbers_in_quotes_are_names_and_equal_ones_are_no_range():
    said = [f"column {name!r}: 5 records of 'level {name}'" for name in "12"]
    assert grouped(said) == said
    assert grouped(["column 'a': -3 to 5", "column 'b': -4 to 5"]) == [
        "columns 'a' and 'b': -4 to -3 to 5"
    ]


def test_several_columns_have_their_bounds_and_the_code_of_one():
    said = [f"column {name!r}: its bounds are uncertain by about 2" for name in "ab"]
    (line,) = grouped(said)
    assert line == "columns 'a' and 'b': their bounds are uncertain by about 2"
    assert with_caution_code(line) == f"{line} [C07]"
