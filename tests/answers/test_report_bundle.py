"""The page's program is the same whether it was kept from before or is bundled now, and nothing but it is ever used."""

import vl_convert
from torusweep.answers import page

OWN = "window.answer = 6 * 7;"


def test_what_was_kept_is_what_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.pycache_prefix", str(tmp_path))
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    fresh = vl_convert.javascript_bundle(OWN)
    assert page.bundled(OWN) == fresh
    (kept,) = tmp_path.rglob("*.bundle")

    made = []
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda own: made.append(own) or fresh)
    assert page.bundled(OWN) == fresh
    assert not made
    assert page.bundled("other();") == fresh
    assert made == ["other();"]

    kept.write_bytes(kept.read_bytes()[:-1])
    assert page.bundled(OWN) == fresh
    kept.write_bytes(b"\xff")
    assert page.bundled(OWN) == fresh
    assert made == ["other();", OWN, OWN]


def test_where_nothing_can_be_kept_it_is_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr("sys.pycache_prefix", str(tmp_path / "file"))
    monkeypatch.setattr(vl_convert, "javascript_bundle", str.upper)
    assert page.bundled("program") == "PROGRAM"
