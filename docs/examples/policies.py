import bigtime as bt

OWN_ITEMS = {
    "Version": "2012-10-17",
    "Statement": {
        "Effect": "Allow",
        "Action": ["dynamodb:GetItem", "dynamodb:PutItem"],
        "Resource": "arn:aws:dynamodb:*:*:table/Carts",
        "Condition": {
            "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "${aws:username}"},
        },
    },
}

with bt.Engine.memory() as engine:
    engine.boto3_resource().create_table(
        TableName="Carts",
        KeySchema=[{"AttributeName": "account", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "account", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    alex = engine.as_user(bt.engine.Principal.user("alex", [OWN_ITEMS]))
    for account in ("alex", "kim"):
        item = {"account": {"S": account}}
        try:
            alex(bt.Request("PutItem", {"TableName": "Carts", "Item": item}))
            print(account, "written")
        except bt.wire.AccessDeniedException as error:
            print(account, error)
