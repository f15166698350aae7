"""`forkpoint db`: looking after a database of checkpoints from the command line, without the debugger's pages."""
