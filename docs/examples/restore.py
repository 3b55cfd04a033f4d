import time

import bigtime as bt

with bt.Engine.memory() as engine:
    carts = engine.boto3_resource().create_table(
        TableName="Carts",
        KeySchema=[{"AttributeName": "account", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "account", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    engine.boto3_client().update_continuous_backups(
        TableName="Carts",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )
    carts.put_item(Item={"account": "alex", "sku": "tea"})
    good = time.time()
    carts.delete_item(Key={"account": "alex"})

    restore = {
        "SourceTableName": "Carts",
        "TargetTableName": "RestoredCarts",
        "RestoreDateTime": good,
    }
    engine(bt.Request("RestoreTableToPointInTime", restore))
    engine.tidy()  # or wait: it is filled in the background
    print(engine.boto3_resource().Table("RestoredCarts").scan()["Items"])
