"""DynamoDB's expressions, and the legacy parameters that came before them."""

from bigtime.engine.expressions.check import check_condition, check_update, depends_on_contents
from bigtime.engine.expressions.condition import ConditionProgram, Filter, compile_condition
from bigtime.engine.expressions.condition_parser import parse_condition
from bigtime.engine.expressions.key_condition import (
    KeyTerm, UnboundTerm, compile_key_condition, unbound_term,
)
from bigtime.engine.expressions.lexer import ExpressionError, Token, TokenCursor
from bigtime.engine.expressions.parameters import (
    Expressions, check_parameters, named_attributes, read_expressions, read_legacy,
)
from bigtime.engine.expressions.legacy import read_key_conditions
from bigtime.engine.expressions.paths import Projection, attributes_at, getter, resolve
from bigtime.engine.expressions.search_condition import read_search
from bigtime.engine.expressions.tree import (
    Action, Add, And, Arithmetic, Between, Comparator, Comparison, Condition, Delete, Function, In,
    Not, Operand, Or, Path, Remove, Set, Value, action_paths, condition_paths, simple_conditions,
)
from bigtime.engine.expressions.update import Update, UpdateProgram, compile_update
from bigtime.engine.expressions.parser import TOO_LONG, parse_update, text_size

__all__ = [
    "TOO_LONG", "Action", "Add", "And", "Arithmetic", "Between", "Comparator", "Comparison",
    "Condition", "ConditionProgram", "Delete", "ExpressionError", "Expressions", "Filter",
    "Function", "In", "KeyTerm", "Not", "Operand", "Or", "Path", "Projection", "Remove", "Set",
    "Token", "TokenCursor", "UnboundTerm", "Update", "UpdateProgram", "Value", "action_paths",
    "attributes_at", "check_condition", "check_parameters", "check_update", "compile_condition",
    "compile_key_condition", "compile_update", "condition_paths", "depends_on_contents", "getter",
    "named_attributes", "parse_condition", "parse_update", "read_expressions",
    "read_key_conditions", "read_legacy", "read_search", "resolve", "simple_conditions",
    "text_size", "unbound_term",
]
