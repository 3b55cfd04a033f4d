"""`bigtime engine serve` with users: the file, signed requests, TLS, and who may listen where."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.cli.program import ask, run, server

SECRET = "alice's secret"
ORDERS: Any = {
    "TableName": "Orders",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def allow(*actions: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [statement]}


USERS: Any = {
    "Users": [
        {
            "UserName": "alice",
            "AccessKeys": [{"AccessKeyId": "AKIDALICE", "SecretAccessKey": SECRET}],
            "Policies": [allow("dynamodb:*")],
        },
        {
            "UserName": "bob",
            "AccessKeys": [{"AccessKeyId": "AKIDBOB", "SecretAccessKey": "b"}],
            "Policies": [allow("dynamodb:GetItem")],
        },
    ],
    "Roles": [
        {
            "RoleName": "reporter",
            "AccessKeys": [{"AccessKeyId": "AKIDROLE", "SecretAccessKey": "r"}],
            "Policies": [allow("dynamodb:Scan")],
        }
    ],
}


@pytest.fixture
def users(tmp_path: Path) -> Path:
    file = tmp_path / "users.json"
    file.write_text(json.dumps(USERS))
    return file


def client(url: str, key: str = "AKIDALICE", secret: str = SECRET, **more: Any) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="eu-west-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        **more,
    )


def refusal(call: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        call()
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def test_requests_are_signed_and_judged(users: Path, tmp_path: Path) -> None:
    with server("--data", tmp_path / "shop.db", "--users", users) as running:
        alice = client(running.url)
        alice.create_table(**ORDERS)
        alice.put_item(TableName="Orders", Item={"pk": {"S": "a"}})
        bob = client(running.url, "AKIDBOB", "b")
        get = {"TableName": "Orders", "Key": {"pk": {"S": "a"}}}
        assert bob.get_item(**get)["Item"] == {"pk": {"S": "a"}}
        arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Orders"
        assert refusal(lambda: bob.delete_item(**get)) == (
            "AccessDeniedException",
            "User: arn:aws:iam::000000000000:user/bob is not authorized to perform: "
            f"dynamodb:DeleteItem on resource: {arn} because no identity-based policy allows the "
            "dynamodb:DeleteItem action",
        )
        role = client(running.url, "AKIDROLE", "r")
        assert role.scan(TableName="Orders")["Count"] == 1
        assert refusal(lambda: role.get_item(**get))[1].startswith(
            "User: arn:aws:sts::000000000000:assumed-role/reporter/bigtime is not authorized"
        )
        wrong = client(running.url, secret="guessed")
        assert refusal(wrong.list_tables)[0] == "InvalidSignatureException"
        unknown = client(running.url, key="AKIDNOBODY")
        assert refusal(unknown.list_tables)[0] == "UnrecognizedClientException"
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(running.url)
        assert b"MissingAuthenticationTokenException" in caught.value.read()
        said = running.stop()
    assert f"requests are signed with an access key in {users}" in said
    assert SECRET not in said


def post(url: str, **headers: str) -> None:
    sent = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": "DynamoDB_20120810.ListTables",
        **headers,
    }
    urllib.request.urlopen(urllib.request.Request(url, b"{}", sent), timeout=60)


def test_a_large_body_is_verified_too(users: Path) -> None:
    with server("--memory", "--users", users) as running:
        alice = client(running.url)
        alice.create_table(**ORDERS)
        items = [
            {"PutRequest": {"Item": {"pk": {"S": str(number)}, "x": {"S": "x" * 50_000}}}}
            for number in range(20)
        ]
        done = alice.batch_write_item(RequestItems={"Orders": items})
        assert done["UnprocessedItems"] == {}
        wrong = client(running.url, secret="guessed")
        code, message = refusal(lambda: wrong.batch_write_item(RequestItems={"Orders": items}))
        assert code == "InvalidSignatureException"
        assert message.startswith(
            "The request signature we calculated does not match the signature"
        )


# --- The file -------------------------------------------------------------------------------------


def change_value(path: str, value: Any) -> str:
    """The users with one value changed: `Users.0.UserName`."""
    content = json.loads(json.dumps(USERS))
    at = content
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        at = at[step]
    at[last] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "{}, line 1: it is no JSON: "),
        ("[]", "{}: the file is an object with Users, Roles or both."),
        ("{}", "{}: nobody has an access key: give a user AccessKeys."),
        ('{"users": []}', "{}: users: there is no such element: use Roles, Users."),
        (
            change_value("Users.0.UserName", "a b"),
            "{}: Users[0].UserName: it is up to 64 letters, digits and the characters +=,.@_-.",
        ),
        (
            change_value("Users.1.UserName", "alice"),
            "{}: Users[1]: 'alice' is there twice: leave one",
        ),
        (
            change_value("Users.1.AccessKeys.0.AccessKeyId", "AKIDALICE"),
            "{}: Users[1].AccessKeys[0].AccessKeyId: AKIDALICE is there twice: change one.",
        ),
        (
            change_value("Users.1.AccessKeys.0.SecretAccessKey", ""),
            "{}: Users[1].AccessKeys[0].SecretAccessKey: it is a text that is not empty.",
        ),
        (
            change_value("Users.0.Policies.0.Statement.0.Effect", "Permit"),
            "{}: Users[0].Policies[0].Statement[0].Effect: it is Allow or Deny.",
        ),
        (
            change_value("Roles.0.Policies", "admin"),
            "{}: Roles[0].Policies: it is a list.",
        ),
        (change_value("Users.0.Tags", ["x"]), "{}: Users[0].Tags: it is an object of texts"),
    ],
)
def test_what_is_wrong_with_the_file_is_told(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "users.json"
    file.write_text(text)
    done = ask("engine", "serve", "--memory", "--users", file)
    assert done.returncode == 1
    assert done.stderr.startswith(problem.format(file))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    done = ask("engine", "serve", "--memory", "--users", file)
    assert (done.returncode, done.stderr) == (
        1,
        f"{file} cannot be read: No such file or directory.\n",
    )


# --- TLS and addresses ----------------------------------------------------------------------------


class Certificate(NamedTuple):
    certificate: Path
    key: Path

    @property
    def options(self) -> tuple[object, ...]:
        return ("--certificate", self.certificate, "--key", self.key)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    if shutil.which("openssl") is None:
        pytest.skip("a certificate is made with openssl: install it")
    folder = tmp_path_factory.mktemp("tls")
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    files = ("-keyout", made.key, "-out", made.certificate)
    subprocess.run([*command.split(), names, *files], check=True, capture_output=True)
    return made


def test_with_users_and_a_certificate_it_listens_anywhere(
    users: Path, certificate: Certificate
) -> None:
    options = ("--memory", "--users", users, "--host", "0.0.0.0", *certificate.options)
    with server(*options) as running:
        assert running.url.startswith("https://0.0.0.0:")
        url = running.url.replace("0.0.0.0", "localhost")
        trusting = {"verify": str(certificate.certificate)}
        alice = client(url, **trusting)
        alice.create_table(**ORDERS)
        big = {"pk": {"S": "a"}, "x": {"S": "x" * 300_000}}
        alice.put_item(TableName="Orders", Item=big)
        assert alice.scan(TableName="Orders")["Items"] == [big]
        wrong = client(url, secret="guessed", **trusting)
        assert refusal(wrong.list_tables)[0] == "InvalidSignatureException"
        context = ssl.create_default_context(cafile=str(certificate.certificate))
        with urllib.request.urlopen(url, context=context, timeout=60) as healthy:
            assert healthy.read().startswith(b"healthy: localhost")


def test_tls_ends_a_connection_that_speaks_no_http(users: Path, certificate: Certificate) -> None:
    with server("--memory", "--users", users, *certificate.options) as running:
        port = int(running.url.rpartition(":")[2])
        context = ssl.create_default_context(cafile=str(certificate.certificate))
        with (
            socket.create_connection(("127.0.0.1", port), timeout=60) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as wrapped,
        ):
            wrapped.sendall(b"nonsense\r\n\r\n")
            assert wrapped.recv(1000).startswith(b"HTTP/1.1 400 Bad Request")
        assert client(running.url, verify=str(certificate.certificate)).list_tables()


@pytest.mark.parametrize("given", ["users", "certificate", "neither"])
def test_without_both_it_listens_on_loopback_only(
    users: Path, certificate: Certificate, given: str
) -> None:
    options = {"users": ("--users", users), "certificate": certificate.options, "neither": ()}
    done = run("engine", "serve", "--memory", "--host", "0.0.0.0", *options[given])
    assert done.returncode == 2
    assert done.stderr == (
        "'0.0.0.0' is not a loopback address. The endpoint listens only where this machine alone "
        "can reach it: 127.0.0.1, ::1 or localhost. With users who sign their requests (--users) "
        "and a certificate (--certificate, --key) it may listen on any address.\n"
    )


def test_a_certificate_and_its_key_go_together(certificate: Certificate, tmp_path: Path) -> None:
    done = ask("engine", "serve", "--memory", "--certificate", certificate.certificate)
    assert (done.returncode, done.stderr) == (
        2,
        "--certificate and --key go together: give both files.\n",
    )
    absent = ("--certificate", tmp_path / "absent.pem", "--key", certificate.key)
    done = ask("engine", "serve", "--memory", *absent)
    assert done.returncode == 1
    assert done.stderr.endswith("cannot be read: No such file or directory.\n")
    swapped = ("--certificate", certificate.key, "--key", certificate.certificate)
    done = ask("engine", "serve", "--memory", *swapped)
    assert done.returncode == 1
    assert "are not a certificate and its private key in PEM" in done.stderr
