"""Capture of Spark Connect: on the client, from the plans that it sends and what the server says about them.

There is no JVM in this process, and nothing is installed on the server: what the client can ask is all that
is known.
"""
