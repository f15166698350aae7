"""The pages: functions that draw what the session says and forward what a person does.

Rules:
- A panel decides nothing: whether a button works, what a refusal says, what comes next is the session's.
- Text from data reaches the page through the sheet component, or escaped by `components.text`.
- A callback calls one method of the session, through `Tab.act`.
"""
