"""Modules at their former paths, for one release: the package looks for its modules here, too."""
