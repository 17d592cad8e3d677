"""Capture in a driver that `spark-submit` started, on any machine: travels with the job as one zip.

`zipped` builds that zip. Everything else here runs in the driver: standard library only, Python 3.9 syntax.
"""
