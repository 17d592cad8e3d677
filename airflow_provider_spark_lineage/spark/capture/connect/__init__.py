"""Capture of Spark Connect: on the client, from the plans that it sends and the server's answers about them.

There is no JVM in this process, and nothing is installed on the server, so capture knows only the answers to
requests of a client.
"""
