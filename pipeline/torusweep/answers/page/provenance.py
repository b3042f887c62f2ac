"""The page's section on provenance: what was run, with what software, on what machine; what failed."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from torusweep.charts.section import Chapter, heading


def provenance_section(manifest: Mapping[str, Any]) -> Chapter:
    """Facts of the manifest, the points that failed, and the configuration."""
    software = manifest.get("software", {})
    shards = manifest.get("shards", [])
    config = manifest.get("config", {})

    def of_shards(key: str) -> str:
        return ", ".join(sorted({str(shard[key]) for shard in shards if shard.get(key)}))

    seconds = sum(float(shard.get("seconds", 0)) for shard in shards)
    digests = {name: entry.get("sha256", "") for name, entry in sorted(manifest.get("tables", {}).items())}
    facts = {
        "torusweep": " ".join(str(software[key]) for key in ("torusweep", "commit") if software.get(key)),
        "Python": software.get("python", ""),
        "packages": ", ".join(f"{name} {version}" for name, version in sorted(software.get("packages", {}).items())),
        "backend": of_shards("backend"),
        "device": of_shards("device"),
        "host": of_shards("host"),
        "computing time": f"{seconds:.1f} s in {len(shards):,} batches" if shards else "",
        "configuration, sha256": config.get("sha256", ""),
        "code, sha256": ", ".join(f"{stage}: {digest}" for stage, digest in sorted(manifest.get("stage", {}).items())),
        **{f"{name}.parquet, sha256": digest for name, digest in digests.items()},
    }
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in facts.items() if value)
    parts = [f"<dl>{rows}</dl>"]
    if manifest.get("failed"):
        items = "".join(
            f"<li>{escape(failure['point'])}: {escape(failure['reason'])}</li>" for failure in manifest["failed"]
        )
        parts.append(f"{heading('Points that failed')}<ul>{items}</ul>")
    if config.get("text"):
        parts.append(f"<details><summary>The configuration</summary><pre>{escape(config['text'])}</pre></details>")
    return Chapter("provenance", "Provenance", parts)
