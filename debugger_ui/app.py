"""The script that Streamlit runs for every browser tab, at every click.

It only calls the page: an imported module is compiled once, this file is not.
"""

from debugger_ui.panels.page import main

main()
