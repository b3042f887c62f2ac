"""Tables and how they are stored: columns, Parquet files, shards of finished points, manifest, lock."""
