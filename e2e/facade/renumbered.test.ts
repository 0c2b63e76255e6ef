import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi } from '@bezel/protocol'
import { readRelayedTransactions, type RelayedTransaction } from '@bezel/testkit/relayedTransactions.ts'
import { until } from '@bezel/testkit/until.ts'
import { SubscriptionClient, WebSocketTransport } from '@nktkas/hyperliquid'
import { decodeFunctionData, formatUnits } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { startFacadeWorld, type FacadeWorld } from './facadeWorld.ts'
import { connectRaw, envelopeOf, freshNonce, postRaw } from './rawExchange.ts'

const BTC = 0
const GTC = { limit: { tif: 'Gtc' } }

/** The prices of the three orders, in the order in which they are placed. */
const [FIRST, SECOND, THIRD] = [50_000, 51_000, 52_000]

const WORLD = {
  // Few blocks, so that nothing of a slow story is final when it is reorganised.
  devnet: { DEVNET_BLOCK_MS: '2000' },
  // What is dropped can be sent again however long a story takes.
  service: { BEZEL_PREPARED_RESTING_MS: '3600000', BEZEL_FACADE_FILL_WAIT_MS: '60000' },
}

interface Status {
  readonly resting?: { readonly oid: number }
}

/** A trader with three orders that rest as trades 0, 1 and 2 of the chain, of which a relayed cancel ended number 1. */
interface Desk {
  readonly trader: string
  readonly wallet: PrivateKeyAccount
  /** Ids of the second and the third order. */
  readonly oids: readonly [number, number]
  /** Number of the last block before the first order. */
  readonly since: bigint
  /** The mined cancel. */
  readonly cancel: RelayedTransaction
}

