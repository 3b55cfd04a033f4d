import bigtime as bt

with bt.Engine.open("likes.db") as engine:
    engine(
        bt.Request(
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
    like = bt.Request(
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
    except bt.wire.ConditionalCheckFailedException as error:
        print(f"{error.code}: {error}")
