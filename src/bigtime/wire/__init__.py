"""What every layer shares: requests, errors, attribute values, sizes, capacity units."""

from bigtime.wire import number, values
from bigtime.wire.capacity import (
    READ_BLOCK, index_write_units, read_units, transactional_read_units, write_units,
)
from bigtime.wire.errors import (
    AccessDeniedException, ConditionalCheckFailedException, DuplicateItemException, DynamoDBError,
    ExpiredIteratorException, IdempotentParameterMismatchException, InternalServerError,
    ItemCollectionSizeLimitExceededException, LimitExceededException, PolicyNotFoundException,
    ProvisionedThroughputExceededException, ResourceInUseException, ResourceNotFoundException,
    SerializationException, TransactionCanceledException, TransactionConflictException,
    TransactionInProgressException, TrimmedDataAccessException, UnknownOperationException,
    ValidationException, IncompleteSignatureException, InvalidSignatureException,
    MissingAuthenticationTokenException, UnrecognizedClientException,
)
from bigtime.wire.values import (Identity, item_identity)
from bigtime.wire.lazy import lazy_names
from bigtime.wire.number import (
    MAX_DIGITS, MAX_MAGNITUDE, MIN_MAGNITUDE, canonical, decimal, sort_bytes,
)
from bigtime.wire.requests import (
    AttributeValue, Bytes, Item, Now, Params, PatternName, Pause, Recall, Remember, Request,
    Response, Step, Steps, Together, Transport, name_steps, steps_in,
)
from bigtime.wire.values import (
    MANY_DATATYPES, MAX_ITEM_BYTES, TOO_DEEP, check_item, check_value, comparable, equal, item_size,
    same_maps,
)

__all__ = [
    "MANY_DATATYPES", "MAX_DIGITS", "MAX_ITEM_BYTES", "MAX_MAGNITUDE", "MIN_MAGNITUDE",
    "READ_BLOCK", "TOO_DEEP", "AccessDeniedException", "AttributeValue", "Bytes",
    "ConditionalCheckFailedException", "DuplicateItemException", "DynamoDBError",
    "ExpiredIteratorException", "IdempotentParameterMismatchException", "Identity",
    "IncompleteSignatureException", "InternalServerError", "InvalidSignatureException", "Item",
    "ItemCollectionSizeLimitExceededException", "LimitExceededException",
    "MissingAuthenticationTokenException", "Now", "Params", "PatternName", "Pause",
    "PolicyNotFoundException", "ProvisionedThroughputExceededException", "Recall", "Remember",
    "Request", "ResourceInUseException", "ResourceNotFoundException", "Response",
    "SerializationException", "Step", "Steps", "Together", "TransactionCanceledException",
    "TransactionConflictException", "TransactionInProgressException", "Transport",
    "TrimmedDataAccessException", "UnknownOperationException", "UnrecognizedClientException",
    "ValidationException", "canonical", "check_item", "check_value", "comparable", "decimal",
    "equal", "index_write_units", "item_identity", "item_size", "lazy_names", "name_steps",
    "number", "read_units", "same_maps", "sort_bytes", "steps_in", "transactional_read_units",
    "values", "write_units",
]
