"""Config helpers under the path where agent packages look for them."""

from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from runtime._constants import CONF

__all__ = ("patch_configurable",)


def patch_configurable(config: RunnableConfig | None, patch: dict[str, Any]) -> RunnableConfig:
    """Return a config like `config` whose `configurable` also has the keys of `patch`."""
    base = config or {}
    return cast(RunnableConfig, {**base, CONF: {**base.get(CONF, {}), **patch}})
