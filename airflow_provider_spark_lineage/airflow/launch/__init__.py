"""Spark applications that operators of other systems launch: a shell, Kubernetes, Livy, clouds.

`table` has a row for each operator. The modules named there read only the operator's own attributes: they
import no provider and call no service.
"""
