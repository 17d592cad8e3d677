"""Operators and decorators for DAG authors."""
