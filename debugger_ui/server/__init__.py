"""How the debugger is served: what is open, the guard before it, and the launch."""
