import type { LivePosition, PositionState } from '../../../trading/positions/positionModel.ts'
import { CollateralAmount, parseAddress, Usd, type Address, type Hex, type OrderId } from '@bezel/protocol'
import { openTestLog } from '../../../journal/testing/testLog.ts'
import type { Changes } from '../../../journal/accountLog.ts'
import type { AgentRecord } from '../../../trading/agentRecord.ts'
import { createInProcessLimits } from '../../../access/inProcessLimits.ts'
import { createRegistrationLimit } from '../../../access/registrationLimit.ts'
import { requireAllowed } from '../../../access/limits.ts'
import { NO_CONTROLS } from '../../../access/testing/noControls.ts'
import type { JsonValue } from '../../../json/parseStrictJson.ts'
import { refoldOrder } from '../../../journal/refold.ts'
import { hashOf, lastAttempt } from '../../../orders/testing/chainEvents.ts'
import { openOrdersWorld, TRADER, type OrdersWorld } from '../../../orders/testing/ordersWorld.ts'
import { selectEngine } from '../../../signatures/engines.ts'
import { findAttempt } from '../../../store/attemptStore.ts'
import { readLeverage } from '../../../store/facadeLeverageStore.ts'
import type { TriggerKind } from '../../../store/facadeTriggerStore.ts'
import { takeId, insertOrder } from '../../../store/orderStore.ts'
import { insertOrderEvent, type OrderHandle } from '../../../store/orderEventStore.ts'
import { insertPosition } from '../../../store/positionStore.ts'
import type { Store } from '../../../store/sql.ts'
import { until } from '@bezel/testkit/until.ts'
import type { OrderEvent, OrderRequest } from '../../../trading/orders/orderModel.ts'
import type { Trade } from '../../../trading/valuation/chainState.ts'
import { POSITION, TRADE } from '../../../trading/valuation/testing/fixtures.ts'
import { createTriggers } from '../../triggers.ts'
import type { ActionToRelay } from '../../relayer/enqueueAction.ts'
import { createFacadeNonces } from '../../signing/facadeNonces.ts'
import type { ExchangeAction } from '../../signing/envelope.ts'
import { signL1 } from '@bezel/testkit/signEnvelope.ts'
import { VECTOR_KEY, VECTOR_SIGNER } from '../../signing/testing/vectorSigner.ts'
import { answerEnvelope } from '../exchange.ts'
import type { ExchangeAnswer } from '../exchangeAnswer.ts'
import type { ExchangeRelayer, TradingParts } from '../exchangeParts.ts'
import { createOrderWaits } from '../orderWaits.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'

export { TRADER }

export const SIGNER = parseAddress(VECTOR_SIGNER)!

export const RELAYER = parseAddress(`0x${'7e'.repeat(20)}`)!

/** The connection that brings the envelopes. */
export const BEARER = { network: '203.0.113.7', onCharge: requireAllowed }

const engine = await selectEngine()

/** A relayer that accepts everything and remembers it. */
export interface FakeRelayer extends ExchangeRelayer {
  readonly taken: (Pick<ActionToRelay, 'attempt' | 'trader' | 'purpose' | 'origin'> & { readonly hash: Hex })[]
  readonly broadcasts: Hex[]
  /** The traders whose revoked agents' entries were to be burnt. */
  readonly burnt: Address[]
  /** The error to throw instead of accepting. */
  refuse: Error | undefined
  /** Reports that a transaction failed on the chain. */
  fail(hash: Hex): void
  /** Makes a transaction final. Until then it is on its way. */
  settle(hash: Hex): void
  /** The number of listeners that wait for such a failure. */
  readonly watched: number
}

/**
 * The whole exchange side over a real store, a real registry and real nonces. The test controls the node, the markets
 * and the relayer.
 */
export interface ExchangeWorld {
  readonly base: OrdersWorld
  parts: TradingParts
  relayer: FakeRelayer
  /** All changes that were committed. */
  readonly committed: Changes[]
  /** Signs an action as the agent and sends it. */
  send(
    action: ExchangeAction,
    of?: {
      readonly key?: string
      readonly nonce?: number
      readonly vaultAddress?: Address
      readonly expiresAfter?: number
    },
  ): Promise<ExchangeAnswer>
  /** Sends an action and calls `chainSays` with the order's id as soon as the transaction is sent. */
  sendWhile(action: ExchangeAction, chainSays: (oid: OrderId) => Promise<void> | void): Promise<ExchangeAnswer>
  /** Reports a chain event of an order, by its newest attempt. */
  happen(
    id: string | number,
    event: Record<string, unknown> & { readonly kind: OrderEvent['kind'] },
    handle?: OrderHandle,
  ): Promise<void>
  /** Opens a position of the trader, in the store and in memory. */
  hold(trade?: Partial<Trade>): Promise<LivePosition>
  /** Changes the trade of a position as a followed block does. */
  change(id: OrderId, trade: Partial<Trade>): void
  /** Changes other parts of a position's state as a followed block does. */
  turn(id: OrderId, changes: Partial<PositionState>): void
  /** Returns the id of the order that a position's trigger is listed under. */
  triggerOid(id: OrderId, kind: TriggerKind): Promise<number>
  register(changes?: Partial<AgentRecord>): Promise<AgentRecord>
  /** Starts another process over the same files. */
  restart(): Promise<void>
  remove(): Promise<void>
}

