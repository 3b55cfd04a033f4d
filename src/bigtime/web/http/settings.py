"""The settings of the site: one object, read once from the environment, passed down."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Iterator
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from bigtime import pictures
from bigtime.advisor import DEFAULT_REGION
from bigtime.formats import PlaceFault
from bigtime.projections.lake import place_at
from bigtime.projections.search import check_setting, default_place
from bigtime.site import SHAPE, SITE, MailServer, check_sender
from bigtime.store import read_setting

Mode = Literal["development", "production"]

CONTACT = re.compile(r"[^\s@<>\"']{1,64}@[^\s@<>\"']{1,190}")
PAGE = re.compile(r"https://[^\s<>\"']{1,500}")
CACHES = ("redis://", "rediss://", "unix://")
SHORTEST_SECRET = 32
LEAST_GUESSES = 20  # as a power of ten; of 32 random digits of base 16 it is 32
JUDGED_CHARACTERS = 40  # zxcvbn's time grows with their square


CHECKS: Final[dict[str, Callable[[str], object]]] = {
    "search": lambda given: given and check_setting(given),
    "lake": lambda given: given in ("", "off") or place_at(given),
    "pictures": pictures.place_at,
    "mail_from": check_sender,
}


class Settings(BaseSettings):
    """Each is an environment variable in capitals with `BIGTIME_` before it."""

    model_config = SettingsConfigDict(
        env_prefix="BIGTIME_", extra="ignore", frozen=True, hide_input_in_errors=True
    )

    mode: Mode = Field(
        default="development", description="`production` refuses what is not safe there."
    )
    store: str = Field(default="file:data/bigtime.db", description="Where the data is.")
    cache: SecretStr = Field(
        default=SecretStr(""),
        description="The item cache that processes share: redis://127.0.0.1:6379; none is off.",
    )
    environment: str = Field(
        default="", description="Where it runs: a store in another account or region is refused."
    )
    fence: str = Field(
        default="", description="The system whose writing region counts; elsewhere it only reads."
    )
    backups: str = Field(
        default="",
        description="Where the worker's backups go, a folder or s3://BUCKET/FOLDER; none, and it"
        " makes none.",
    )
    backups_copy: str = Field(default="", description="A second place that they are copied to.")
    drills: str = Field(default="drills", description="The folder with the reports of drills.")
    data: Path = Field(default=Path("data"), description="Where the site keeps its own files.")
    search: str = Field(
        default="",
        description="Where the search indexes are: folder:PATH, the address of OpenSearch, or off."
        " Without it, beside the store's file.",
    )
    lake: str = Field(
        default="",
        description="The folder or s3://bucket/prefix of the files for analytics; none is `lake`"
        " among the site's own files, `off` writes none.",
    )
    pictures: str = Field(
        default="",
        description="The folder or s3://bucket/prefix of the pictures of deals and brands; none is"
        " beside the store's file.",
    )
    host: str = Field(default="127.0.0.1", description="The address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="The port to listen on.")
    workers: int = Field(default=1, ge=1, le=64, description="How many processes serve the port.")
    secret: SecretStr = Field(default=SecretStr(""), description="Signs forms, cursors and links.")
    old_secrets: list[SecretStr] = Field(
        default=[], description="Secrets whose cursors are still good."
    )
    secure: bool | None = Field(default=None, description="Whether browsers come over TLS.")
    smtp: SecretStr = Field(
        default=SecretStr(""),
        description="The mail server: host:port, or smtp://user:password@host:587, which takes the"
        " password over STARTTLS, or smtps://; none keeps mail in an outbox.",
    )
    mail_from: str = Field(default="Bigtime <hello@localhost>", description="Who mail comes from.")
    contact: str = Field(
        default="",
        description="How people reach who runs the site, in the footer, on pages and in mails: an"
        " e-mail address, or the https:// address of a page.",
    )
    privacy_url: str = Field(
        default="", description="The https:// address of a privacy notice in place of the built-in."
    )
    terms_url: str = Field(
        default="", description="The https:// address of terms of use in place of the built-in."
    )
    public_url: str = Field(default="", description="The address that links in mails begin with.")
    time_zone: str = Field(default="UTC", description="Whose days campaigns begin and end with.")
    idle_minutes: int = Field(
        default=30,
        ge=10,
        description="After how many minutes without a request an editor or admin is signed out.",
    )
    proxies: int | None = Field(
        default=None, ge=0, description="How many proxies in front add X-Forwarded-For."
    )
    metrics_token: SecretStr = Field(
        default=SecretStr(""), description="What /metrics asks for, as a bearer token."
    )

    @field_validator("smtp")
    @classmethod
    def check_smtp(cls, given: SecretStr) -> SecretStr:
        if given:
            try:
                MailServer.from_url(given.get_secret_value())
            except ValueError:  # whose message may contain the password
                raise ValueError(f"BIGTIME_SMTP must name a mail server: {SHAPE}") from None
        return given

    @field_validator(*CHECKS)
    @classmethod
    def check_by_reader(cls, given: str, info: ValidationInfo) -> str:
        """Checked by the code that reads it, whose message says what is wrong."""
        name = str(info.field_name)
        try:
            CHECKS[name](given)
        except (ValueError, PlaceFault) as error:
            raise ValueError(f"BIGTIME_{name.upper()} is wrong: {error}") from None
        return given

    @field_validator("cache")
    @classmethod
    def check_cache(cls, given: SecretStr) -> SecretStr:
        if given and not given.get_secret_value().startswith(CACHES):
            raise ValueError("BIGTIME_CACHE must name a Redis, as redis://127.0.0.1:6379")
        return given

    @field_validator("contact")
    @classmethod
    def check_contact(cls, given: str) -> str:
        if given and not (CONTACT.fullmatch(given) or is_page(given)):
            raise ValueError(
                "BIGTIME_CONTACT must be an e-mail address, as help@deals.example, or the https://"
                " address of a page"
            )
        return given

    @field_validator("privacy_url", "terms_url")
    @classmethod
    def check_page(cls, given: str, info: ValidationInfo) -> str:
        if given and not is_page(given):
            raise ValueError(
                f"BIGTIME_{str(info.field_name).upper()} must be the https:// address of a page"
            )
        return given

    @field_validator("time_zone")
    @classmethod
    def check_time_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ValueError, OSError, ZoneInfoNotFoundError):
            raise ValueError(
                f"BIGTIME_TIME_ZONE must name a time zone, as Africa/Johannesburg; {name!r} is none"
            ) from None
        return name

    @model_validator(mode="after")
    def check_mode(self) -> Self:
        check = check_production if self.mode == "production" else check_development
        check(self)
        return self

    @property
    def is_secure(self) -> bool:
        return self.mode == "production" if self.secure is None else self.secure

    @property
    def search_place(self) -> str:
        """Where the search indexes are, with the default if the setting is empty."""
        return self.search or default_place(self.store, self.data)

    @property
    def lake_place(self) -> str | None:
        """Where the files for analytics are; None if none are written."""
        return None if self.lake == "off" else self.lake or str(self.data / "lake")

    @property
    def picture_place(self) -> str:
        """Where the pictures are, with the default if the setting is empty."""
        kind, place = read_setting(self.store)
        return self.pictures or (
            f"{place}.pictures" if kind == "file" else str(self.data / "pictures")
        )

    @property
    def contact_link(self) -> str:
        """The target of the contact link."""
        return self.contact if is_page(self.contact) else f"mailto:{self.contact}"

    @property
    def base_url(self) -> str:
        return self.public_url.rstrip("/") or f"http://{self.host}:{self.port}"


def is_page(text: str) -> bool:
    return bool(PAGE.fullmatch(text))


def check_development(settings: Settings) -> None:
    """Demo passwords are public, and a page shows all mails: no other machine may have access."""
    if not is_loopback(settings.host):
        raise ValueError(
            f"BIGTIME_HOST is {settings.host}, and in development the site is for this machine"
            " alone: use 127.0.0.1, ::1 or localhost, or set BIGTIME_MODE=production"
        )


def check_production(settings: Settings) -> None:
    secret = settings.secret.get_secret_value()
    if len(secret) < SHORTEST_SECRET or is_guessable(secret):
        raise ValueError(
            f"BIGTIME_SECRET must have {SHORTEST_SECRET} characters or more in production,"
            " drawn at random, as by `openssl rand -base64 32`"
        )
    if settings.secure is False:
        raise ValueError("BIGTIME_SECURE cannot be off in production: cookies need TLS")
    if not is_page(settings.public_url):
        raise ValueError(
            "BIGTIME_PUBLIC_URL must be set in production, as https://deals.example: links in"
            " mails begin with it"
        )
    if settings.proxies is None:
        raise ValueError(
            "BIGTIME_PROXIES must be set in production: how many proxies in front add"
            " X-Forwarded-For, 0 for none. Limits count by the address that it gives"
        )


def is_guessable(secret: str) -> bool:
    """Whether a secret consists of words, repetitions and sequences, not random characters."""
    # Imported here: its word lists take long to load, and development does not need them.
    from zxcvbn import zxcvbn

    return bool(zxcvbn(secret[:JUDGED_CHARACTERS])["guesses_log10"] < LEAST_GUESSES)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def region_of(settings: Settings) -> str:
    """The region whose prices apply: that of the store on AWS, or of the environment."""
    kind, place = read_setting(settings.store)
    if kind == "dynamodb" and place:
        return place
    return SITE.environment(settings.environment).region if settings.environment else DEFAULT_REGION


def setting_faults(error: ValidationError) -> Iterator[str]:
    """The faults of the settings, one line each."""
    for fault in error.errors():
        if cause := fault.get("ctx", {}).get("error"):
            yield f"{cause}."
        else:
            yield f"BIGTIME_{str(fault['loc'][0]).upper()}: {fault['msg']}."


def with_secret(settings: Settings) -> Settings:
    """The settings, with the stored secret if they have none."""
    if settings.secret:
        return settings
    return settings.model_copy(update={"secret": SecretStr(own_secret(settings.data))})


def pepper_of(settings: Settings) -> bytes:
    """The key of one-time codes, which is in no table."""
    secret = with_secret(settings).secret.get_secret_value()
    return hmac.digest(secret.encode(), b"one-time code", sha256)


def own_secret(folder: Path) -> str:
    """The secret of a site without one in its settings: generated once, and kept with its files."""
    path = folder / "secret"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        drawn = folder / f"secret.{secrets.token_hex(8)}"
        drawn.touch(mode=0o600)
        drawn.write_text(secrets.token_urlsafe(32))
        drawn.replace(path)  # atomically
    return path.read_text()
