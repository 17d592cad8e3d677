"""Gaps of a lineage: their kinds, and the sentences that a person reads.

Programs decide by the kind, and never compare sentences. `kinds` has the closed set; the other modules have
one row for each sentence, by the part of the package that uses it. Drivers load this package, too: standard
library only, Python 3.9 syntax.
"""
