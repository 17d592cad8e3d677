"""Agent for drivers that `spark-submit` starts, on any machine; it is added to the job as one zip.

`zipped` builds that zip. All other modules here run in the driver: standard library only, Python 3.9 syntax.
"""
