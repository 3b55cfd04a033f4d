import bigtime as bt

with bt.Engine.memory() as engine:
    table = engine.boto3_resource().create_table(
        TableName="Carts",
        KeySchema=[{"AttributeName": "account", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "account", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    table.put_item(Item={"account": "alex", "sku": "tea"})

    engine.faults.throttle(next=1)
    read_cart = bt.Request("GetItem", {"TableName": "Carts", "Key": {"account": {"S": "alex"}}})
    try:
        engine(read_cart)
    except bt.wire.ProvisionedThroughputExceededException as error:
        print(error.code)
    print(engine(read_cart)["Item"])
