"""The debugger's own browser components: graph, timeline, JSON editor and sheet.

Rules:
- Data from a graph or a database goes to a component as JSON and is drawn as text, never as markup.
- Selections come back as component state, so that a test can set them like a person would.
- Everything the browser loads is served from `assets`; nothing is fetched from elsewhere.
"""
