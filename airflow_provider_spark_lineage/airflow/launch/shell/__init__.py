"""Shell commands that start Spark: their applications, and how the agent is added to them.

From its text: `script` reads simple commands, `options` those of Spark, `applications` scripts inside them.
When it runs: `armed` puts a `shim` in front of `PATH`, which asks `add_agent`; elsewhere, there is `prelude`.
"""
