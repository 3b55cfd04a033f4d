"""DynamoDB's HTTP protocol: the endpoint for any AWS SDK, and boto3 without a network."""

from typing import TYPE_CHECKING

from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.engine.http.boto import boto3_client, boto3_resource, response_handler
    from bigtime.engine.http.endpoint import NotLoopback, serve, serve_in_thread
    from bigtime.engine.http.workers import Supervisor, serve_workers

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = lazy_names(
        __name__,
        boto="boto3_client boto3_resource response_handler",
        endpoint="NotLoopback serve serve_in_thread",
        workers="Supervisor serve_workers",
    )

__all__ = [
    "NotLoopback", "Supervisor", "boto3_client", "boto3_resource", "response_handler", "serve",
    "serve_in_thread", "serve_workers",
]
