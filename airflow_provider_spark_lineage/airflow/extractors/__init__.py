"""Extractors: lineage of operators whose code is somebody else's.

An exception while the provider imports an extractor disables its whole plugin, so the modules here
import next to nothing.
"""
