"""Fields of schemas, as tests declare them most."""


def ranged(name, low, high, *, kind="integer", required=False, **own):
    """A field of values between two bounds; ``own`` stands under its ``synthdp``, such as ``bins``."""
    bounds = {"minimum": low, "maximum": high} | ({"required": True} if required else {})
    return {"name": name, "type": kind, "constraints": bounds, "synthdp": own}


def derived(name, kind, derive=True, **own):
    """A field of which something is learnt; ``own`` stands under its ``synthdp``, such as ``bins``."""
    return {"name": name, "type": kind, "synthdp": {"derive": derive, **own}}
