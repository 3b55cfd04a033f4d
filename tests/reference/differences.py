"""Where a second opinion is known to be wrong, and AWS's word on it.

A difference in what happens keeps the operation out of that comparison (`excludes`), because the
tables would drift apart; a difference in words only is let pass (`excuses`). Whatever no rule here
names fails the run.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.reference import exclusions as excl
from tests.reference.exclusions import Exclusion, Excuse
from tests.reference.updates import NO_SUCH_ATTRIBUTE, NO_SUCH_PATH, WRONG_TYPE

GUIDE = "docs.aws.amazon.com/amazondynamodb/latest/developerguide"
API = "docs.aws.amazon.com/amazondynamodb/latest/APIReference"
WRONG_INDEX_KEY = (
    "The update expression attempted to update the secondary index key to unsupported type"
)


@dataclass(frozen=True)
class Difference:
    name: str
    engine_says: str
    other_says: str
    source: str
    excludes: Exclusion = excl.nothing
    excuses: Excuse = excl.no_words
    hides_counts: bool = False
    """DescribeTable's counts are not compared at all."""

    respells: bool = False
    """Expressions are printed in the most ordinary way."""


DYNALITE = (
    Difference(
        "numbers with a plus sign",
        "+1 is 1",
        "The parameter cannot be converted to a numeric value: +1",
        f"{GUIDE}/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number",
        excl.signed_number,
    ),
    Difference(
        "item counts",
        "DescribeTable counts items as they are",
        "ItemCount stays 0",
        f"{API}/API_TableDescription.html (ItemCount)",
        hides_counts=True,
    ),
    Difference(
        "the item that failed a condition",
        "ReturnValuesOnConditionCheckFailure=ALL_OLD puts Item in the error",
        "does not know the parameter, which came in 2023",
        f"{API}/API_PutItem.html (ReturnValuesOnConditionCheckFailure)",
        excl.shows_failed_item,
    ),
    Difference(
        "two missing attributes",
        "a = b is false and a <> b is true when neither is there",
        "equal",
        "github.com/scylladb/scylladb/issues/8511, github.com/ExtendDB/extenddb/pull/5",
        excl.any_test(excl.two_missing),
    ),
    Difference(
        "equal documents",
        "lists and maps are compared by what is in them",
        "never equal",
        f"{API}/API_Condition.html (EQ is supported for all data types, including lists and maps)",
        excl.any_test(excl.documents_compared),
    ),
    Difference(
        "empty and false values in a test",
        "IN, BETWEEN, attribute_type and size are for '' and false as for other values",
        "false",
        f"{GUIDE}/Expressions.OperatorsAndFunctions.html",
        excl.any_test(excl.falsy_tested),
    ),
    Difference(
        "attributes among the operands of IN and BETWEEN",
        "false where one is missing or of another type",
        "the server stops with a TypeError",
        f"{GUIDE}/Expressions.OperatorsAndFunctions.html (operand)",
        excl.attributes_as_bounds,
    ),
    Difference(
        "binaries in begins_with and contains",
        "compared byte by byte",
        "compared as UTF-8 text, in which all malformed bytes are alike",
        f"{GUIDE}/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Binary",
        excl.any_test(excl.binary_searched),
    ),
    Difference(
        "elements in contains",
        "any element of a list may be looked for",
        "only non-empty strings, numbers and binaries are found",
        f"{GUIDE}/Expressions.OperatorsAndFunctions.html (contains)",
        excl.any_test(excl.list_searched),
    ),
    Difference(
        "positions in a list that an update changes twice",
        "positions mean the list as it was: REMOVE a[0], a[1] takes the first two elements",
        "positions shift from action to action",
        f"{GUIDE}/Expressions.UpdateExpressions.html (Removing elements from a list)",
        excl.positions_changed,
    ),
    Difference(
        "values that an update copies and changes",
        "SET b[0] = b puts a copy of the old list into the new one",
        "both are one value: it changes twice, or holds itself and the server stops",
        f"{GUIDE}/Expressions.UpdateExpressions.html",
        excl.shares_values,
    ),
    Difference(
        "order of strings above U+FFFF",
        "by UTF-8 bytes",
        "by UTF-16 units, except in keys",
        f"{GUIDE}/Query.KeyConditionExpressions.html (order of UTF-8 bytes)",
        excl.orders_by_utf16,
    ),
    Difference(
        "operands of ordered comparisons",
        "only strings, numbers and binaries have an order: ValidationException",
        "takes any type, and orders it somehow",
        f"{API}/API_Condition.html (LE: String, Number, or Binary)",
        excl.wrong_operands,
    ),
    Difference(
        "NOT NOT",
        "NOT condition is a condition",
        "Syntax error",
        f"{GUIDE}/Expressions.OperatorsAndFunctions.html (Syntax)",
        excl.not_not,
    ),
    Difference(
        "attributes that a local index does not project",
        "fetched from the table",
        "left out",
        f"{GUIDE}/LSI.html (Fetching attributes from the table)",
        excl.fetches_for_index,
    ),
    Difference(
        "updates that only take away",
        "do not make an item",
        "make an item of nothing but its key",
        f"{API}/API_AttributeValueUpdate.html (DELETE - Nothing happens), "
        "github.com/scylladb/scylladb/issues/5862",
        excl.takes_from_nothing,
    ),
    Difference(
        "results out of range, empty index keys",
        "ValidationException",
        "stored",
        f"{GUIDE}/Constraints.html (Number; Secondary indexes)",
        excl.beyond_limits,
    ),
    Difference(
        "parameters that are not checked",
        "a projection of a COUNT, a consistent Scan of a global index, ReturnValues of an update "
        "for a delete, an empty index key: ValidationException",
        "accepted",
        f"{API}/API_Query.html (Select; ConsistentRead), API_DeleteItem.html (ReturnValues)",
        excl.with_fault(
            "count of a projection",
            "consistent global index",
            "ReturnValues of an update",
            "index key empty",
        ),
    ),
    Difference(
        "ADD in AttributeUpdates",
        "adds to a number or a set",
        "ADD action is not supported for the type undefined",
        f"{GUIDE}/LegacyConditionalParameters.AttributeUpdates.html",
        excl.adds_without_expression,
    ),
    Difference(
        "numbers in Expected",
        "compared as numbers",
        "compared as texts",
        f"{GUIDE}/LegacyConditionalParameters.Conditions.html (EQ)",
        excl.spelled_number_in_expected,
    ),
    Difference(
        "words of a syntax error",
        'Syntax error; token: "b", near: "a b"',
        'Syntax error; Expected "," but "b" found.',
        "repost.aws and many reports quote the token and what is near it",
        excuses=excl.both_say("Syntax error"),
    ),
    Difference(
        "words about an empty key",
        "One or more parameter values are not valid. The AttributeValue for a key ...",
        "One or more parameter values were invalid: The AttributeValue for a key ...",
        "aws.amazon.com/about-aws/whats-new/2020/05: the wording came with empty values",
        excuses=excl.both_say("for a key attribute cannot contain an empty"),
    ),
    Difference(
        "words about the operand of ADD and DELETE",
        "... operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
        "... operator: ADD, operand type: STRING",
        "later wording of AWS",
        excuses=excl.both_say("operator: ADD, operand type", "operator: DELETE, operand type"),
    ),
    Difference(
        "which of two failings is told",
        "a missing operand before one of the wrong type",
        "the left operand before the right one",
        f"both are documented: {API}/API_TransactWriteItems.html (Validation Error), no order is",
        excuses=excl.both_among(NO_SUCH_ATTRIBUTE, WRONG_TYPE, NO_SUCH_PATH, WRONG_INDEX_KEY),
    ),
    Difference(
        "two conditions for one key",
        "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one ...",
        "KeyConditionExpressions must only contain one condition per key",
        "github.com/aws-amplify/amplify-category-api/pull/3531 quotes AWS in 2026, with the prefix",
        excuses=excl.both_say("must only contain one condition per key"),
    ),
    Difference(
        "where a query of a table without a sort key starts",
        "The provided exclusive start key is invalid, as AWS says",
        "The provided starting key is invalid",
        "seen at AWS: there is no item that such a query could go on behind",
        excuses=excl.each_says("exclusive start key is invalid", "starting key is invalid"),
    ),
    Difference(
        "an empty batch",
        "The requestItems parameter is required for BatchWriteItem, as AWS says since 2026",
        "Value '{}' at 'requestItems' failed to satisfy constraint, as AWS said before",
        f"{API}/API_BatchWriteItem.html (RequestItems)",
        excuses=excl.each_says("parameter is required for Batch", "at 'requestItems'"),
    ),
    Difference(
        "an empty batch to get",
        "Value at 'RequestItems' failed to satisfy constraint, as AWS says since September 2026",
        "Value '{}' at 'requestItems' failed to satisfy constraint, as AWS said before",
        f"{API}/API_BatchGetItem.html (RequestItems), github.com/nubo-db/dynoxide/pull/198",
        excuses=excl.each_says("Value at 'RequestItems'", "at 'requestItems'"),
    ),
    Difference(
        "the place of a limit",
        "Value at 'Limit' failed to satisfy constraint, as AWS says since 2026",
        "Value '0' at 'limit' failed to satisfy constraint, as AWS said before",
        f"{API}/API_Query.html (Limit)",
        excuses=excl.both_say("Member must have value greater than or equal to"),
    ),
    Difference(
        "how a long value is quoted",
        "Value '{t=[WriteRequest(...)]}' at 'requestItems' failed to satisfy constraint",
        "Value '[object Object]' at 'requestItems' failed to satisfy constraint",
        "the constraint is the same",
        excuses=excl.both_say("Member must have length less than or equal to"),
    ),
)


