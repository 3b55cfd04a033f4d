from bigtime.engine import Engine
from bigtime.wire import ConditionalCheckFailedException, Request

with Engine.open("likes.db") as engine:
    engine(
        Request(
            "CreateTable",
            {
                "TableName": "Likes",
                "AttributeDefinitions": [
                    {"AttributeName": "brand", "AttributeType": "S"},
                    {"AttributeName": "username", "AttributeType": "S"},
                ],
                "KeySchema": [
                    {"AttributeName": "brand", "KeyType": "HASH"},
                    {"AttributeName": "username", "KeyType": "RANGE"},
                ],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
    )
    like = Request(
        "PutItem",
        {
            "TableName": "Likes",
            "Item": {"brand": {"S": "APPLE"}, "username": {"S": "alex"}},
            "ConditionExpression": "attribute_not_exists(brand)",
        },
    )
    engine(like)
    try:
        engine(like)
    except ConditionalCheckFailedException as error:
        print(f"{error.code}: {error}")
