// The AWS SDK for JavaScript v3 against the endpoint in argv[2]: create, read, update, delete,
// query, transactions and pages, then PartiQL, backups, exports and imports, replicas and policies.
// What was seen goes to stdout as one JSON object.

const {
  DynamoDBClient, CreateTableCommand, DeleteTableCommand, DescribeTableCommand, ListTablesCommand,
  UpdateTableCommand, UpdateContinuousBackupsCommand, RestoreTableToPointInTimeCommand,
  CreateBackupCommand, DescribeBackupCommand, RestoreTableFromBackupCommand,
  ExportTableToPointInTimeCommand, DescribeExportCommand, ImportTableCommand, DescribeImportCommand,
  PutResourcePolicyCommand, GetResourcePolicyCommand, DeleteResourcePolicyCommand,
  waitUntilTableExists, waitUntilTableNotExists,
} = require('@aws-sdk/client-dynamodb')
const {
  DynamoDBDocumentClient, PutCommand, GetCommand, UpdateCommand, DeleteCommand, BatchWriteCommand,
  TransactWriteCommand, TransactGetCommand, ExecuteStatementCommand, BatchExecuteStatementCommand,
  ExecuteTransactionCommand, paginateQuery, paginateScan,
} = require('@aws-sdk/lib-dynamodb')

const TableName = 'JavaScript'
const settings = {
  endpoint: process.argv[2],
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
}
const client = new DynamoDBClient(settings)
const documents = DynamoDBDocumentClient.from(client)

async function createTable () {
  await client.send(new CreateTableCommand({
    TableName,
    KeySchema: [
      { AttributeName: 'customer', KeyType: 'HASH' },
      { AttributeName: 'number', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'customer', AttributeType: 'S' },
      { AttributeName: 'number', AttributeType: 'N' },
      { AttributeName: 'status', AttributeType: 'S' },
    ],
    GlobalSecondaryIndexes: [{
      IndexName: 'ByStatus',
      KeySchema: [{ AttributeName: 'status', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'ALL' },
    }],
    BillingMode: 'PAY_PER_REQUEST',
  }))
  await waitUntilTableExists({ client, maxWaitTime: 30 }, { TableName })
  return (await client.send(new ListTablesCommand({}))).TableNames.includes(TableName)
}

async function createReadUpdateDelete () {
  const Key = { customer: 'alex', number: 1 }
  const Item = { ...Key, raw: new Uint8Array([0, 255]), tags: new Set(['tea']), lines: [{ gift: true }] }
  await documents.send(new PutCommand({ TableName, Item }))
  const read = (await documents.send(new GetCommand({ TableName, Key }))).Item
  const updated = await documents.send(new UpdateCommand({
    TableName,
    Key,
    UpdateExpression: 'SET price = :price ADD seen :one',
    ExpressionAttributeValues: { ':price': 19.99, ':one': 1 },
    ReturnValues: 'ALL_NEW',
  }))
  const refused = await documents.send(new PutCommand({
    TableName, Item, ConditionExpression: 'attribute_not_exists(customer)',
  })).catch((error) => error.name)
  await documents.send(new DeleteCommand({ TableName, Key }))
  const gone = (await documents.send(new GetCommand({ TableName, Key }))).Item === undefined
  return {
    raw: [...read.raw], tags: [...read.tags], gift: read.lines[0].gift,
    price: updated.Attributes.price, seen: updated.Attributes.seen, refused, gone,
  }
}

async function fill () {
  for (let first = 0; first < 50; first += 25) {
    const puts = Array.from({ length: 25 }, (_, i) => ({
      PutRequest: {
        Item: {
          customer: 'sam', number: first + i, status: i % 5 ? 'open' : 'paid', text: 'x'.repeat(30_000),
        },
      },
    }))
    await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }))
  }
}

