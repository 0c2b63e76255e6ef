import { DEFAULT_DOMAIN_NAME } from '../../settings/config.ts'
import { refName } from '../openapi/openapiDocument.ts'
import type { Schema, Schemas } from '../openapi/schemaDescriber.ts'
import type { Order } from '@bezel/protocol'
import { ACCOUNT, AGENT, ORDER, POSITION, TRADE, TRADER } from '../asyncapi/exampleResources.ts'

// The examples show one trader who buys a little of BTC/USD, as those of the stream do.

const NOW = 1_790_000_000_000

const HASH = ORDER.txHash!

const DIAMOND = '0xd659a15812064c79e189fd950a189b15c75d3186'

const CHAIN_ID = 421_614

const SIGNATURE =
  '0x9b1d3f6f0d2c4ea58a7c1b90e64f2d31c5a8776f40be19d2e3c7586fa1b04d926e58c3f17a90b2d4685ce1f73a9d04b62c8f15e7d3a06b94f218ce57a3d0e9611c'

const PREPARED: Order = { ...ORDER, status: 'prepared', txHash: null, fill: null, expiresAt: NOW + 60_000 }

const TRANSACTION = {
  to: DIAMOND,
  data: '0x737b84cd0000000000000042',
  value: '0',
  chainId: CHAIN_ID,
  gas: '1250000',
  expiresAt: NOW + 60_000,
}

const FUNDING = {
  fundingRateLongHourly: '0.000412',
  fundingRateShortHourly: '-0.000398',
  borrowingRateHourly: '0.0011',
  openInterestLongUsd: '1250300',
  openInterestShortUsd: '1190200',
  skewUsd: '60100',
}

