"""Pictures of the pages, as coordinates: the templates draw them."""

from collections.abc import Mapping
from typing import Any

WIDTH, HEIGHT, GAP = 150, 44, 30
"""Of a box in the picture of linked tables, in pixels."""


def picture_of_tables(content: Mapping[str, Any]) -> dict[str, Any]:
    """Linked tables as boxes, each below those that it hangs on, and lines between them."""
    tables = {each["name"]: each for each in content.get("resources", ())}
    above = {name: _parents(each, tables) for name, each in tables.items()}
    depth = {name: _depth(name, above, ()) for name in tables}
    boxes, used = {}, dict[int, int]()
    for name, level in sorted(depth.items(), key=lambda item: item[1]):
        column = used.get(level, 0)
        used[level] = column + 1
        boxes[name] = {
            "name": name,
            "x": column * (WIDTH + GAP) + 1,
            "y": level * (HEIGHT + GAP) + 1,
            "is_public": bool((tables[name].get("synthdp") or {}).get("public")),
        }
    lines = [
        {
            "x1": boxes[name]["x"] + WIDTH // 2,
            "y1": boxes[name]["y"],
            "x2": boxes[parent]["x"] + WIDTH // 2,
            "y2": boxes[parent]["y"] + HEIGHT,
        }
        for name, parents in above.items()
        for parent in parents
    ]
    return {
        "boxes": list(boxes.values()),
        "lines": lines,
        "box": (WIDTH, HEIGHT),
        "width": max(used.values(), default=1) * (WIDTH + GAP),
        "height": (max(depth.values(), default=0) + 1) * (HEIGHT + GAP),
    }


def _parents(resource: Mapping[str, Any], tables: Mapping[str, Any]) -> list[str]:
    links = resource["schema"].get("foreignKeys") or ()
    named = [link["reference"]["resource"] or resource["name"] for link in links]
    return [name for name in named if name in tables and name != resource["name"]]


def _depth(name: str, above: Mapping[str, list[str]], seen: tuple[str, ...]) -> int:
    if name in seen:  # links in a circle are refused elsewhere; here they are only drawn
        return 0
    return max((1 + _depth(each, above, (*seen, name)) for each in above[name]), default=0)


def people_in_a_hundred(share: float) -> list[bool]:
    """A hundred persons of the table: which of them somebody could recognise, rounded up."""
    recognised = min(int(-(-100 * share // 1)), 100)
    return [number < recognised for number in range(100)]
