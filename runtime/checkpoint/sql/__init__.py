"""Checkpoints in a database, by URL: SQLite or PostgreSQL."""

from runtime.checkpoint.sql.faces import AsyncSqlSaver, SqlSaver

__all__ = ["AsyncSqlSaver", "SqlSaver"]
