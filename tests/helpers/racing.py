"""Threads that charge one ledger, made to switch at the worst moment there is."""

import threading
import time
from fractions import Fraction

from synthdp.core import BudgetExceededError


def n_refused(monkeypatch, charge, *, n_threads, n_each):
    """How many charges are refused of those that each thread makes, all begun together.

    Threads switch while a cost is compared with what is left.
    """
    start, refused = threading.Barrier(n_threads), []
    compare = Fraction.__gt__

    def slow_comparison(one, other):
        answer = compare(one, other)
        time.sleep(1e-4)
        return answer

    def spend():
        start.wait()
        for _ in range(n_each):
            try:
                charge()
            except BudgetExceededError:
                refused.append(1)

    monkeypatch.setattr(Fraction, "__gt__", slow_comparison)
    threads = [threading.Thread(target=spend) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(refused)
