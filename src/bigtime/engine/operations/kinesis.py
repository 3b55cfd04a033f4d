"""Kinesis destinations: the data streams a table would send its changes to, and their status.

Nothing is sent: there is no Kinesis here. Only the state is kept, so that tools which set up a
table read back what they configured. A disabled destination stays listed as DISABLED.

AWS: "Using Kinesis Data Streams to capture changes to DynamoDB"; the messages are those that AWS's
controller has seen.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/kds.html
https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-policy-kinesis-autoscaling.md
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from bigtime.engine.operations.table_schema import with_note
from bigtime.engine.operations.tables import find, find_for_writing
from bigtime.engine.storage import Database, TableDefinition, Transaction, Work
from bigtime.wire import Params, Response, ValidationException

Destinations: TypeAlias = dict[str, dict[str, Any]]

# The key in the definition's notes of the destinations, which are by stream ARN.
NOTES: Final = "KinesisDestinations"
PRECISION: Final = "ApproximateCreationDateTimePrecision"
# The precision if none was requested; a description then shows none (DDB-TABLE-299 of
# https://github.com/aws-controllers-k8s/dynamodb-controller, docs/api-quirks).
MILLISECOND: Final = "MILLISECOND"
ENABLING: Final = "EnableKinesisStreamingConfiguration"
UPDATING: Final = "UpdateKinesisStreamingConfiguration"
KINESIS_ARN: Final = re.compile(r"arn:aws[a-z-]*:kinesis:[^:]+:[^:]*:stream/.+")
WRONG_STATE: Final = "Table is not in a valid state to enable Kinesis Streaming Destination: "


def enable_kinesis_streaming_destination(database: Database, params: Params) -> Work[Response]:
    def enable(table: TableDefinition, destinations: Destinations) -> dict[str, Any]:
        if any(known["DestinationStatus"] == "ACTIVE" for known in destinations.values()):
            raise ValidationException(
                f"{WRONG_STATE}EnableKinesisStreamingDestination must be DISABLED or "
                "ENABLE_FAILED to perform ENABLE operation."
            )
        configuration = params.get(ENABLING, {})
        problem = problem_with(database, params["StreamArn"])
        if problem:
            failed = {"DestinationStatus": "ENABLE_FAILED", "DestinationStatusDescription": problem}
            return {**failed, **configuration}
        return {"DestinationStatus": "ACTIVE", **configuration}

    return change_destination(database, params, "ENABLING", ENABLING, enable)


def problem_with(database: Database, arn: str) -> str:
    """What is wrong with the stream; AWS checks it only after responding (DDB-TABLE-318)."""
    if not KINESIS_ARN.fullmatch(arn):
        return "User does not have a permission to use kinesis stream"
    if arn.split(":")[3] != database.region:
        return (
            "The kinesis Arn used to enable kinesis replication belongs to a stream which is not "
            "in the current region"
        )
    return ""


def disable_kinesis_streaming_destination(database: Database, params: Params) -> Work[Response]:
    if ENABLING in params:
        raise ValidationException(
            "Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters"
        )

    def disable(table: TableDefinition, destinations: Destinations) -> dict[str, Any]:
        known = destinations.get(params["StreamArn"])
        if known is None or known["DestinationStatus"] != "ACTIVE":
            raise ValidationException(
                f"{WRONG_STATE}KinesisStreamingDestination must be ACTIVE to perform "
                "DISABLE operation."
            )
        return {**known, "DestinationStatus": "DISABLED"}

    return change_destination(database, params, "DISABLING", ENABLING, disable)


def update_kinesis_streaming_destination(database: Database, params: Params) -> Work[Response]:
    if not params.get(UPDATING):
        raise ValidationException(
            "Streaming destination cannot be updated with given parameters: "
            f"{UPDATING} cannot be null or contain only null values"
        )

    def update(table: TableDefinition, destinations: Destinations) -> dict[str, Any]:
        arn, precision = params["StreamArn"], params[UPDATING][PRECISION]
        known = destinations.get(arn)
        if known is None or known["DestinationStatus"] != "ACTIVE":
            raise ValidationException(
                f"{WRONG_STATE}Kinesis streaming is not in ACTIVE state. Updates are only allowed "
                f"in ACTIVE state. TableName: {table.name}, kdsArn: {arn}"
            )
        if known.get(PRECISION, MILLISECOND) == precision:
            raise ValidationException(
                f"Invalid Request: Precision is already set to the desired value of {precision} "
                f"for tableId: {table.id}, kdsArn: {arn}"
            )
        return {**known, PRECISION: precision}

    return change_destination(database, params, "UPDATING", UPDATING, update)


def change_destination(
    database: Database,
    params: Params,
    status: str,
    configuration: str,
    change: Callable[[TableDefinition, Destinations], dict[str, Any]],
) -> Work[Response]:
    """Stores the destination that `change` returns; the response has the transitional `status`."""
    name, arn = database.table_name(params["TableName"]), params["StreamArn"]

    def work(transaction: Transaction) -> Response:
        table = find_for_writing(database, name).definition
        destinations: Destinations = table.notes.get(NOTES, {})
        changed = {**destinations, arn: change(table, destinations)}
        database.catalogue.change(transaction, with_note(table, NOTES, changed))
        response: Response = {"TableName": name, "StreamArn": arn, "DestinationStatus": status}
        if configuration in params or status == "ENABLING":
            response[configuration] = params.get(configuration, {})
        return response

    return work


def describe_kinesis_streaming_destination(database: Database, params: Params) -> Response:
    name = database.table_name(params["TableName"])
    destinations: Destinations = find(database, name).definition.notes.get(NOTES, {})
    listed = [{"StreamArn": arn, **known} for arn, known in destinations.items()]
    return {"TableName": name, "KinesisDataStreamDestinations": listed}