async function query () {
  const numbers = []
  const pages = paginateQuery({ client: documents, pageSize: 20 }, {
    TableName,
    KeyConditionExpression: 'customer = :sam AND #number >= :ten',
    ExpressionAttributeNames: { '#number': 'number' },
    ExpressionAttributeValues: { ':sam': 'sam', ':ten': 10 },
    ScanIndexForward: false,
  })
  for await (const page of pages) numbers.push(...page.Items.map((item) => item.number))
  const paid = []
  const indexed = paginateQuery({ client: documents }, {
    TableName,
    IndexName: 'ByStatus',
    KeyConditionExpression: '#status = :paid',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':paid': 'paid' },
  })
  for await (const page of indexed) paid.push(...page.Items)
  return { first: numbers[0], last: numbers.at(-1), count: numbers.length, paid: paid.length }
}

async function scan () {
  let pages = 0
  let items = 0
  for await (const page of paginateScan({ client: documents }, { TableName })) {
    pages += 1
    items += page.Items.length
  }
  return { pages, items }
}

async function transact () {
  const put = (number) => ({ Put: { TableName, Item: { customer: 'kim', number } } })
  const check = {
    ConditionCheck: {
      TableName,
      Key: { customer: 'nobody', number: 0 },
      ConditionExpression: 'attribute_exists(customer)',
    },
  }
  await documents.send(new TransactWriteCommand({ TransactItems: [put(1), put(2)] }))
  const reasons = await documents.send(new TransactWriteCommand({ TransactItems: [put(3), check] }))
    .catch((error) => error.CancellationReasons.map((reason) => reason.Code))
  const get = (number) => ({ Get: { TableName, Key: { customer: 'kim', number } } })
  const { Responses } = await documents.send(new TransactGetCommand({
    TransactItems: [get(1), get(2), get(3)],
  }))
  return { reasons, found: Responses.map((response) => response.Item !== undefined) }
}

