"""The components' files: known to Streamlit however we were imported, and what VENDOR.md says they are."""

import hashlib
import re

import pytest
from streamlit.components.v2.component_manager import BidiComponentManager

from debugger_ui.components import registry

VENDOR = (registry.PACKAGE / "components" / "VENDOR.md").read_text("utf-8")


def test_components_are_served_from_this_package():
    manager = BidiComponentManager()
    registry.register(manager)
    for name in ("graph", "timeline", "editor", "picker", "sheet"):
        assert manager.get_component_asset_root(f"forkpoint.{name}") == registry.ASSETS
        assert (registry.ASSETS / f"{name}.js").is_file()
        assert (registry.ASSETS / f"{name}.css").is_file()


def test_another_copy_that_streamlit_found_first_is_replaced(tmp_path):
    other = tmp_path / "components" / "assets"
    other.mkdir(parents=True)
    manager = BidiComponentManager()
    manager.register_from_manifest(registry.manifest(), tmp_path)
    assert manager.get_component_asset_root("forkpoint.graph") == other
    registry.register(manager)
    assert manager.get_component_asset_root("forkpoint.graph") == registry.ASSETS


@pytest.mark.parametrize("name", ["viz-3.31.0.js", "editor.js"])
def test_vendored_files_are_those_that_were_written_down(name):
    part = VENDOR.split(f"## assets/{name}")[1].split("\n## ")[0]
    written = re.search(r"`([0-9a-f]{64})`", part)
    assert written
    assert hashlib.sha256((registry.ASSETS / name).read_bytes()).hexdigest() == written[1]


@pytest.mark.parametrize("name", ["dom.js", "graph.js", "picker.js", "rich.js", "sheet.js", "timeline.js", "tree.js"])
def test_our_scripts_never_make_markup_of_text(name):
    script = "\n".join(
        line for line in (registry.ASSETS / name).read_text("utf-8").splitlines() if not line.startswith("//")
    )
    for maker in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert maker not in script


@pytest.mark.parametrize("path", sorted(registry.ASSETS.glob("*.css")), ids=lambda path: path.name)
def test_styles_load_nothing(path):
    assert "url(" not in path.read_text("utf-8")
    assert "@import" not in path.read_text("utf-8")
