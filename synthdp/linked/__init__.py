"""Packages of linked tables, families and histories: releases of views on parts of one ledger."""
