"""Tables on disk: columns, shards, manifest, lock."""
