"""Linking: rows of several tables put together by keys, family by family. A trusted room."""
