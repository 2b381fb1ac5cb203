"""YAML, which people write and registries take: read as plain values, written with texts that stay readable."""

from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from synthdp.errors import DataFileError, MissingExtraError, ParameterError
from synthdp.table.files.writing import reason

MAX_BYTES = 1 << 20
"""Larger files were written by no curator."""

_WIDTH = 100
"""Characters of a line before it is folded."""


def load_yaml(path: str | PathLike[str], what: str) -> Any:
    """Plain values of a YAML file; ``what`` says in messages what kind of file it is.

    Raises
    ------
    DataFileError
        If it cannot be read.
    ParameterError
        If it is too large or not YAML of plain values, has references, or a key stands twice in one mapping.
    MissingExtraError
        If PyYAML is not installed.
    """
    yaml, name = _yaml(), f"{what} {str(path)!r}"
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ParameterError(f"{name}: it is larger than {MAX_BYTES >> 20} MiB; shorten it")
        return yaml.load(content.decode("utf-8-sig"), _loader(yaml))
    except UnicodeDecodeError:
        raise ParameterError(f"{name}: it is not UTF-8 text; save it as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        where = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ParameterError(f"{name}{where}: it is not valid YAML: {error.problem}; correct it") from None
    except (yaml.YAMLError, RecursionError):
        raise ParameterError(f"{name}: it is not valid YAML; correct it") from None
    except ParameterError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        raise DataFileError(f"{name}: it cannot be read: {reason(error)}; check the path") from None


def yaml_text(content: Any) -> str:
    """Plain values as YAML, keys in their order and texts of several lines as such.

    Raises `MissingExtraError` if PyYAML is not installed.
    """
    yaml = _yaml()

    class Dumper(yaml.SafeDumper):  # type: ignore[misc, name-defined]
        def ignore_aliases(self, _data: object) -> bool:
            return True

    def text(dumper: Any, value: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    written: str = yaml.dump(content, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return written


def _loader(yaml: Any) -> Any:
    """A safe loader that refuses references, which can make a small file huge, and keys that stand twice."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.MarkedYAMLError(None, None, "references (*) are not read", self.peek_event().start_mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            found = set()
            for key, _ in node.value:
                if key.value in found:
                    raise yaml.MarkedYAMLError(None, None, f"the key {key.value!r} stands twice", key.start_mark)
                found.add(key.value if isinstance(key.value, str) else "")
            return super().construct_mapping(node, deep=deep)

    return Loader


def _yaml() -> Any:
    try:
        return import_module("yaml")
    except ModuleNotFoundError:
        raise MissingExtraError(
            "PyYAML is not installed; write JSON instead, or install it with pip install 'synthdp[publish]'"
        ) from None
