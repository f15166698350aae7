"""Make our components known to Streamlit, however the package came onto the import path.

Streamlit finds the manifest of a normally installed distribution by itself. It does not for a
checkout on `sys.path`, nor for an editable install whose import name differs from the distribution's
name, and with a second copy installed it would serve that copy's files to this copy's Python. So the
manifest beside this package is read here and registered unless Streamlit already serves our folder.
"""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

PACKAGE = Path(__file__).resolve().parent.parent
ASSETS = PACKAGE / "components" / "assets"

Mount = Callable[..., Any]
Width = int | Literal["stretch", "content"]


@cache
def manifest() -> ComponentManifest:
    """Return the manifest that is shipped in this package."""
    with (PACKAGE / "pyproject.toml").open("rb") as file:
        content = tomllib.load(file)
    entries = content["tool"]["streamlit"]["component"]["components"]
    return ComponentManifest(
        name=content["project"]["name"],
        version=content["project"]["version"],
        components=[ComponentConfig.from_dict(entry) for entry in entries],
    )


def register(manager: BidiComponentManager) -> None:
    """Register our manifest unless the manager already serves this very package's assets."""
    ours = manifest()
    names = [f"{ours.name}.{entry.name}" for entry in ours.components]
    if any(manager.get_component_asset_root(name) != ASSETS for name in names):
        manager.register_from_manifest(ours, PACKAGE)


def mount(name: str, html: str, **arguments: Any) -> Any:
    """Draw the component `name` in the running script and return its state.

    Args:
        name: as in the manifest; `assets/<name>.js`, `assets/<name>.css` and `assets/<name>-*.css` belong to it.
        html: the fixed skeleton that the script fills; never contains data.
        arguments: what Streamlit's mount takes: key, data, height, callbacks.
    """
    register(get_bidi_component_manager())
    return _component(name, html)(**arguments)


@cache
def _component(name: str, html: str) -> Mount:
    # The style goes along as text: as a file each mounted component would fetch it anew, and be seen
    # without it until it has come.
    style = "".join(file.read_text("utf-8") for file in (ASSETS / f"{name}.css", *sorted(ASSETS.glob(f"{name}-*.css"))))
    return st.components.v2.component(f"{manifest().name}.{name}", html=html, js=f"{name}.js", css=style)