describe('orders that a reorganisation numbers anew', () => {
  let world: FacadeWorld

  before(async () => {
    world = await startFacadeWorld(WORLD)
  })
  after(() => world?.stop())

  /** Sends an action, again while the service or its node is not ready, and returns the status of each of its items. */
  async function act(wallet: PrivateKeyAccount, action: { readonly type: string }, expiresInMs?: number) {
    const answer = await until(`${action.type} is answered`, async (saw) => {
      const nonce = freshNonce()
      const of = expiresInMs === undefined ? { nonce } : { nonce, expiresAfter: nonce + expiresInMs }
      // A restarted service has another port.
      const base = `${world.url()}/hl/arbitrum-sepolia`
      const { status, text } = await postRaw({ base }, await envelopeOf(wallet, action, of))
      saw(text)
      return status === 200 ? { nonce, body: JSON.parse(text) } : undefined
    })
    const { nonce, body } = answer
    return { nonce, statuses: (body.response?.data?.statuses ?? [body.response]) as readonly (Status | string)[] }
  }

  const limit = (usd: number) => ({ a: BTC, b: true, p: String(usd), s: '0.05', r: false, t: GTC })
  const place = (wallet: PrivateKeyAccount, usd: readonly number[], expiresInMs?: number) =>
    act(wallet, { type: 'order', orders: usd.map(limit), grouping: 'na' } as { type: string }, expiresInMs)
  const cancel = (wallet: PrivateKeyAccount, oid: number) =>
    act(wallet, { type: 'cancel', cancels: [{ a: BTC, o: oid }] } as { type: string })
  const oidOf = (status: Status | string | undefined): number =>
    typeof status === 'object' && status.resting !== undefined
      ? status.resting.oid
      : assert.fail(JSON.stringify(status))

  /** Reads a trader's resting orders from the chain itself: the price of each by its number. */
  async function restingOf(trader: string): Promise<Record<number, number>> {
    const { client, diamond, account } = world.chain
    const of = { address: diamond, abi: diamondAbi, functionName: 'getTrades' } as const
    const trades = await client.readContract({ ...of, args: [account(trader).address] })
    return Object.fromEntries(
      trades
        .filter(({ isOpen, tradeType }) => isOpen && tradeType === 1)
        .map(({ index, openPrice }) => [index, Number(formatUnits(openPrice, 10))]),
    )
  }

  async function untilResting(trader: string, expected: Record<number, number>): Promise<void> {
    await until(`the chain has ${JSON.stringify(expected)}`, async (saw) => {
      const resting = await restingOf(trader)
      saw(resting)
      return JSON.stringify(resting) === JSON.stringify(expected)
    })
  }

  /** Waits until the facade shows these resting orders, by price. */
  async function untilShown(trader: string, expected: readonly number[]): Promise<void> {
    await until(`open are ${expected}`, async (saw) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ type: 'openOrders', user: world.chain.account(trader).address })
      const answer = await fetch(`${world.url()}/hl/arbitrum-sepolia/info`, { method: 'POST', headers, body })
      if (!answer.ok) return saw(await answer.text())
      const shown = ((await answer.json()) as { limitPx: string }[]).map(({ limitPx }) => Number(limitPx)).toSorted()
      saw(shown)
      return String(shown) === String(expected)
    })
  }

  /** Reads the relayer's mined transactions for a trader, and those that only use up a nonce. */
  async function relayed(trader: string): Promise<RelayedTransaction[]> {
    const { address } = world.chain.account(trader)
    const all = await readRelayedTransactions(world.chain, world.chain.account('relayer').address)
    return all.filter((of) => of.trader === null || of.trader === address)
  }

  const isCancel = ({ input }: RelayedTransaction): boolean => input !== '0x' && cancelledBy(input) !== undefined

  /** Returns the number of the trade that a relayed cancel names. */
  function cancelledBy(input: RelayedTransaction['input']): number | undefined {
    const { args } = decodeFunctionData({ abi: diamondAbi, data: input })
    const inner = decodeFunctionData({ abi: diamondAbi, data: args![1] as `0x${string}` })
    return inner.functionName === 'cancelOpenOrder' ? Number(inner.args[0]) : undefined
  }

  /** Places the second and the third order, and cancels the second. The first one rests. */
  async function lay(trader: string, wallet: PrivateKeyAccount, since: bigint): Promise<Desk> {
    await untilResting(trader, { 0: FIRST })
    const { statuses } = await place(wallet, [SECOND, THIRD])
    const oids = [oidOf(statuses[0]), oidOf(statuses[1])] as const
    await untilResting(trader, { 0: FIRST, 1: SECOND, 2: THIRD })
    assert.deepEqual((await cancel(wallet, oids[0])).statuses, ['success'])
    await untilResting(trader, { 0: FIRST, 2: THIRD })
    const mined = (await relayed(trader)).filter(isCancel)
    assert.deepEqual(
      mined.map(({ input }) => cancelledBy(input)),
      [1],
    )
    return { trader, wallet, oids, since, cancel: mined[0]! }
  }

  /** Replaces all blocks after `since`, without their transactions. */
  async function dropSince(since: bigint): Promise<void> {
    await world.chain.control('bezel_reorgFrom', Number(since + 1n), 'drop')
  }

  /**
   * Expects the second and the third order on the chain under other numbers, the first one gone, and the cancel not
   * sent again: its number is that of the third order now. Then the trader cancels once more.
   */
  async function expectRenumbered({ trader, wallet, oids, cancel: dropped }: Desk): Promise<void> {
    const again = await until('the nonce of the cancel is used again', async () =>
      (await relayed(trader)).find(({ nonce }) => nonce === dropped.nonce),
    )
    assert.equal(again.input, '0x', 'the cancel was sent again, and names another order')
    await untilResting(trader, { 0: SECOND, 1: THIRD })
    assert.deepEqual((await relayed(trader)).filter(isCancel), [])
    await untilShown(trader, [SECOND, THIRD])

    await until('the second order is canceled after all', async (saw) => {
      const { statuses } = await cancel(wallet, oids[0])
      saw(statuses)
      return statuses[0] === 'success'
    })
    await untilResting(trader, { 1: THIRD })
    await untilShown(trader, [THIRD])
  }

  it('are not hit by a cancel of another, when the first one expired meanwhile', async (test) => {
    const trader = 'trader-1'
    const wallet = await connectRaw(world, trader, 'agent-1')
    const socket = new WebSocketTransport({ url: world.socketUrl })
    test.after(() => socket.close())
    const told: { readonly usd: number; readonly status: string }[] = []
    const lastTold = (price: number) => told.findLast(({ usd }) => usd === price)?.status
    await new SubscriptionClient({ transport: socket }).orderUpdates(
      { user: world.chain.account(trader).address },
      (updates) => {
        for (const { order, status } of updates) told.push({ usd: Number(order.limitPx), status })
      },
    )
    const since = await world.chain.client.getBlockNumber({ cacheTime: 0 })
    let expiresAtMs = 0
    let expiresInMs = 6_000
    await until('the first order rests before it expires', async (saw) => {
      expiresInMs *= 2
      const { nonce, statuses } = await place(wallet, [FIRST], expiresInMs)
      saw(statuses)
      expiresAtMs = nonce + expiresInMs
      return typeof statuses[0] === 'object' && statuses[0].resting !== undefined
    })
    const desk = await lay(trader, wallet, since)
    await until('the first order may not be sent any more', () => Date.now() > expiresAtMs)
    await until('the cancel is told', () => lastTold(SECOND) === 'canceled')
    const heard = told.length
    await dropSince(since)
    await expectRenumbered(desk)
    await until('the first order is told to have ended', () => lastTold(FIRST) === 'canceled')
    await until('the second cancel is told', () => lastTold(SECOND) === 'canceled')
    // Whoever heard of the first cancel hears in between that the order is open again.
    const statuses = told.slice(heard).filter(({ usd }) => usd === SECOND)
    assert.deepEqual([...new Set(statuses.map(({ status }) => status))], ['open', 'canceled'])
    assert.deepEqual([...new Set(told.filter(({ usd }) => usd === THIRD).map(({ status }) => status))], ['open'])
  })

  it('are not hit by one that was dropped while the service was away, when the first was sent by its trader', async () => {
    const trader = 'trader-2'
    const native = await world.clientOf(trader, trader)
    const wallet = await connectRaw(world, trader, 'agent-2')
    const since = await world.chain.client.getBlockNumber({ cacheTime: 0 })
    const terms = { market: 'BTC/USD', side: 'long', type: 'limit', price: String(FIRST), size: '0.05', leverage: '10' }
    // Its hash is not reported: a reported one may be mined again, so it is shown as long as it may be.
    const { order, transaction } = await native.prepare(terms)
    await native.broadcast(transaction)
    await native.orderOnce(order.id, ({ status }) => status === 'open')
    const desk = await lay(trader, wallet, since)
    await world.stopService()
    await dropSince(since)
    await world.startService()
    await expectRenumbered(desk)
  })
})
