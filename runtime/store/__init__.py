"""Long-term memory beside the checkpoints: the stores of `langgraph-checkpoint`."""
