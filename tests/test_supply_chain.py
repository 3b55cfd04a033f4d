"""What comes from elsewhere is what it says it is."""

from __future__ import annotations

import json
import tomllib
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]
WEB = ROOT / "src/bigtime/web"
OURS = {"site.js", "categories.svg", "icon.svg", "site.css"}


def test_vendored_files_are_those_of_their_packages() -> None:
    manifest = tomllib.loads((WEB / "vendored.toml").read_text())
    files = {path.name: path for path in (WEB / "static").iterdir()}
    assert set(files) - OURS == set(manifest)
    notice = (ROOT / "NOTICE").read_text()
    for name, vendored in manifest.items():
        assert sha256(files[name].read_bytes()).hexdigest() == vendored["sha256"], name
        version = vendored["package"].split()[2].rstrip(",")
        assert f"{name} is {vendored['project']} {version}" in notice


def test_packages_of_node_are_locked_by_hash_and_name_no_registry() -> None:
    lock = json.loads((ROOT / ".ci/node/package-lock.json").read_text())
    wanted = json.loads((ROOT / ".ci/node/package.json").read_text())["devDependencies"]
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert {f"node_modules/{name}" for name in wanted} <= set(packages)
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert not any("resolved" in package for package in packages.values())


def test_python_packages_are_locked_by_hash_and_name_no_registry() -> None:
    for path in (ROOT / "locks").glob("*.txt"):
        text = path.read_text()
        assert "--hash=sha256:" in text and "://" not in text, path.name
