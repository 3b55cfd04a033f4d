"""An S3 bucket: objects under a prefix, each written atomically.

Backups, archives, the lake and pictures are stored in buckets through this. Credentials, region and
an endpoint other than AWS's are boto3's own settings, such as `AWS_PROFILE` or
`AWS_ENDPOINT_URL_S3`.

AWS: "Amazon S3 data consistency model"
https://docs.aws.amazon.com/AmazonS3/latest/userguide/Welcome.html#ConsistencyModel
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from bigtime.extras import extra

if TYPE_CHECKING:
    from datetime import datetime

S3: Final = "s3://"
ADDRESS = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([^/].*?))?/*")
MISSING: Final = {"404", "NoSuchKey", "NotFound"}
CHANGED: Final = {"412", "PreconditionFailed"}
AT_ONCE: Final = 1_000  # the most keys in a DeleteObjects


class PlaceFault(Exception):
    """A place for files cannot be used; the message says what to do."""


class ObjectChanged(PlaceFault):
    """The object to be replaced has changed."""


class Content(NamedTuple):
    """An object's content, and the ETag that changes with it."""

    content: bytes
    etag: str


class Object(NamedTuple):
    """An object as ListObjectsV2 describes it; its name is the key without the prefix."""

    name: str
    etag: str
    changed_at: datetime
    size: int


class Bucket:
    """The objects of a bucket whose keys begin with a prefix."""

    fault: ClassVar[type[PlaceFault]] = PlaceFault

    def __init__(self, address: str) -> None:
        parsed = ADDRESS.fullmatch(address)
        if parsed is None:
            raise self.fault(f"{address} names no bucket: say s3://BUCKET/FOLDER.")
        self.name = parsed[1]
        self.prefix = f"{parsed[2]}/" if parsed[2] else ""
        self.where = f"{S3}{self.name}/{self.prefix}".rstrip("/")

    @cached_property
    def client(self) -> Any:
        """S3's client, which also verifies the checksums of objects."""
        with extra("aws"):
            import boto3
        return boto3.session.Session().client("s3")

    def objects(self, under: str = "") -> Iterator[Object]:
        """All objects whose names begin with `under`, in the order of their names."""
        pages = self.client.get_paginator("list_objects_v2")
        with self.faults():
            for page in pages.paginate(Bucket=self.name, Prefix=self.prefix + under):
                for each in page.get("Contents", []):
                    name = each["Key"].removeprefix(self.prefix)
                    yield Object(name, each["ETag"], each["LastModified"], each["Size"])

    def etag(self, name: str) -> str | None:
        """An object's ETag, which changes with it; None if there is no object."""
        with self.faults():
            found = self.ask(self.client.head_object, name)
        return None if found is None else str(found["ETag"])

    def read(self, name: str) -> bytes | None:
        """An object's content; None if there is none."""
        found = self.read_with_etag(name)
        return None if found is None else found.content

    def read_with_etag(self, name: str) -> Content | None:
        with self.faults():
            found = self.ask(self.client.get_object, name)
            return None if found is None else Content(found["Body"].read(), found["ETag"])

    def ask(self, operation: Callable[..., dict[str, Any]], name: str) -> dict[str, Any] | None:
        """An operation's answer for an object; None if there is no object."""
        from botocore.exceptions import ClientError

        try:
            return operation(Bucket=self.name, Key=self.prefix + name)
        except ClientError as error:
            if error.response["Error"]["Code"] in MISSING:
                return None
            raise

    def write(self, name: str, content: bytes) -> None:
        self.put_object(name, content)

    def replace(self, name: str, content: bytes, etag: str | None) -> str:
        """Replaces the object that has that ETag; creates it if the ETag is None.

        Returns its new ETag; raises ObjectChanged if a different object is there.
        """
        condition = {"IfNoneMatch": "*"} if etag is None else {"IfMatch": etag}
        return self.put_object(name, content, **condition)

    def put_object(self, name: str, content: bytes, **condition: str) -> str:
        from botocore.exceptions import ClientError

        key = self.prefix + name
        with self.faults():
            try:
                done = self.client.put_object(Bucket=self.name, Key=key, Body=content, **condition)
            except ClientError as error:
                if error.response["Error"]["Code"] in CHANGED:
                    raise ObjectChanged(
                        f"Another process has written {self.where}/{name}"
                    ) from error
                raise
        return str(done["ETag"])

    def download(self, name: str, path: Path) -> None:
        with self.faults():
            self.client.download_file(self.name, self.prefix + name, str(path))

    def upload(self, path: Path, name: str) -> None:
        with self.faults():
            self.client.upload_file(str(path), self.name, self.prefix + name)

    def delete(self, *names: str) -> None:
        for start in range(0, len(names), AT_ONCE):
            keys = [{"Key": self.prefix + name} for name in names[start : start + AT_ONCE]]
            with self.faults():
                done = self.client.delete_objects(Bucket=self.name, Delete={"Objects": keys})
            for fault in done.get("Errors", []):
                raise self.fault(f"{fault['Key']} in {self.where}: {fault['Message']}.")

    @contextmanager
    def faults(self) -> Iterator[None]:
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except (ClientError, BotoCoreError, Boto3Error) as error:
            raise self.fault(f"{self.where} cannot be used: {error}") from error
