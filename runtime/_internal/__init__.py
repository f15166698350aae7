"""Names that packages built on this API import although they are private. Nothing else lives here."""
