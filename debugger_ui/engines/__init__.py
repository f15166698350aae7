"""What can be debugged: a compiled graph on its saver, or a database alone.

The session sees one small protocol (`base.Engine`) and asks an engine what it can do before it
offers it; what an engine cannot do comes with the reason.
"""
