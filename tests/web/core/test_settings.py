"""Settings: read from the environment, and strict in production."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from bigtime.web.http.settings import Settings, own_secret
from tests.web.browsing import PRODUCTION


def test_each_is_an_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIGTIME_PORT", "9000")
    monkeypatch.setenv("BIGTIME_STORE", "dynamodb:af-south-1")
    settings = Settings()
    assert (settings.port, settings.store) == (9000, "dynamodb:af-south-1")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"secret": ""}, "BIGTIME_SECRET must have 32 characters"),
        ({"secret": "short"}, "BIGTIME_SECRET must have 32 characters"),
        ({"secret": "ab" * 32}, "drawn at random"),
        ({"secret": "0123456789abcdef" * 2}, "drawn at random"),
        ({"secret": "abcdefghijklmnopqrstuvwxyz0123456789"}, "drawn at random"),
        ({"secure": False}, "BIGTIME_SECURE cannot be off"),
        ({"public_url": ""}, "BIGTIME_PUBLIC_URL must be set"),
        ({"public_url": "http://deals.example"}, "as https://deals.example"),
        ({"public_url": "https://"}, "BIGTIME_PUBLIC_URL must be set"),
        ({"proxies": None}, "BIGTIME_PROXIES must be set"),
    ],
)
def test_production_refuses_what_is_not_safe(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Settings.model_validate({**PRODUCTION, **given})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "deals.example", ""])
def test_development_is_for_this_machine_alone(host: str) -> None:
    with pytest.raises(ValidationError, match="in development the site is for this machine alone"):
        Settings.model_validate({"host": host})
    assert Settings.model_validate({**PRODUCTION, "host": host}).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_development_listens_on_loopback(host: str) -> None:
    assert Settings.model_validate({"host": host}).host == host


def test_production_is_secure_without_being_told() -> None:
    assert Settings.model_validate(PRODUCTION).is_secure
    assert not Settings().is_secure


def test_a_secret_is_drawn_once_and_is_nobody_elses_to_read(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    drawn = own_secret(folder)
    assert own_secret(folder) == drawn and len(drawn) >= 32
    assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o600


def test_every_setting_is_documented() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
    missing = [name for name in Settings.model_fields if f"`BIGTIME_{name.upper()}`" not in manual]
    assert missing == []


@pytest.mark.parametrize("place", ["gs://bucket", "s3://"])
def test_a_lake_that_is_no_place_is_refused_before_anything_starts(place: str) -> None:
    with pytest.raises(ValidationError, match=r"BIGTIME_LAKE is wrong: .*s3://BUCKET/FOLDER"):
        Settings.model_validate({"lake": place})