async function until (look, wanted) {
  for (let tries = 0; tries < 1200; tries += 1) {
    const seen = await look()
    if (seen === wanted) return seen
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${wanted} was never seen`)
}

async function statements () {
  const where = "WHERE customer = 'lee' AND \"number\" = "
  const run = (Statement, Parameters) =>
    documents.send(new ExecuteStatementCommand({ Statement, Parameters }))
  for (const number of [1, 2, 3]) {
    await run(`INSERT INTO ${TableName} VALUE {'customer': ?, 'number': ?}`, ['lee', number])
  }
  const twice = await run(`INSERT INTO ${TableName} VALUE {'customer': 'lee', 'number': 1}`)
    .catch((error) => error.name)
  const updated = await run(`UPDATE ${TableName} SET seen = 1 ${where}1 RETURNING ALL NEW *`)
  const selected = await run(
    `SELECT "number" FROM ${TableName} WHERE customer = ? ORDER BY "number" DESC`, ['lee'])
  const batch = await documents.send(new BatchExecuteStatementCommand({
    Statements: [1, 9].map((number) => ({ Statement: `SELECT seen FROM ${TableName} ${where}${number}` })),
  }))
  const reasons = await documents.send(new ExecuteTransactionCommand({
    TransactStatements: [
      { Statement: `DELETE FROM ${TableName} ${where}2` },
      { Statement: `EXISTS(SELECT * FROM ${TableName} ${where}9 AND seen = 1)` },
    ],
  })).catch((error) => error.CancellationReasons.map((reason) => reason.Code))
  return {
    twice, seen: updated.Items[0].seen, numbers: selected.Items.map((item) => item.number),
    batch: batch.Responses.map((response) => response.Item?.seen ?? null), reasons,
  }
}

async function count (table) {
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1, maxDelay: 1 }, { TableName: table })
  const name = `SELECT * FROM "${table}" WHERE customer = 'lee'`
  return (await documents.send(new ExecuteStatementCommand({ Statement: name }))).Items.length
}

async function recover () {
  await client.send(new UpdateContinuousBackupsCommand({
    TableName, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  }))
  const { BackupDetails: { BackupArn } } = await client.send(
    new CreateBackupCommand({ TableName, BackupName: 'mine' }))
  await documents.send(new DeleteCommand({ TableName, Key: { customer: 'lee', number: 3 } }))
  await until(async () => (await client.send(new DescribeBackupCommand({ BackupArn })))
    .BackupDescription.BackupDetails.BackupStatus, 'AVAILABLE')
  await client.send(new RestoreTableFromBackupCommand({ BackupArn, TargetTableName: `${TableName}Old` }))
  await client.send(new RestoreTableToPointInTimeCommand({
    SourceTableName: TableName, TargetTableName: `${TableName}Latest`, UseLatestRestorableTime: true,
  }))
  return { before: await count(`${TableName}Old`), after: await count(`${TableName}Latest`) }
}

async function transfer () {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  const { ExportDescription: { ExportArn } } = await client.send(
    new ExportTableToPointInTimeCommand({ TableArn: Table.TableArn, S3Bucket: 'rounds', S3Prefix: 'js' }))
  const exported = async () => (await client.send(new DescribeExportCommand({ ExportArn }))).ExportDescription
  await until(async () => (await exported()).ExportStatus, 'COMPLETED')
  const S3KeyPrefix = (await exported()).ExportManifest.replace('manifest-summary.json', 'data/')
  const { ImportTableDescription: { ImportArn } } = await client.send(new ImportTableCommand({
    S3BucketSource: { S3Bucket: 'rounds', S3KeyPrefix },
    InputFormat: 'DYNAMODB_JSON',
    InputCompressionType: 'GZIP',
    TableCreationParameters: {
      TableName: `${TableName}Copy`,
      KeySchema: Table.KeySchema,
      AttributeDefinitions: Table.AttributeDefinitions.slice(0, 2),
      BillingMode: 'PAY_PER_REQUEST',
    },
  }))
  await until(async () => (await client.send(new DescribeImportCommand({ ImportArn })))
    .ImportTableDescription.ImportStatus, 'COMPLETED')
  return count(`${TableName}Copy`)
}

async function replicate () {
  const away = DynamoDBDocumentClient.from(new DynamoDBClient({ ...settings, region: 'eu-west-1' }))
  const change = (update) => client.send(new UpdateTableCommand({ TableName, ReplicaUpdates: [update] }))
  const status = async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }))
    return Table.Replicas?.find((replica) => replica.RegionName === 'eu-west-1')?.ReplicaStatus ?? 'none'
  }
  await change({ Create: { RegionName: 'eu-west-1' } })
  await until(status, 'ACTIVE')
  await away.send(new PutCommand({ TableName, Item: { customer: 'ada', number: 1 } }))
  const seen = await until(async () => (await documents.send(
    new GetCommand({ TableName, Key: { customer: 'ada', number: 1 } }))).Item?.customer, 'ada')
  await change({ Delete: { RegionName: 'eu-west-1' } })
  return { seen, replicas: await until(status, 'none') }
}

async function keepPolicy () {
  const { Table: { TableArn: ResourceArn } } = await client.send(new DescribeTableCommand({ TableName }))
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Deny', Principal: '*', Action: 'dynamodb:Scan', Resource: ResourceArn }],
  })
  await client.send(new PutResourcePolicyCommand({ ResourceArn, Policy }))
  const kept = (await client.send(new GetResourcePolicyCommand({ ResourceArn }))).Policy
  const scanned = await scan().then(() => 'done', (error) => error.name)
  await client.send(new DeleteResourcePolicyCommand({ ResourceArn }))
  const gone = await client.send(new GetResourcePolicyCommand({ ResourceArn }))
    .catch((error) => error.name)
  return { kept: JSON.parse(kept).Statement[0].Effect, scanned, gone }
}

async function deleteTable () {
  await client.send(new DeleteTableCommand({ TableName }))
  await waitUntilTableNotExists({ client, maxWaitTime: 30 }, { TableName })
  return true
}

async function round () {
  const seen = { created: await createTable(), items: await createReadUpdateDelete() }
  await fill()
  Object.assign(seen, { query: await query(), scan: await scan(), transact: await transact() })
  Object.assign(seen, { statements: await statements(), recovered: await recover() })
  Object.assign(seen, { transferred: await transfer(), replicated: await replicate() })
  seen.policy = await keepPolicy()
  seen.deleted = await deleteTable()
  console.log(JSON.stringify(seen))
}

round().catch((error) => {
  console.error(error)
  process.exit(1)
})
