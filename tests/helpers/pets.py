"""A package of two tables: homes and their pets."""


def package(most=12):
    """Homes of a kind, each with so many pets at most, of some sort."""
    level = {"type": "string", "constraints": {"enum": list("abc"), "required": True}}
    link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
    key, home = ({"name": name, "type": "integer"} for name in ("id", "home"))
    return {
        "resources": [
            {
                "name": "homes",
                "schema": {"fields": [key, {"name": "kind", **level}], "primaryKey": "id"},
            },
            {
                "name": "pets",
                "schema": {"fields": [home, {"name": "sort", **level}], "foreignKeys": [link]},
                "synthdp": {"max_children": most},
            },
        ]
    }
