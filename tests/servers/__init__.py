"""Real servers for live tests: started on loopback and a free port, stopped when the tests are over.

One file each, a context manager each. What they need comes from Maven, by the Ivy that Spark brings.
"""