/** Opens a world over a new store, or over one that the test has opened and closes. */
export async function openExchangeWorld(given?: Store): Promise<ExchangeWorld> {
  const base = await openOrdersWorld(given)
  base.node.delegate = RELAYER
  let lastNonce = base.market.nowMs
  const world: ExchangeWorld = {
    base,
    parts: undefined as never,
    relayer: fakeRelayer(),
    committed: [],
    send(action, { key = VECTOR_KEY, nonce = Math.max(lastNonce + 1, base.market.nowMs), ...of } = {}) {
      lastNonce = Math.max(lastNonce, nonce)
      return answerEnvelope(world.parts, signL1(key, { action, nonce, ...of }), BEARER)
    },
    sendWhile: (action, chainSays) => sendWhile(world, action, chainSays),
    happen: (id, event, handle) => happen(world, String(id) as OrderId, event, handle ?? null),
    async hold(trade = {}) {
      const position = await insertHeld(base, trade)
      base.positions.push(position)
      return position
    },
    change(id, trade) {
      const held = base.positions.find(({ record }) => record.id === id)!
      world.turn(id, { trade: { ...held.state.trade, ...trade } })
    },
    turn(id, changes) {
      const at = base.positions.findIndex(({ record }) => record.id === id)
      const { record, state: before } = base.positions[at]!
      const after = { ...before, ...changes }
      base.positions[at] = { record, state: after }
      world.parts.waits.apply({ awaited: [], positions: [{ record, after }] })
    },
    async triggerOid(id, kind) {
      const listed = await world.parts.reads.triggers.list(base.positions)
      const isPart = ({ record }: LivePosition): boolean => record.id === id
      return Number(listed.find((order) => order.kind === kind && order.parts.some(isPart))!.oid)
    },
    register: (changes = {}) => base.register({ agent: SIGNER, mode: 'relayed', ...changes }),
    async restart() {
      world.parts.waits.close()
      await base.restart()
      world.parts = await partsOf(world)
    },
    async remove() {
      world.parts.waits.close()
      await base.remove()
    },
  }
  world.parts = await partsOf(world)
  await world.register()
  return world
}

/** The fill wait of tests that let a chain event happen; the others use `HASTE_MS`, because nothing comes. */
const PATIENCE_MS = 20_000

const HASTE_MS = 60

async function partsOf({ base, relayer, committed }: ExchangeWorld): Promise<TradingParts> {
  const { store } = base.opened
  const now = (): number => base.market.nowMs
  const waits = createOrderWaits()
  const accountLog = openTestLog(
    store,
    'arbitrum',
    (changes) => {
      committed.push(changes)
      waits.apply({ ...changes, awaited: changes.orders })
    },
    now,
  )
  return {
    orders: { ...base.orders, accountLog },
    store,
    reads: {
      triggers: createTriggers(store),
      leverageOf: (trader, pairIndex) => readLeverage(store.read, { chain: 'arbitrum', trader, pairIndex }),
    },
    relayer,
    registry: base.registry,
    nonces: await createFacadeNonces({ store, now }),
    engine,
    sources: ['b', 'a'],
    needsOwnApproval: false,
    controls: NO_CONTROLS,
    limits: createInProcessLimits(),
    approvals: createInProcessLimits(),
    registrations: createRegistrationLimit(createInProcessLimits(), 10),
    agentLimit: 300,
    agentWritesLimit: 60,
    waits,
    fillWaitMs: HASTE_MS,
    now,
  }
}

async function sendWhile(
  world: ExchangeWorld,
  action: ExchangeAction,
  chainSays: (oid: OrderId) => Promise<void> | void,
): Promise<ExchangeAnswer> {
  const { taken, broadcasts } = world.relayer
  const before = broadcasts.length
  world.parts = { ...world.parts, fillWaitMs: PATIENCE_MS }
  const answer = world.send(action)
  await until('the relayer sends it', () => broadcasts.length > before)
  const made = await findAttempt(world.parts.store.read, taken.at(-1)!.attempt.id)
  await chainSays(made?.orderId ?? ('0' as OrderId))
  world.parts = { ...world.parts, fillWaitMs: HASTE_MS }
  return answer
}

async function happen(
  { base, parts }: ExchangeWorld,
  orderId: OrderId,
  event: Record<string, unknown>,
  handle: OrderHandle | null,
): Promise<void> {
  const blockNumber = (base.headBlock += 1)
  const place = { blockNumber, blockHash: hashOf(blockNumber), logIndex: 0, txHash: hashOf(blockNumber) }
  const { id: attemptId } = await lastAttempt(base, orderId)
  const full = { ...place, timestampMs: base.market.nowMs, attemptId, ...event } as OrderEvent
  await parts.orders.accountLog.transaction(
    { chain: 'arbitrum' },
    { block: blockNumber, isReorg: false },
    async (sql, journal) => {
      await insertOrderEvent(sql, { chain: 'arbitrum', trader: TRADER, orderId, handle, event: full })
      await refoldOrder(sql, orderId, base.orders.clock(), journal)
    },
  )
}

