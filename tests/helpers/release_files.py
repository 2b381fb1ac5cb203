"""Release files taken apart and forged: members of bytes in a zip, with checksums that are right or
not.
"""

import io
import json
import struct
import zipfile
from hashlib import sha256

import numpy as np
from helpers.mutated_files import JSON_VALUES, odd_once

MANIFEST, SUMS = "synthesis.json", "SHA256SUMS"


def members_of(path):
    """All members but the checksums, unpacked."""
    with zipfile.ZipFile(path) as content:
        return {name: content.read(name) for name in content.namelist() if name != SUMS}


def summed(members):
    """Members with their checksums."""
    lines = "".join(f"{sha256(data).hexdigest()}  {name}\n" for name, data in members.items())
    return members | {SUMS: lines.encode()}


def write_zip(path, members, *, method=zipfile.ZIP_DEFLATED):
    """A zip of members as they are: a mapping, or pairs of which several may have one name."""
    with zipfile.ZipFile(path, "w", method) as content:
        for name, data in members.items() if isinstance(members, dict) else members:
            content.writestr(name, data)
    return path


def npy(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), **options)
    return stream.getvalue()


def header_only(shape, descr="<f8", version=(1, 0), values=b""):
    text = (repr({"descr": descr, "fortran_order": False, "shape": shape})[:-1] + ", }\n").encode()
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H", len(text)) + text + values


def edited(change):
    """A forgery that changes the JSON."""

    def forge(members):
        manifest = json.loads(members[MANIFEST])
        change(manifest)
        members[MANIFEST] = json.dumps(manifest).encode()

    return forge


def replaced(name, content):
    """A forgery that puts other bytes in place of a member."""

    def forge(members):
        assert name in members
        members[name] = content

    return forge


def mutated(members, rng):
    """Members of which one or two are changed somewhere, with checksums that hold but for one time
    in ten.
    """
    changed = dict(members)
    for _ in range(rng.integers(1, 3)):
        name = rng.choice(list(changed))
        if name == MANIFEST and rng.random() < 0.8:
            changed[name] = _odd_json(changed[name], rng)
        elif rng.random() < 0.1:
            changed[f"{name}x"] = changed.pop(name)
        elif changed[name]:
            position, data = int(rng.integers(len(changed[name]))), changed[name]
            flipped = bytes([data[position] ^ (1 << int(rng.integers(8)))])
            is_cut = rng.random() < 0.2
            changed[name] = (
                data[:position] if is_cut else data[:position] + flipped + data[position + 1 :]
            )
    return summed(changed) if rng.random() < 0.9 else changed | {SUMS: summed(members)[SUMS]}


def _odd_json(data, rng):
    """JSON in which one value anywhere is replaced, removed or repeated."""
    try:
        content = json.loads(data)
    except ValueError:
        return data
    return json.dumps(content).encode() if odd_once(content, JSON_VALUES, rng) else data
