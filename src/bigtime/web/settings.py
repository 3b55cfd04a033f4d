"""The settings of the site: one object, read once from the environment, passed down."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

Mode = Literal["development", "production"]

SHORTEST_SECRET = 32


class Settings(BaseSettings):
    """Each is an environment variable in capitals with `BIGTIME_` before it."""

    model_config = SettingsConfigDict(env_prefix="BIGTIME_", extra="ignore", frozen=True)

    mode: Mode = Field(
        default="development", description="`production` refuses what is not safe there."
    )
    store: str = Field(default="file:data/bigtime.db", description="Where the data is.")
    data: Path = Field(default=Path("data"), description="Where the site keeps its own files.")
    host: str = Field(default="127.0.0.1", description="The address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="The port to listen on.")
    secret: SecretStr = Field(default=SecretStr(""), description="Signs forms, cursors and links.")
    old_secrets: list[SecretStr] = Field(
        default=[], description="Secrets whose cursors are still good."
    )
    secure: bool | None = Field(default=None, description="Whether browsers come over TLS.")
    smtp: str = Field(
        default="", description="host:port of the mail server; none keeps mail in an outbox."
    )
    mail_from: str = Field(default="Bigtime <hello@localhost>", description="Who mail comes from.")
    public_url: str = Field(default="", description="The address that links in mails begin with.")
    time_zone: str = Field(default="UTC", description="Whose days campaigns begin and end with.")
    proxies: int = Field(
        default=0, ge=0, description="How many proxies in front add X-Forwarded-For."
    )

    @model_validator(mode="after")
    def check_production(self) -> Self:
        if self.mode == "production":
            given = self.secret.get_secret_value()
            if len(given) < SHORTEST_SECRET:
                raise ValueError(
                    f"BIGTIME_SECRET must have {SHORTEST_SECRET} characters or more in production"
                )
            if self.secure is False:
                raise ValueError("BIGTIME_SECURE cannot be off in production: cookies need TLS")
        return self

    @property
    def is_secure(self) -> bool:
        return self.mode == "production" if self.secure is None else self.secure

    @property
    def base_url(self) -> str:
        return self.public_url.rstrip("/") or f"http://{self.host}:{self.port}"


def kept_secret(folder: Path) -> str:
    """The secret of a site that was given none: drawn once, and kept beside its data."""
    path = folder / "secret"
    try:
        return path.read_text()
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        drawn = secrets.token_urlsafe(32)
        path.touch(mode=0o600)
        path.write_text(drawn)
        return drawn