function fakeRelayer(): FakeRelayer {
  const taken: FakeRelayer['taken'] = []
  const settled = new Set<Hex>()
  const listeners = new Set<{ readonly hash: Hex; readonly listener: () => void }>()
  const relayer: FakeRelayer = {
    address: RELAYER,
    taken,
    broadcasts: [],
    burnt: [],
    refuse: undefined,
    async enqueue(sql, { attempt, trader, purpose, origin }: ActionToRelay) {
      if (relayer.refuse !== undefined) throw relayer.refuse
      const hash = hashOf(0xaa00 + taken.length)
      sql.afterCommit(() => void taken.push({ attempt, trader, purpose, origin, hash }))
      return { hash }
    },
    async broadcast(hash) {
      relayer.broadcasts.push(hash)
    },
    async burnRevoked(trader) {
      relayer.burnt.push(trader)
      return []
    },
    isOnItsWay: async (hash) => !settled.has(hash),
    onFailed(hash, listener) {
      const added = { hash, listener }
      listeners.add(added)
      return () => listeners.delete(added)
    },
    settle: (hash) => void settled.add(hash),
    fail(hash) {
      settled.add(hash)
      for (const one of listeners) if (one.hash === hash) one.listener()
    },
    get watched() {
      return listeners.size
    },
  }
  return relayer
}

async function insertHeld({ opened, positions }: OrdersWorld, trade: Partial<Trade>): Promise<LivePosition> {
  const { info, liquidationParams, feesData } = POSITION
  const index = positions.length + 4
  const state = {
    isOpen: true,
    trade: { ...TRADE, user: TRADER, index, ...trade },
    info,
    liquidationParams,
    feesData,
    maxClosingSlippageP: 0,
    pendingUpdate: null,
    oldBorrowing: null,
    updateRefusal: null,
    openedAtBlock: 1,
    openedAtMs: 1,
    updatedAtMs: 1,
  }
  return opened.store.transaction(TEST_SCOPE, async (sql) => {
    const [originOrderId, id] = [await takeId(sql), await takeId(sql)]
    const request = { clientId: null } as OrderRequest
    const order = { id: originOrderId, chain: 'arbitrum', trader: TRADER, agent: null, request } as const
    await insertOrder(sql, { ...order, createdAtMs: 1, originKey: null, spendUsd: Usd.zero })
    const record = { id, chain: 'arbitrum', trader: TRADER, originOrderId } as const
    await insertPosition(sql, record)
    return { record, state }
  })
}

/** Returns an order as a client sends it: a market buy of 0.1 BTC up to a price of 61,000, unless changed. */
export function orderItem(changes: Record<string, JsonValue> = {}): { [key: string]: JsonValue } {
  return { a: 0, b: true, p: '61000', s: '0.1', r: false, t: { limit: { tif: 'Ioc' } }, ...changes }
}

export const gtc = { limit: { tif: 'Gtc' } }

export const alo = { limit: { tif: 'Alo' } }

export const trigger = (tpsl: 'tp' | 'sl', triggerPx: string, isMarket = true): JsonValue => ({
  trigger: { isMarket, triggerPx, tpsl },
})

export function orderAction(...orders: JsonValue[]): ExchangeAction {
  return { type: 'order', orders, grouping: 'na' }
}

/** Returns the statuses of an answer. */
export function statusesOf(answer: ExchangeAnswer): readonly unknown[] {
  const { response } = answer
  if (typeof response === 'string' || !('data' in response)) throw new Error(`no statuses in ${JSON.stringify(answer)}`)
  return response.data.statuses
}

/** The fill of a market order of 0.1 BTC. */
export const FILL = {
  price: '60012',
  size: '0.09998',
  collateral: '600',
  feeCollateral: '3.6',
  txHash: hashOf(0xf1),
  timestamp: 1_800_000_000_000,
  positionId: null,
}

export const requested = { kind: 'requested', pendingIndex: 1, tradeIndex: 0 } as const

export const executed = { kind: 'executed', pendingIndex: 1, fill: FILL } as const

/** Returns the event of a resting order of 0.1 BTC at a price, by default 50,000, with the collateral that it costs. */
export const placedAt = (price = 50_000) =>
  ({
    kind: 'placed',
    tradeIndex: 4,
    // 0.1 BTC with half of a spread of 0.04 %, at the default leverage of 10.
    collateralAmount: CollateralAmount.of(BigInt(price) * 10_002n),
    price: BigInt(price) * 10n ** 10n,
    sl: 0n,
    tp: 0n,
    slippageP: 1_000,
  }) as const
