"""Config keys under the path where agent packages look for them."""

from runtime._constants import CONF, CONFIG_KEY_READ, CONFIG_KEY_RUNTIME, CONFIG_KEY_SEND

__all__ = ("CONF", "CONFIG_KEY_READ", "CONFIG_KEY_RUNTIME", "CONFIG_KEY_SEND")
