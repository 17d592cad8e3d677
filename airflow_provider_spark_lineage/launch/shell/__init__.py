"""Commands of a shell that start Spark: what they launch, and the agent in them.

A script is read in layers: `tokens`, `words` with the values of variables, commands without their `wrappers`,
`spark_commands` with their options, and the `applications` of scripts inside of scripts.
"""
