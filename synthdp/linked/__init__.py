"""Packages of linked tables, families and histories: releases of views on parts of one ledger."""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
