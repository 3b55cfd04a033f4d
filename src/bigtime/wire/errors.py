"""DynamoDB's errors: the class is AWS's name of the error, `str()` its message.

AWS: "Error handling with DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from bigtime.wire.requests import Item, Response


class DynamoDBError(Exception):
    """An error as DynamoDB reports it: `code` is its name, `str()` its message.

    In some errors, AWS's service model capitalises the name of the message's member.
    """

    namespace: ClassVar[str] = "com.amazonaws.dynamodb.v20120810"
    status: ClassVar[int] = 400
    message_member: ClassVar[str] = "message"
    default_message: ClassVar[str] = ""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(self.default_message if message is None else message)

    @property
    def code(self) -> str:
        return type(self).__name__

    @property
    def message(self) -> str:
        return str(self.args[0])

    def body(self) -> Response:
        """The JSON body that an SDK expects to find in the HTTP answer."""
        return {"__type": f"{self.namespace}#{self.code}", self.message_member: self.message}


class ValidationException(DynamoDBError):
    namespace = "com.amazon.coral.validate"


class ServiceError(DynamoDBError):
    """An error of the service framework in front of DynamoDB; it may have no message."""

    namespace = "com.amazon.coral.service"

    def body(self) -> Response:
        named = {self.message_member: self.message} if self.message else {}
        return {"__type": f"{self.namespace}#{self.code}", **named}


class SerializationException(ServiceError):
    message_member = "Message"


class UnknownOperationException(ServiceError):
    pass


class ResourceNotFoundException(DynamoDBError):
    default_message = "Requested resource not found"


class ResourceInUseException(DynamoDBError):
    pass


class LimitExceededException(DynamoDBError):
    pass


class ConditionalCheckFailedException(DynamoDBError):
    """`item` is the existing item, if the caller asked for it."""

    default_message = "The conditional request failed"

    def __init__(self, message: str | None = None, *, item: Item | None = None) -> None:
        super().__init__(message)
        self.item = item

    def body(self) -> Response:
        body = super().body()
        if self.item is not None:
            body["Item"] = self.item
        return body


class DuplicateItemException(DynamoDBError):
    default_message = "Duplicate primary key exists in table"


class TransactionCanceledException(DynamoDBError):
    """`reasons` has one entry per action, in the order of the request."""

    message_member = "Message"

    def __init__(self, reasons: list[Response]) -> None:
        codes = ", ".join(reason["Code"] for reason in reasons)
        super().__init__(
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            f"[{codes}]"
        )
        self.reasons = reasons

    def body(self) -> Response:
        return {**super().body(), "CancellationReasons": self.reasons}


class TransactionConflictException(DynamoDBError):
    default_message = "Transaction is ongoing for the item"


class TransactionInProgressException(DynamoDBError):
    message_member = "Message"


class IdempotentParameterMismatchException(DynamoDBError):
    message_member = "Message"


class PolicyNotFoundException(DynamoDBError):
    pass


class TableNotFoundException(DynamoDBError):
    pass


class GlobalTableNotFoundException(DynamoDBError):
    pass


class TableAlreadyExistsException(DynamoDBError):
    pass


class TableInUseException(DynamoDBError):
    pass


class BackupNotFoundException(DynamoDBError):
    pass


class BackupInUseException(DynamoDBError):
    pass


class ContinuousBackupsUnavailableException(DynamoDBError):
    pass


class PointInTimeRecoveryUnavailableException(DynamoDBError):
    pass


class InvalidRestoreTimeException(DynamoDBError):
    pass


class ProvisionedThroughputExceededException(DynamoDBError):
    """`reasons` have the exceeded limit and the ARN of the table or index, where they are known.

    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html
    """

    default_message = (
        "The level of configured provisioned throughput for the table was exceeded. "
        "Consider increasing your provisioning level with the UpdateTable API."
    )

    def __init__(self, message: str | None = None, *, reasons: Sequence[Response] = ()) -> None:
        super().__init__(message)
        self.reasons = reasons

    def body(self) -> Response:
        reasons = {"ThrottlingReasons": [*self.reasons]} if self.reasons else {}
        return {**super().body(), **reasons}


class ItemCollectionSizeLimitExceededException(DynamoDBError):
    default_message = "Collection size exceeded."


class ExpiredIteratorException(DynamoDBError):
    pass


class TrimmedDataAccessException(DynamoDBError):
    pass


class AccessDeniedException(ServiceError):
    # As seen in AWS's answer: https://github.com/sebdah/dynamic-dynamodb/issues/321
    message_member = "Message"


class ExportConflictException(DynamoDBError):
    pass


class ExportNotFoundException(DynamoDBError):
    pass


class ImportConflictException(DynamoDBError):
    pass


class ImportNotFoundException(DynamoDBError):
    pass


class InvalidExportTimeException(DynamoDBError):
    pass


class MissingAuthenticationTokenException(ServiceError):
    default_message = "Request is missing Authentication Token"


class IncompleteSignatureException(ServiceError):
    pass


class InvalidSignatureException(ServiceError):
    pass


class UnrecognizedClientException(ServiceError):
    default_message = "The security token included in the request is invalid."


class InternalServerError(DynamoDBError):
    """The engine failed, and changed nothing: the one error after which any retry is safe."""

    status = 500
    default_message = "Internal server error"
