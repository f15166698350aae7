"""The headless half of the debugger: everything that a person can do, without a browser.

Plain values in, frozen view models out. Nothing here draws, and nothing here imports Streamlit.
"""
