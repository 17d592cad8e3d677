"""Spark applications that operators of other systems launch: a shell, Kubernetes, Livy, clouds.

`table` has a row for each operator; the modules it names read an operator's own attributes and nothing else.
They import no provider, and ask no service.
"""
