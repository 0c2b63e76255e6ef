import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Position } from '@bezel/protocol'
import { send } from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { BUSY, untilSettled } from '@bezel/testkit/untilSettled.ts'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { FacadeWorld } from '../facade/facadeWorld.ts'
import { connectRaw, envelopeOf, postRaw, type RawEnvelope } from '../facade/rawExchange.ts'

const SLUG = 'arbitrum-sepolia'
/** The command as npx finds it. */
const OPERATOR = fileURLToPath(new URL('../../packages/server/bezel-server.mjs', import.meta.url))

export const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
export const RESTING = { ...MARKET, type: 'limit', price: '50000' }

/** Settings of a world that a test changes between two starts of its service. */
export type ServiceSettings = Record<string, string>

/** The outcome of an operator's command. */
interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Starts the operator's command as an operator does. `ended` tells its outcome. */
export function startOperator(
  env: Readonly<Record<string, string>>,
  ...words: readonly string[]
): { readonly child: ChildProcess; readonly ended: Promise<Ran> } {
  const child = spawn(process.execPath, [OPERATOR, ...words], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const told = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (told.out += String(chunk)))
  child.stderr.on('data', (chunk) => (told.err += String(chunk)))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...told }))
  return { child, ended }
}

/** A trader on the facade, whose agent the relayer sends for. */
export interface FacadeTrader {
  readonly address: string
  readonly wallet: PrivateKeyAccount
}

/** The exchange of the facade at the service's present address. */
const exchangeOf = (world: FacadeWorld) => ({ base: `${world.url()}/hl/${SLUG}` })

export async function connectFacade(world: FacadeWorld, trader: string, agent: string): Promise<FacadeTrader> {
  return { address: world.chain.account(trader).address, wallet: await connectRaw(world, trader, agent) }
}

/** Makes the envelope of a limit order. */
export function orderEnvelope({ wallet }: FacadeTrader, of: { readonly price: string; readonly cloid: string }) {
  const order = { a: 0, b: true, p: of.price, s: '0.01', r: false, t: { limit: { tif: 'Gtc' } }, c: of.cloid }
  return envelopeOf(wallet, { type: 'order', orders: [order], grouping: 'na' })
}

/** Sends an envelope, and returns the text of the answer. */
export async function sendEnvelope(world: FacadeWorld, envelope: RawEnvelope): Promise<string> {
  return (await postRaw(exchangeOf(world), envelope)).text
}

/** Places a resting order on the facade, with a new envelope while the service refuses it. Returns the last one. */
export function placeOnFacade(
  world: FacadeWorld,
  trader: FacadeTrader,
  of: { readonly price: string; readonly cloid: string },
): Promise<RawEnvelope> {
  return until(`${of.cloid} rests`, async (saw) => {
    const envelope = await orderEnvelope(trader, of)
    const text = await sendEnvelope(world, envelope)
    saw(text)
    return JSON.parse(text).response?.data?.statuses?.[0]?.resting === undefined ? undefined : envelope
  })
}

export async function info(world: FacadeWorld, body: object): Promise<unknown> {
  const answer = await untilSettled(() => send(exchangeOf(world).base, 'POST', '/info', body), BUSY)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

/** Fields of a position that change with the price, the time and the block. */
const VALUED: ReadonlySet<string> = new Set([
  'markPrice',
  'liquidationPrice',
  'unrealizedPnl',
  'unrealizedPnlPercent',
  'fundingFee',
  'borrowingFee',
  'priceAt',
])

/** Reads everything of a native trader and of a facade's that does not change by itself, by its name. */
export async function readEverything(
  world: FacadeWorld,
  client: TradingClient,
  { address: user }: FacadeTrader,
  cloid: string,
): Promise<Record<string, unknown>> {
  const read = async (path: string, operation: string): Promise<unknown> => {
    const { status, body } = await untilSettled(() => client.account(path, operation), BUSY)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const positions = (await read('/positions', 'listPositions')) as { data: Position[] }
  const { body: agent } = await client.request('getAgent', 'GET', `/agents/${client.agent.address}`)
  return {
    orders: await read('/orders', 'listOpenOrders'),
    history: await read('/orders/history', 'listOrderHistory'),
    fills: await read('/fills', 'listFills'),
    events: await read('/events', 'listEvents'),
    audit: await read('/audit', 'listAudit'),
    positions: positions.data.map((position) =>
      Object.fromEntries(Object.entries(position).filter(([name]) => !VALUED.has(name))),
    ),
    agent,
    facadeOpen: await info(world, { type: 'frontendOpenOrders', user }),
    facadeHistory: await info(world, { type: 'historicalOrders', user }),
    facadeFills: await info(world, { type: 'userFills', user }),
    facadeAgents: await info(world, { type: 'extraAgents', user }),
    facadeOrder: await info(world, { type: 'orderStatus', user, oid: cloid }),
  }
}
