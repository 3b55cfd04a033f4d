"""How entities are declared and stored: fields, key templates, tables, views."""

from typing import TYPE_CHECKING

from bigtime.model.schema.annotation import bare_type
from bigtime.model.schema.attribute import (
    Path, Step, field_annotation, may_be_none, split, unwrap,
)
from bigtime.model.schema.bounds import SortBounds
from bigtime.model.schema.declaration import Sharding, shard_field
from bigtime.model.schema.condition import (
    Condition, Placeholders, attr, check_condition, every, item_missing, unchanged,
)
from bigtime.model.schema.encoding import Encoding
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.key_range import (
    Comparison, KeyRange, at_least, at_most, begins_with, between, check_within, fingerprint,
    key_in, key_value, less_than, more_than, text_condition, whole_partition,
)
from bigtime.model.schema.keys import EntityKey, Key, KeyPart, Keys, fields_in_key, when
from bigtime.model.schema.ksuid import PAYLOAD_BYTES, Ksuid, ksuid_or
from bigtime.model.schema.layout import FedKeys, Layout, describe_error
from bigtime.model.schema.neighbours import is_alone
from bigtime.model.schema.parts import DELIMITER, Field, fields_of
from bigtime.model.schema.reader import (
    Reader, entity_reader, hidden_in, key_of, layout_in, projected_names,
)
from bigtime.model.schema.secret import Secret, SecretText, hide
from bigtime.model.schema.storage import UNDECLARED
from bigtime.model.schema.stored import SETS, EpochSeconds, Millis, Seconds
from bigtime.model.schema.table import (
    MAIN, MANAGED_KEY, MAX_RECOVERY_DAYS, Attribute, Index, Table, Throughput, binary, camel_case,
    global_index, local_index, number, pascal_case, snake_case,
)
from bigtime.model.schema.template import Template
from bigtime.model.schema.tenant import WrongTenant, check_bound, leading_texts, tenant
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.model.schema.view import View

if not TYPE_CHECKING:  # otherwise any misspelt name would pass the type checker
    __getattr__ = lazy_names(__name__, view="View")

__all__ = [
    "DELIMITER", "MAIN", "MANAGED_KEY", "MAX_RECOVERY_DAYS", "PAYLOAD_BYTES", "SETS", "UNDECLARED",
    "Attribute", "Comparison", "Condition", "Encoding", "Entity", "EntityKey", "EpochSeconds",
    "FedKeys", "Field", "Index", "Key", "KeyPart", "KeyRange", "Keys", "Ksuid", "Layout", "Millis",
    "Path", "Placeholders", "Reader", "Seconds", "Secret", "SecretText", "Sharding", "SortBounds",
    "Step", "Table", "Template", "Throughput", "View", "WrongTenant", "at_least", "at_most", "attr",
    "bare_type", "begins_with", "between", "binary", "camel_case", "check_bound", "check_condition",
    "check_within", "describe_error", "entity_reader", "every", "field_annotation", "fields_in_key",
    "fields_of", "fingerprint", "global_index", "hidden_in", "hide", "is_alone", "item_missing",
    "key_in", "key_of", "key_value", "ksuid_or", "layout_in", "leading_texts", "less_than",
    "local_index", "may_be_none", "more_than", "number", "pascal_case", "projected_names",
    "shard_field", "snake_case", "split", "tenant", "text_condition", "unchanged", "unwrap", "when",
    "whole_partition",
]
