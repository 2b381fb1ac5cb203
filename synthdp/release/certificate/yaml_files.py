"""YAML, which people write and registries take: read as plain values, written with texts that stay
readable.
"""

from os import PathLike
from pathlib import Path
from typing import Any

from synthdp.core.errors import DataFileError, ParameterError
from synthdp.core.files.writing import reason
from synthdp.core.imports import import_extra

MAX_BYTES, MAX_DEPTH = 1 << 18, 20
"""Larger files, and deeper ones, were written by no curator."""

_WIDTH = 100
"""Characters of a line before it is folded."""


def load_yaml(path: str | PathLike[str], what: str) -> Any:
    """Plain values of a YAML file; ``what`` says in messages what kind of file it is.

    Raises
    ------
    DataFileError
        If it cannot be read.
    ParameterError
        If it is too large or not YAML of plain values, has references, or a key stands twice in one
        mapping.
    MissingExtraError
        If PyYAML is not installed.
    """
    yaml = _yaml()
    name = f"{what} {str(path)!r}"
    text = _text(path, name)
    try:
        return yaml.load(text, _loader(yaml))
    except yaml.MarkedYAMLError as error:
        where = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ParameterError(
            f"{name}{where}: it is not valid YAML: {error.problem}; correct it"
        ) from None
    except (yaml.YAMLError, ValueError):  # ValueError: a date that there is not
        raise ParameterError(f"{name}: it is not valid YAML; correct it") from None


def _text(path: str | PathLike[str], name: str) -> str:
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        raise DataFileError(f"{name}: it cannot be read: {reason(error)}; check the path") from None
    if len(content) > MAX_BYTES:
        raise ParameterError(f"{name}: it is larger than {MAX_BYTES >> 10} KiB; shorten it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError(f"{name}: it is not UTF-8 text; save it as UTF-8") from None


def yaml_text(content: Any) -> str:
    """Plain values as YAML, keys in their order and texts of several lines as such.

    Raises `MissingExtraError` if PyYAML is not installed.
    """
    yaml = _yaml()

    class Dumper(yaml.SafeDumper):  # type: ignore[misc, name-defined]
        def ignore_aliases(self, _data: object) -> bool:
            return True

    def text(dumper: Any, value: str) -> Any:
        return dumper.represent_scalar(
            "tag:yaml.org,2002:str", value, style="|" if "\n" in value else None
        )

    Dumper.add_representer(str, text)
    written: str = yaml.dump(
        content, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH
    )
    return written


def _loader(yaml: Any) -> Any:
    """A safe loader that refuses references, which can make a small file huge, nestings, and keys
    that stand twice.
    """

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.MarkedYAMLError(
                    None, None, "references (*) are not read", self.peek_event().start_mark
                )
            if self.depth > MAX_DEPTH:
                raise yaml.MarkedYAMLError(
                    None, None, "it is nested too deep", self.peek_event().start_mark
                )
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys: set[str] = set()
            for key in (key for key, _ in node.value if isinstance(key.value, str)):
                if key.value in keys:
                    raise yaml.MarkedYAMLError(
                        None, None, f"the key {key.value!r} stands twice", key.start_mark
                    )
                keys.add(key.value)
            return super().construct_mapping(node, deep=deep)

    return Loader


def _yaml() -> Any:
    return import_extra(
        "yaml",
        "PyYAML is not installed; write JSON instead, or install it with pip install 'synthdp[publish]'",
    )
