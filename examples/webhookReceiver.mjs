// An HTTP server that turns alerts into orders. An alert is JSON, as charting services post it:
// {"secret": "…", "id": "breakout-17", "market": "BTC/USD", "side": "long", "size": "0.01", "leverage": "5"}
// The answer comes as soon as the order is sent; the fill is logged later. The same id never orders twice, however
// often it is posted.
// Needs: `npm start` in another terminal, and ALERT_SECRET in the environment.
// Run: ALERT_SECRET=… node examples/run.mjs webhookReceiver [--port 8090]
// Stop: Ctrl-C. Orders that were sent continue by themselves.
// Not for the open internet as it is: it serves plain HTTP on this machine alone, so put a proxy with TLS in front of
// it. Whoever has the secret can trade up to the agent's limits below.
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { BezelApiError, BezelError, BroadcastError, OrderSubmitReportError } from '@bezel/sdk'
import { connect } from './devnet.mjs'

const MAX_BODY_BYTES = 4_096
const MIN_SECRET_CHARS = 16
const FIELDS = ['market', 'side', 'size', 'leverage']
/** The limits of the agent, and so of all alerts. The service refuses everything beyond them. */
const SCOPE = { markets: ['BTC/USD', 'ETH/USD'], maxLeverage: '10', dailySpendCapUsd: '50000' }

const { values } = parseArgs({ options: { port: { type: 'string', default: '8090' } } })
const secret = process.env.ALERT_SECRET ?? ''
if (secret.length < MIN_SECRET_CHARS) {
  console.error(`Set ALERT_SECRET to ${MIN_SECRET_CHARS} or more characters that only the sender of the alerts knows.`)
  process.exit(1)
}

const client = await connect('trader-3', 'agent-3', { name: 'alerts', scope: SCOPE })
/** Alerts whose transaction may or may not have been sent: a person must check them. */
const unclear = new Map()
/** The queue of orders, because one wallet sends one transaction after the other. */
let queue = Promise.resolve()

const server = createServer({ requestTimeout: 10_000 }, async (request, response) => {
  const { status, body } = await answerTo(request).catch(answerOf)
  // The unread rest of a body that is too long would be taken for the next request, so the connection is closed.
  const headers = { 'content-type': 'application/json', ...(status === 413 ? { connection: 'close' } : {}) }
  response.writeHead(status, headers).end(JSON.stringify(body))
})
server.listen(Number(values.port), '127.0.0.1', () =>
  console.log(`listening at http://127.0.0.1:${server.address().port}/alert`),
)
server.once('error', (error) => {
  console.error(`Port ${values.port} can't be used (${error.code}): choose another one with --port.`)
  process.exit(1)
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0))

async function answerTo(request) {
  if (request.url !== '/alert') throw refusal(404, 'NOT_FOUND', 'Alerts are posted to /alert.')
  if (request.method !== 'POST') throw refusal(405, 'METHOD_NOT_ALLOWED', 'Alerts are posted.')
  const alert = parse(await bodyOf(request))
  if (!isSecret(alert.secret)) throw refusal(401, 'WRONG_SECRET', 'The secret of the alert is not ours.')
  for (const field of ['id', ...FIELDS]) {
    if (typeof alert[field] !== 'string') throw refusal(400, 'VALIDATION_ERROR', `The alert has no text ${field}.`)
  }
  const turn = queue.then(() => place(alert))
  queue = turn.catch(() => {})
  const order = await turn
  return { status: 202, body: { orderId: order.id, status: order.status } }
}

/**
 * Places the order of an alert. The alert's id is the order's clientId: the same alert again is the same order, and a
 * different alert with that id is refused.
 */
async function place({ id, ...alert }) {
  if (unclear.has(id)) throw unclear.get(id)
  const request = Object.fromEntries(FIELDS.map((field) => [field, alert[field]]))
  try {
    const order = await client.orders.create({ ...request, type: 'market', clientId: `alert-${id}` })
    // Without a hash nothing was sent: this is a repeat, whose fill is already awaited.
    if (order.txHash !== null) void logFill(id, order)
    return order
  } catch (error) {
    if (error instanceof BroadcastError) unclear.set(id, error)
    if (!(error instanceof OrderSubmitReportError)) throw error
    // The order was sent but not reported: the service finds it on the chain, and it must not be sent again.
    void logFill(id, error.orderId)
    return { id: error.orderId, status: 'pending' }
  }
}

async function logFill(id, order) {
  try {
    const tracked = typeof order === 'string' ? await client.orders.track(order) : order
    const { fill } = await tracked.waitForFill()
    console.log(`alert ${id}: order ${tracked.id} filled, ${fill.size} at ${fill.price}`)
  } catch (error) {
    console.error(`alert ${id}: ${error.message}`)
  }
}

async function bodyOf(request) {
  let body = Buffer.alloc(0)
  for await (const part of request) {
    body = Buffer.concat([body, part])
    if (body.length > MAX_BODY_BYTES)
      throw refusal(413, 'PAYLOAD_TOO_LARGE', `An alert has at most ${MAX_BODY_BYTES} bytes.`)
  }
  return body.toString('utf8')
}

function parse(text) {
  try {
    const alert = JSON.parse(text)
    if (typeof alert === 'object' && alert !== null) return alert
  } catch {
    // The refusal below does not repeat the input, which may contain the secret.
  }
  throw refusal(400, 'INVALID_JSON', 'An alert is a JSON object.')
}

/** Compares a secret in constant time; the hashes give both sides the same length. */
function isSecret(guess) {
  const hash = (text) => createHash('sha256').update(text).digest()
  return typeof guess === 'string' && timingSafeEqual(hash(guess), hash(secret))
}

function refusal(status, code, message) {
  return Object.assign(new Error(message), { status, code })
}

/**
 * Returns the answer to an error. Refusals of the service are passed on; a retryable error is a 503, so that the sender
 * repeats the alert.
 */
function answerOf(error) {
  const isOurs = !(error instanceof BezelError) && error.status !== undefined
  const isRefused = error instanceof BezelApiError && !error.retryable
  const status = isOurs ? error.status : isRefused ? 422 : error instanceof BroadcastError ? 502 : 503
  if (!isOurs) console.error(error.message)
  return { status, body: { code: error.code ?? 'INTERNAL_ERROR', message: error.message } }
}
