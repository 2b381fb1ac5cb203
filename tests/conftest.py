"""What every test session starts from, however it was started. Loaded before anything that imports numpy."""

import os
import signal

for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"):
    # Workers share the cores: a library that starts a thread a core in each of them makes all wait for each other.
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So started in the background or under nohup; processes that tests start would inherit it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
