"""What everything else stands on: text, quantities, JSON, TOML, views of documents, progress.

It knows the core's bindings and the errors, and nothing of Nacre's own things.
"""
