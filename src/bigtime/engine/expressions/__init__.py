"""DynamoDB's expressions, and the legacy parameters that came before them."""

from bigtime.engine.expressions.check import depends_on_contents
from bigtime.engine.expressions.condition import ConditionProgram, compile_condition
from bigtime.engine.expressions.condition_parser import parse_condition
from bigtime.engine.expressions.key_condition import KeyTerm, UnboundTerm, compile_key_condition
from bigtime.engine.expressions.parameters import (
    Expressions, check_parameters, read_expressions, read_legacy,
)
from bigtime.engine.expressions.legacy import read_key_conditions
from bigtime.engine.expressions.paths import resolve
from bigtime.engine.expressions.paths import Projection
from bigtime.engine.expressions.tree import Arithmetic, Function, Operand, Path, Remove, Set, Value
from bigtime.engine.expressions.update import Update
from bigtime.engine.expressions.parser import parse_update

__all__ = [
    "Arithmetic", "ConditionProgram", "Expressions", "Function", "KeyTerm", "Operand", "Path",
    "Projection", "Remove", "Set", "UnboundTerm", "Update", "Value", "check_parameters",
    "compile_condition", "compile_key_condition", "depends_on_contents", "parse_condition",
    "parse_update", "read_expressions", "read_key_conditions", "read_legacy", "resolve",
]
