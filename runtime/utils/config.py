"""Config helpers under their older path; new code takes `get_config` and `get_store` from `runtime.config`."""

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables import ensure_config as completed
from langchain_core.runnables.config import var_child_runnable_config

from runtime._internal._config import patch_configurable
from runtime.config import get_config, get_store
from runtime.pregel.parse import merge
from runtime.pregel.run import DEFAULT_RECURSION_LIMIT

__all__ = ("ensure_config", "get_config", "get_store", "patch_configurable")


def ensure_config(*configs: RunnableConfig | None) -> RunnableConfig:
    """A complete config: the running node's, if there is one, with `configs` laid over it, later ones on top."""
    defaults = RunnableConfig(recursion_limit=DEFAULT_RECURSION_LIMIT)
    return completed(merge(defaults, var_child_runnable_config.get(), *configs))
