"""Policies: rules about the lineage of many runs, and what breaks them.

patterns.py   patterns of datasets and columns
rules.py      a policy
reading.py    a policy from a YAML file, with the place of each mistake
tags.py       the columns that have a tag: by patterns, and by facets of events
checking.py   a policy and a graph -> violations, and what cannot be excluded
texts.py      the result as text and as JSON
"""
