"""How expected files are written and brought up to date; `testing.update` is the way in.

`drafts` says what to expect of an event, `draft_file` of all events of a file. `refresh_event` finds the
least that has to change in what is expected of one event, `refresh_file` in a file. `edits` changes values
where they stand in a text, `writing` writes what is new.
"""
