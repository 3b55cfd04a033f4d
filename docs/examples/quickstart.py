import bigtime as bt

with bt.Engine.memory() as engine:  # or bt.Engine.open("shop.db"), which is durable
    orders = engine.boto3_resource().create_table(
        TableName="Orders",
        KeySchema=[{"AttributeName": "customer", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "customer", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    orders.put_item(Item={"customer": "alex", "lines": ["tea", "cups"]})
    print(orders.get_item(Key={"customer": "alex"})["Item"])
