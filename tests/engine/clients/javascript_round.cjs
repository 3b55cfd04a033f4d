// The AWS SDK for JavaScript v3 against the endpoint in argv[2]: create, read, update, delete,
// query, transactions and pages. What was seen goes to stdout as one JSON object.

const {
  DynamoDBClient, CreateTableCommand, DeleteTableCommand, ListTablesCommand,
  waitUntilTableExists, waitUntilTableNotExists,
} = require('@aws-sdk/client-dynamodb')
const {
  DynamoDBDocumentClient, PutCommand, GetCommand, UpdateCommand, DeleteCommand, BatchWriteCommand,
  TransactWriteCommand, TransactGetCommand, paginateQuery, paginateScan,
} = require('@aws-sdk/lib-dynamodb')

const TableName = 'JavaScript'
const client = new DynamoDBClient({
  endpoint: process.argv[2],
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
})
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

async function deleteTable () {
  await client.send(new DeleteTableCommand({ TableName }))
  await waitUntilTableNotExists({ client, maxWaitTime: 30 }, { TableName })
  return true
}

async function round () {
  const seen = { created: await createTable(), items: await createReadUpdateDelete() }
  await fill()
  Object.assign(seen, { query: await query(), scan: await scan(), transact: await transact() })
  seen.deleted = await deleteTable()
  console.log(JSON.stringify(seen))
}

round().catch((error) => {
  console.error(error)
  process.exit(1)
})
