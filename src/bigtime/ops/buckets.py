"""A bucket of S3, as backups and archives use it: objects under a prefix, each written whole.

The credentials, the region and an endpoint other than AWS's are boto3's own settings, as in
`AWS_PROFILE` or `AWS_ENDPOINT_URL_S3`.

AWS: "Amazon S3 data consistency model"
https://docs.aws.amazon.com/AmazonS3/latest/userguide/Welcome.html#ConsistencyModel
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bigtime.extras import extra

if TYPE_CHECKING:
    from datetime import datetime

SCHEME: Final = "s3://"
ADDRESS = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([^/].*?))?/*")
MISSING: Final = {"404", "NoSuchKey", "NotFound"}
AT_ONCE: Final = 1_000  # keys of a DeleteObjects


class BucketFault(Exception):
    """Why a bucket cannot be used; a sentence that says what to do."""


class Object(NamedTuple):
    """What ListObjectsV2 says of an object; its name is the key without the prefix."""

    name: str
    etag: str
    changed_at: datetime


class Bucket:
    """The objects of a bucket whose keys begin with a prefix."""

    def __init__(self, address: str) -> None:
        parsed = ADDRESS.fullmatch(address)
        if parsed is None:
            raise BucketFault(f"{address} names no bucket: say s3://BUCKET/FOLDER.")
        self.name = parsed[1]
        self.prefix = f"{parsed[2]}/" if parsed[2] else ""
        self.where = f"{SCHEME}{self.name}/{self.prefix}".rstrip("/")
        self._client = client()

    def objects(self, under: str = "") -> Iterator[Object]:
        """All whose names begin with that, in the order of their names."""
        pages = self._client.get_paginator("list_objects_v2")
        with self.faults():
            for page in pages.paginate(Bucket=self.name, Prefix=self.prefix + under):
                for each in page.get("Contents", []):
                    name = each["Key"].removeprefix(self.prefix)
                    yield Object(name, each["ETag"], each["LastModified"])

    def etag(self, name: str) -> str | None:
        """Changes with the object; None if there is none."""
        from botocore.exceptions import ClientError

        with self.faults():
            try:
                found = self._client.head_object(Bucket=self.name, Key=self.prefix + name)
            except ClientError as error:
                if error.response["Error"]["Code"] in MISSING:
                    return None
                raise
        return str(found["ETag"])

    def read(self, name: str) -> bytes | None:
        """An object's content; None if there is none."""
        from botocore.exceptions import ClientError

        with self.faults():
            try:
                found = self._client.get_object(Bucket=self.name, Key=self.prefix + name)
            except ClientError as error:
                if error.response["Error"]["Code"] in MISSING:
                    return None
                raise
            content: bytes = found["Body"].read()
        return content

    def write(self, name: str, content: bytes) -> None:
        with self.faults():
            self._client.put_object(Bucket=self.name, Key=self.prefix + name, Body=content)

    def download(self, name: str, path: Path) -> None:
        with self.faults():
            self._client.download_file(self.name, self.prefix + name, str(path))

    def upload(self, path: Path, name: str) -> None:
        with self.faults():
            self._client.upload_file(str(path), self.name, self.prefix + name)

    def delete(self, *names: str) -> None:
        for start in range(0, len(names), AT_ONCE):
            keys = [{"Key": self.prefix + name} for name in names[start : start + AT_ONCE]]
            with self.faults():
                done = self._client.delete_objects(Bucket=self.name, Delete={"Objects": keys})
            for fault in done.get("Errors", []):
                raise BucketFault(f"{fault['Key']} in {self.where}: {fault['Message']}.")

    @contextmanager
    def faults(self) -> Iterator[None]:
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except (ClientError, BotoCoreError, Boto3Error) as error:
            raise BucketFault(f"{self.where} cannot be used: {error}") from error


def client() -> Any:
    """S3's client. The checks of checksums are its own: what is read is what was written."""
    with extra("aws"):
        import boto3
    return boto3.session.Session().client("s3")