const REQUESTS = {
  CreateOrderRequest: {
    market: 'BTC/USD',
    side: 'long',
    type: 'market',
    size: '0.01',
    leverage: '10',
    tp: '68000',
    clientId: 'first-1',
  },
  UpdateOrderRequest: { price: '59000', sl: '55000' },
  UpdatePositionRequest: { sl: '58000', tp: '70000' },
  ClosePositionRequest: { size: '0.005', slippage: '0.5' },
  SubmitOrderRequest: { txHash: HASH },
  DismissNotificationRequest: { notificationId: 42 },
  CreateAgentRequest: {
    trader: TRADER,
    agent: AGENT,
    name: 'my bot',
    scope: { markets: 'all', maxLeverage: '50', dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
    timestamp: NOW,
    signature: SIGNATURE,
    agentSignature: SIGNATURE,
  },
  RevokeAgentRequest: { trader: TRADER, timestamp: NOW, signature: SIGNATURE },
  IssueApiKeyRequest: { trader: TRADER, label: 'dashboard', timestamp: NOW, signature: SIGNATURE },
}

/** Example values of named schemas. Values of other schemas are put together from their parts. */
const EXAMPLE_COMPONENTS: Readonly<Record<string, unknown>> = {
  Account: ACCOUNT,
  AccountEvent: {
    seq: 17,
    timestamp: ORDER.updatedAt,
    block: 215_007_431,
    reverted: false,
    channel: 'orders',
    data: ORDER,
  },
  Address: TRADER,
  Agent: ACCOUNT.agents[0],
  Amount: '938.7496',
  ApiKeyAnswer: { apiKey: 'bz_3q2-7wABcDeFgHiJkLmNoPqRsTuVwXyZ0123456789a', label: 'dashboard', trader: TRADER },
  BookLevel: { price: '59997', size: '0.200503358501258396', sizeUsd: '12029.6', cumulativeUsd: '12029.6' },
  Candle: { time: NOW, open: '61240', high: '61266.2', low: '61231.7', close: '61250.4' },
  ChainSlug: 'arbitrum-sepolia',
  Decimal: '0.01',
  ExchangeAnswer: { status: 'ok', response: { type: 'cancel', data: { statuses: ['success'] } } },
  FillHistoryEntry: {
    id: 318,
    market: 'BTC/USD',
    action: 'TradeOpenedMarket',
    side: 'long',
    price: '61262.9',
    size: '0.009997959612391121',
    collateral: '61.2504',
    leverage: '10',
    pnl: '0',
    timestamp: ORDER.updatedAt,
    txHash: HASH,
    positionId: POSITION.id,
    orderId: ORDER.id,
    clientId: ORDER.clientId,
    collateralSymbol: 'USDC',
    feeCollateral: '0.3675',
    fundingFee: '0',
    borrowingFee: '0',
    deposit: '61.2504',
    payout: '0',
    forfeited: '0',
    netPnl: '-0.3675',
  },
  Funding: FUNDING,
  Hex: HASH,
  Id: ORDER.id,
  MarketFunding: { ...FUNDING, market: 'BTC/USD' },
  MarketCollateral: { symbol: 'USDC', index: 3, address: '0x4cc7eba08d0571a43ef6d4d80ed4a13bdd2fde41', decimals: 6 },
  MarketSymbol: 'BTC/USD',
  Notification: {
    id: 42,
    type: 'stop_loss_hit',
    severity: 'warning',
    title: 'Stop loss hit',
    message: 'The long of 0.02 BTC/USD on arbitrum was closed by its stop loss at 59498.2.',
    market: 'BTC/USD',
    orderId: '1207',
    positionId: '1180',
    link: '/v1/arbitrum/orders/1207',
    createdAt: NOW,
    expiresAt: NOW + 604_800_000,
  },
  Order: ORDER,
  Position: POSITION,
  PreparedOrder: { order: PREPARED, transaction: TRANSACTION },
  PreparedPosition: { position: POSITION, transaction: TRANSACTION },
  PreparedTransaction: TRANSACTION,
  Price: { market: 'BTC/USD', mark: '61250.4', index: '61248.1', updatedAt: NOW },
  RecentTrade: TRADE,
  Seq: 17,
  Side: 'long',
  Timestamp: NOW,
  TransactionRequest: { to: DIAMOND, data: '0x604755cf', chainId: CHAIN_ID },
  Warning: {
    code: 'sl_clamped',
    field: 'sl',
    asked: '40000',
    value: '56127.9',
    message:
      'The contracts keep a stop loss away from the liquidation price: it becomes 56127.9, measured from the entry price.',
  },
  ...REQUESTS,
}

/** Example values by field name, where any value of the type is valid but few make sense. */
const BY_FIELD: Readonly<Record<string, unknown>> = {
  action: { type: 'cancel', cancels: [{ a: 0, o: 1042 }] },
  base: 'BTC',
  chainId: 421_614,
  closeFeeRate: '0.06',
  emptyBodyHash: '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  maxLeverage: '150',
  markPrice: '60000',
  minCollateralUsd: '5',
  minLeverage: '1.1',
  minPositionSizeUsd: '1500',
  minPositionUsd: '1500',
  name: DEFAULT_DOMAIN_NAME,
  nonce: 1_790_000_000_000,
  openFeeRate: '0.06',
  pricePrecision: 10,
  quote: 'USD',
  r: '0x9b1d3f6f0d2c4ea58a7c1b90e64f2d31c5a8776f40be19d2e3c7586fa1b04d92',
  s: '0x6e58c3f17a90b2d4685ce1f73a9d04b62c8f15e7d3a06b94f218ce57a3d0e961',
  v: 28,
  sizePrecision: 8,
  spreadRate: '0.02',
  testnet: true,
  ready: true,
  version: '1',
}

const FIELDS_OF_A_REQUEST = [
  { name: 'method', type: 'string' },
  { name: 'path', type: 'string' },
  { name: 'bodyHash', type: 'bytes32' },
  { name: 'timestamp', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
]

/** Longest line of an example; a value that fits is kept on one line. */
const MAX_LINE = 88

/** Returns an example value of a schema. `field` is the name of the field that holds it. */
export function exampleOf(schema: Schema, schemas: Schemas, field = ''): unknown {
  if (field === 'fields') return FIELDS_OF_A_REQUEST
  if (Object.hasOwn(BY_FIELD, field)) return BY_FIELD[field]
  if (schema.$ref !== undefined) return exampleOfNamed(refName(schema.$ref), schemas)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (field === 'nextCursor') return null
  const { anyOf, items, properties, additionalProperties } = schema
  if (anyOf !== undefined) return exampleOf(anyOf[0]!, schemas, field)
  if (properties !== undefined) return exampleOfFields(schema, schemas)
  if (typeof additionalProperties === 'object') {
    return { [String(EXAMPLE_COMPONENTS.ChainSlug)]: exampleOf(additionalProperties, schemas) }
  }
  if (schema.type === 'array') return items === undefined ? [] : [exampleOf(items, schemas)]
  if (schema.type === 'boolean') return true
  return schema.type === 'integer' || schema.type === 'number' ? (schema.minimum ?? 0) : ''
}

function exampleOfNamed(name: string, schemas: Schemas): unknown {
  if (Object.hasOwn(EXAMPLE_COMPONENTS, name)) return EXAMPLE_COMPONENTS[name]
  return exampleOf(schemas[name] ?? {}, schemas)
}

/** Returns an example with the required fields, or with all fields when the schema names no required ones. */
function exampleOfFields({ properties = {}, required }: Schema, schemas: Schemas): unknown {
  const fields = Object.entries(properties).filter(([name]) => required?.includes(name) ?? true)
  return Object.fromEntries(fields.map(([name, of]) => [name, exampleOf(of, schemas, name)]))
}

/** Returns a value as a markdown block of JSON, with as few lines as fit. */
export function jsonBlock(value: unknown): string {
  return `\`\`\`json\n${textOf(value, 0)}\n\`\`\``
}

function textOf(value: unknown, indent: number, before = 0): string {
  const line = lineOf(value)
  if (typeof value !== 'object' || value === null || indent + before + line.length <= MAX_LINE) return line
  const inner = indent + 2
  const pad = ' '.repeat(inner)
  const parts = Array.isArray(value)
    ? value.map((item) => pad + textOf(item, inner))
    : Object.entries(value).map(([key, item]) => `${pad}"${key}": ${textOf(item, inner, key.length + 4)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.join(',\n')}\n${' '.repeat(indent)}${close}`
}

function lineOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(lineOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Object.entries(value).map(([key, item]) => `"${key}": ${lineOf(item)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
