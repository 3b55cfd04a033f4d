"""What every layer shares: requests, errors, attribute values, sizes, capacity units."""

from bigtime.wire import number, values
from bigtime.wire.capacity import (
    READ_BLOCK, index_write_units, read_units, transactional_read_units, write_units,
)
from bigtime.wire.errors import (
    AccessDeniedException, BackupInUseException, BackupNotFoundException,
    ConditionalCheckFailedException, ContinuousBackupsUnavailableException, DuplicateItemException,
    DynamoDBError, ExpiredIteratorException, ExportConflictException, ExportNotFoundException,
    GlobalTableNotFoundException, IdempotentParameterMismatchException, ImportConflictException,
    ImportNotFoundException, IncompleteSignatureException, InternalServerError,
    InvalidExportTimeException, InvalidRestoreTimeException, InvalidSignatureException,
    ItemCollectionSizeLimitExceededException, LimitExceededException,
    MissingAuthenticationTokenException, PointInTimeRecoveryUnavailableException,
    PolicyNotFoundException, ProvisionedThroughputExceededException, ResourceInUseException,
    ResourceNotFoundException, SerializationException, TableAlreadyExistsException,
    TableInUseException, TableNotFoundException, TransactionCanceledException,
    TransactionConflictException, TransactionInProgressException, TrimmedDataAccessException,
    UnknownOperationException, UnrecognizedClientException, ValidationException,
)
from bigtime.wire.lazy import lazy_names
from bigtime.wire.number import (
    MAX_DIGITS, MAX_MAGNITUDE, MIN_MAGNITUDE, canonical, decimal, sort_bytes,
)
from bigtime.wire.requests import (
    TENANT, AnyTenant, AttributeValue, Bytes, ChangedItem, Item, Now, Params, PatternName, Pause,
    Recall, Remember, Request, Response, Step, Steps, Together, Transport, changed_by, name_steps,
    steps_in,
)
from bigtime.wire.values import (
    MANY_DATATYPES, MAX_ITEM_BYTES, TOO_DEEP, Identity, check_item, check_value, comparable, equal,
    item_identity, item_size, same_maps,
)

__all__ = [
    "MANY_DATATYPES", "MAX_DIGITS", "MAX_ITEM_BYTES", "MAX_MAGNITUDE", "MIN_MAGNITUDE",
    "READ_BLOCK", "TENANT", "TOO_DEEP", "AccessDeniedException", "AnyTenant",
    "AttributeValue",
    "BackupInUseException", "BackupNotFoundException", "Bytes", "ChangedItem",
    "ConditionalCheckFailedException", "ContinuousBackupsUnavailableException",
    "DuplicateItemException", "DynamoDBError", "ExpiredIteratorException",
    "ExportConflictException", "ExportNotFoundException", "GlobalTableNotFoundException",
    "IdempotentParameterMismatchException", "Identity", "ImportConflictException",
    "ImportNotFoundException", "IncompleteSignatureException", "InternalServerError",
    "InvalidExportTimeException", "InvalidRestoreTimeException", "InvalidSignatureException",
    "Item", "ItemCollectionSizeLimitExceededException", "LimitExceededException",
    "MissingAuthenticationTokenException", "Now", "Params", "PatternName", "Pause",
    "PointInTimeRecoveryUnavailableException", "PolicyNotFoundException",
    "ProvisionedThroughputExceededException", "Recall", "Remember", "Request",
    "ResourceInUseException", "ResourceNotFoundException", "Response", "SerializationException",
    "Step", "Steps", "TableAlreadyExistsException", "TableInUseException", "TableNotFoundException",
    "Together", "TransactionCanceledException", "TransactionConflictException",
    "TransactionInProgressException", "Transport", "TrimmedDataAccessException",
    "UnknownOperationException", "UnrecognizedClientException", "ValidationException", "canonical",
    "changed_by", "check_item", "check_value", "comparable", "decimal", "equal",
    "index_write_units", "item_identity", "item_size", "lazy_names", "name_steps", "number",
    "read_units", "same_maps", "sort_bytes", "steps_in", "transactional_read_units", "values",
    "write_units",
]