MOTO = (
    Difference(
        "item counts of indexes",
        "DescribeTable counts the entries of each index",
        "no ItemCount",
        f"{API}/API_GlobalSecondaryIndexDescription.html (ItemCount)",
        hides_counts=True,
    ),
    Difference(
        "checks of requests",
        "every documented check, in the documented words",
        "many are missing, others have other words",
        f"{API}/CommonErrors.html",
        excl.unsound,
    ),
    Difference(
        "spelling of expressions",
        "keywords in any case, any blanks or none between tokens",
        "Syntax error for some",
        f"{GUIDE}/Expressions.OperatorsAndFunctions.html",
        respells=True,
    ),
    Difference(
        "one number in several spellings",
        "1, 1.0 and 1e0 are one value and one key",
        "keys and set members are compared as texts",
        f"{GUIDE}/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number",
        excl.spelled_number,
    ),
    Difference(
        "conditions on what is not there, or is of another type",
        "false, but for <>",
        "ValueError or TypeError from inside",
        f"{GUIDE}/Expressions.OperatorsAndFunctions.html",
        excl.tests_values,
    ),
    Difference(
        "updates of parts",
        "paths into documents, arithmetic, functions, sets; an update of nothing",
        "AssertionError or AttributeError from inside, 28 digits of a sum, other ReturnValues",
        f"{GUIDE}/Expressions.UpdateExpressions.html",
        excl.intricate_update,
    ),
    Difference(
        "updates that only take away",
        "do not make an item",
        "make an item of nothing but its key",
        f"{API}/API_AttributeValueUpdate.html (DELETE - Nothing happens), "
        "github.com/scylladb/scylladb/issues/5862",
        excl.takes_from_nothing,
    ),
    Difference(
        "projections",
        "paths into documents; projections in TransactGetItems",
        "calls their names unused, or leaves the item whole",
        f"{GUIDE}/Expressions.ProjectionExpressions.html",
        excl.nested_projection,
    ),
    Difference(
        "order of key conditions",
        "either may come first",
        "AssertionError from inside",
        f"{GUIDE}/Query.KeyConditionExpressions.html",
        excl.sort_key_first,
    ),
    Difference(
        "attributes that a local index does not project",
        "fetched from the table",
        "left out",
        f"{GUIDE}/LSI.html (Fetching attributes from the table)",
        excl.reads_local_index_whole,
    ),
    Difference(
        "tokens",
        "a token used again changes excl.nothing, or is refused with other parameters",
        "does not know tokens",
        f"{API}/API_TransactWriteItems.html (ClientRequestToken)",
        excl.token_again,
    ),
    Difference(
        "NOT NOT",
        "NOT condition is a condition",
        "ValueError from inside",
        f"{GUIDE}/Expressions.OperatorsAndFunctions.html (Syntax)",
        excl.not_not,
    ),
    Difference(
        "what an update returns",
        "UPDATED_OLD and UPDATED_NEW show the attributes that the expression names",
        "shows those that differ, and the key of a new item",
        f"{API}/API_UpdateItem.html (ReturnValues)",
        excl.shows_what_changed,
    ),
)
