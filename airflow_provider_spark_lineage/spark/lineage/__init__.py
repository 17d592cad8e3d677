"""From records to lineage: the inputs, outputs and column edges of an execution, and of a whole task."""
