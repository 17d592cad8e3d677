"""Shell commands that start Spark: their applications, and how the agent is added to them.

A script is read in layers: `tokens`, `words` with the values of variables, commands without their `wrappers`,
`spark_commands` with their options, and the `applications` of scripts inside scripts.
"""
