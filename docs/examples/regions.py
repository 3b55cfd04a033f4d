import bigtime as bt

orders = {
    "TableName": "Orders",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
replica = {"Create": {"RegionName": "eu-west-1"}}

with bt.Engine.memory() as engine:
    engine(bt.Request("CreateTable", orders))
    engine(bt.Request("PutItem", {"TableName": "Orders", "Item": {"id": {"S": "a"}}}))
    engine(bt.Request("UpdateTable", {"TableName": "Orders", "ReplicaUpdates": [replica]}))
    engine.tidy()  # or wait until DescribeTable says that the replica is ACTIVE
    ireland = engine.in_region("eu-west-1")
    print(ireland(bt.Request("Scan", {"TableName": "Orders"}))["Items"])
    for direction in engine.replication():
        print(direction.source, "to", direction.target, "pending:", direction.pending)
