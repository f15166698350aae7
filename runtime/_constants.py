"""Reserved names of the runtime: write keys, config keys, task kinds, namespace marks.

Rule: the strings are a data format. They stand in stored checkpoints and pending writes and in
the configs that callers pass around, and other tools of the field read the same ones, so a value
here is never changed.
"""

from typing import Final

# Write keys: what a task may put beside the state's own channels.
INPUT: Final = "__input__"
INTERRUPT: Final = "__interrupt__"
RESUME: Final = "__resume__"
ERROR: Final = "__error__"
ERROR_SOURCE_NODE: Final = "__error_source_node__"
NO_WRITES: Final = "__no_writes__"
TASKS: Final = "__pregel_tasks"
RETURN: Final = "__return__"
PREVIOUS: Final = "__previous__"
SCHEDULED: Final = "__scheduled__"
SNAPSHOT_BUMPS: Final = "__snapshot_bumps__"
OVERWRITE: Final = "__overwrite__"
ROOT: Final = "__root__"
"""Key of a state that is one value instead of a mapping."""

CACHE_NS_WRITES: Final = "__pregel_ns_writes"

# Task kinds: started by a trigger (PULL) or by a Send (PUSH).
PUSH: Final = "__pregel_push"
PULL: Final = "__pregel_pull"

# Checkpoint namespaces: `node:task_id|inner_node:task_id`.
NS_SEP: Final = "|"
NS_END: Final = ":"

NULL_TASK_ID: Final = "00000000-0000-0000-0000-000000000000"
"""Task id of writes that belong to no task, such as a plain resume value."""

# Keys of a RunnableConfig.
CONF: Final = "configurable"
CONFIG_KEY_SEND: Final = "__pregel_send"
CONFIG_KEY_READ: Final = "__pregel_read"
CONFIG_KEY_READ_STATE: Final = "__pregel_read_state"
CONFIG_KEY_CALL: Final = "__pregel_call"
CONFIG_KEY_CHECKPOINTER: Final = "__pregel_checkpointer"
CONFIG_KEY_STREAM: Final = "__pregel_stream"
CONFIG_KEY_CACHE: Final = "__pregel_cache"
CONFIG_KEY_RESUMING: Final = "__pregel_resuming"
CONFIG_KEY_REPLAY_STATE: Final = "__pregel_replay_state"
CONFIG_KEY_TASK_ID: Final = "__pregel_task_id"
CONFIG_KEY_THREAD_ID: Final = "thread_id"
CONFIG_KEY_CHECKPOINT_MAP: Final = "checkpoint_map"
CONFIG_KEY_CHECKPOINT_ID: Final = "checkpoint_id"
CONFIG_KEY_CHECKPOINT_NS: Final = "checkpoint_ns"
CONFIG_KEY_NODE_FINISHED: Final = "__pregel_node_finished"
CONFIG_KEY_TIMED_ATTEMPT_OBSERVER: Final = "__pregel_timed_attempt_observer"
CONFIG_KEY_SCRATCHPAD: Final = "__pregel_scratchpad"
CONFIG_KEY_RUNNER_SUBMIT: Final = "__pregel_runner_submit"
CONFIG_KEY_DURABILITY: Final = "__pregel_durability"
CONFIG_KEY_RUNTIME: Final = "__pregel_runtime"
CONFIG_KEY_RESUME_MAP: Final = "__pregel_resume_map"
CONFIG_KEY_STRICT_RESUME: Final = "__pregel_strict_resume"
CONFIG_KEY_STREAM_MESSAGES_V2: Final = "__pregel_stream_messages_v2"
CONFIG_KEY_NODE_ERROR: Final = "__pregel_node_error"

RESERVED: Final = frozenset(
    {
        "langsmith:hidden",
        INPUT,
        INTERRUPT,
        RESUME,
        ERROR,
        ERROR_SOURCE_NODE,
        NO_WRITES,
        SNAPSHOT_BUMPS,
        CONFIG_KEY_SEND,
        CONFIG_KEY_READ,
        CONFIG_KEY_CHECKPOINTER,
        CONFIG_KEY_STREAM,
        CONFIG_KEY_RESUMING,
        CONFIG_KEY_REPLAY_STATE,
        CONFIG_KEY_TASK_ID,
        CONFIG_KEY_CHECKPOINT_MAP,
        CONFIG_KEY_CHECKPOINT_ID,
        CONFIG_KEY_CHECKPOINT_NS,
        CONFIG_KEY_TIMED_ATTEMPT_OBSERVER,
        CONFIG_KEY_RESUME_MAP,
        CONFIG_KEY_STRICT_RESUME,
        CONFIG_KEY_STREAM_MESSAGES_V2,
        PUSH,
        PULL,
        NS_SEP,
        NS_END,
        CONF,
    }
)
"""Names that no node and no state key may have."""
