"""From a sweep's configuration to tables, verification and a page (see docs/architecture.md)."""
