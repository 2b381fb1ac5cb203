import pytest

from synthdp.core import Grid, MissingExtraError, import_extra, import_named


def test_a_name_is_what_its_module_defines():
    assert import_named(f"{Grid.__module__}:Grid") is Grid
    with pytest.raises(AttributeError):
        import_named(f"{Grid.__module__}:Nothing")


def test_a_missing_library_gets_the_sentence_of_its_user():
    assert import_extra("json", "unused").loads("1") == 1
    with pytest.raises(MissingExtraError, match=r"^take another$") as caught:
        import_extra("no_such_library", "take another")
    assert caught.value.__cause__ is None
