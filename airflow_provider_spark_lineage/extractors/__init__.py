"""Extractors for operators that nobody can edit: what `[openlineage] extractors` names.

An exception while the provider imports an extractor disables its whole plugin, so the modules here
import next to nothing.
"""
