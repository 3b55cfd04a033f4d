"""IAM: policies, users and roles, and whether a request is allowed."""

from bigtime.engine.iam.conditions import Keys, PolicyError
from bigtime.engine.iam.evaluation import AccessRequest, Caller, Decision, evaluate
from bigtime.engine.iam.users import (
    AccessKey, AccessKeys, Principal, UsersFileError, read_access_keys, read_users,
)
from bigtime.engine.iam.policy import Policy, Statement, Terms, read_policy

__all__ = [
    "AccessKey", "AccessKeys", "AccessRequest", "Caller", "Decision", "Keys", "Policy",
    "PolicyError", "Principal", "Statement", "Terms", "UsersFileError", "evaluate",
    "read_access_keys", "read_policy", "read_users",
]
