"""A time-travel debugger for stateful agent graphs.

Three layers, arrows one way: `panels` draw and forward clicks, `session` holds everything a person
can do as plain values in and out, `engines` reach a graph or a database.
"""
