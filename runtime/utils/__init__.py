"""Older paths under which agent packages still look for config and Runnable helpers."""
