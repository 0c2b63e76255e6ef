import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi } from '@bezel/protocol'
import {
  BezelApiError,
  createBezelClient,
  PositionUpdateRefusedError,
  PositionUpdateTimedOutError,
  privateKeySender,
  type BezelClient,
  type PendingUpdate,
  type Position,
} from '@bezel/sdk'
import { PATIENCE_MS, until } from '@bezel/testkit/until.ts'
import { decodeFunctionData, erc20Abi, type Address, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { connectRaw, envelopeOf, postRaw } from './facade/rawExchange.ts'
import { startFacadeWorld, type FacadeWorld } from './facade/facadeWorld.ts'

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const

/** Blocks after which a request of this chain can be reclaimed. */
const TIMEOUT_BLOCKS = 200

const SOON = { pollMs: 40, timeoutMs: PATIENCE_MS }

describe('changes of leverage and collateral', () => {
  let world: FacadeWorld
  let client: BezelClient
  let trader: PrivateKeyAccount

  before(async () => {
    // Slower blocks leave more time for what a story does before its request times out.
    world = await startFacadeWorld({ devnet: { DEVNET_BLOCK_MS: '250' } })
    trader = world.chain.account('trader-1')
    await world.clientOf('trader-1', 'agent-1')
    const agent = world.chain.account('agent-1')
    const { rpcUrl, diamond } = world.devnet.file.chains['arbitrum-sepolia']!
    const sender = privateKeySender({ account: agent, rpcUrl })
    // Hundreds of blocks at once leave the service behind its chain for a while, and longer on a busy machine.
    const of = { baseUrl: world.url(), chain: 'arbitrum-sepolia', trader: trader.address, diamond } as const
    client = createBezelClient({ ...of, agent, sender, maxRetries: 60 })
  })
  after(() => world?.stop())

  const pauseOracle = (isPaused: boolean) => world.chain.control('bezel_pauseOracle', isPaused)
  const mine = (blocks: number) => world.chain.control('hardhat_mine', blocks)
  const usdcOf = (owner: Address) =>
    world.chain.client.readContract({
      address: world.chain.collateral('USDC').address,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [owner],
    })
  /** The Diamond's own list of requests that wait. */
  const pendingOnChain = (owner: Address) =>
    world.chain.client.readContract({
      address: world.chain.diamond,
      abi: diamondAbi,
      functionName: 'getPendingOrders',
      args: [owner],
    })
  const tradesOnChain = (owner: Address) =>
    world.chain.client.readContract({
      address: world.chain.diamond,
      abi: diamondAbi,
      functionName: 'getTrades',
      args: [owner],
    })
  const notices = async (type: string, owner: Address = trader.address): Promise<{ message: string }[]> => {
    const answer = await fetch(`${world.url()}/api/notifications/${owner}`)
    const { notifications } = (await answer.json()) as { notifications: { type: string; message: string }[] }
    return notifications.filter((notice) => notice.type === type)
  }

  async function open(): Promise<Position> {
    const order = await client.orders.create(ORDER)
    const { fill } = await order.waitForFill(SOON)
    return client.positions.get(fill.positionId!)
  }
  async function close({ id }: Position): Promise<void> {
    await (await client.positions.close(id)).waitForFill(SOON)
  }
  function positionOnce(id: string, isExpected: (position: Position) => boolean): Promise<Position> {
    return until(`position ${id} with ${isExpected}`, async (saw) => {
      const position = await client.positions.get(id)
      saw(position)
      return isExpected(position) ? position : undefined
    })
  }
  const hasStatus =
    (status: PendingUpdate['status'] | null) =>
    ({ pendingUpdate }: Position): boolean =>
      (pendingUpdate?.status ?? null) === status
  /** Asks for a change while the oracle is silent, and lets it time out. */
  async function timedOut(id: string, changes: Parameters<BezelClient['positions']['update']>[1]) {
    await pauseOracle(true)
    const update = await client.positions.update(id, changes)
    await positionOnce(id, hasStatus('pending'))
    await mine(TIMEOUT_BLOCKS)
    await positionOnce(id, hasStatus('timed_out'))
    return update
  }
  /** Returns the names of the trader's own calls in a prepared transaction. */
  function callsOf({ data }: { readonly data: string }): string[] {
    const decode = (of: unknown) => decodeFunctionData({ abi: diamondAbi, data: of as Hex })
    const inner = decode(decode(data).args![1])
    if (inner.functionName !== 'multicall') return [inner.functionName]
    return (inner.args![0] as readonly Hex[]).map((call) => decode(call).functionName)
  }
  async function refusal(work: Promise<unknown>): Promise<BezelApiError> {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof BezelApiError, String(error))
    return error
  }

  it('are waited for, and end with the answer', async () => {
    const position = await open()
    const lower = await client.positions.update(position.id, { leverage: '8' })
    const changed = await lower.wait(SOON)
    assert.deepEqual([changed.leverage, changed.pendingUpdate], ['8', null])
    const more = await client.positions.update(position.id, { collateral: { action: 'add', amount: '50' } })
    const grown = await more.wait(SOON)
    assert.ok(Number(grown.leverage) < 8 && Number(grown.collateral) > Number(changed.collateral))
    await (await client.positions.update(position.id, { sl: '57000' })).wait(SOON)
    assert.equal((await client.positions.get(position.id)).sl, '57000')
    await close(position)
  })

  it('that time out are told everywhere and reclaimed alone, to the last unit', async () => {
    const position = await open()
    const balance = await usdcOf(trader.address)
    const { lastSeq } = await client.account.events({ after: Number.MAX_SAFE_INTEGER, limit: 1 })
    await pauseOracle(true)
    const update = await client.positions.update(position.id, { leverage: '5' })
    const waiting = await positionOnce(position.id, hasStatus('pending'))
    const { pendingUpdate } = waiting
    assert.deepEqual([pendingUpdate?.kind, pendingUpdate?.leverage], ['leverage', '5'])
    assert.equal(pendingUpdate?.txHash, update.txHash)
    const given = balance - (await usdcOf(trader.address))
    assert.ok(given > 0n)
    assert.equal(BigInt(Math.round(Number(pendingUpdate.collateralDelta) * 1e6)), given, 'what left the wallet')
    const [request] = await pendingOnChain(trader.address)
    assert.equal(pendingUpdate.timesOutAtBlock, request!.createdBlock + TIMEOUT_BLOCKS)

    for (const work of [
      client.positions.prepareClose(position.id),
      client.positions.prepareUpdate(position.id, { leverage: '8' }),
    ]) {
      const { code, details } = await refusal(work)
      const told = details as { errorName: string; pendingUpdate: PendingUpdate }
      assert.deepEqual([code, told.errorName], ['SIMULATION_REVERTED', 'ConflictingPendingOrder'])
      assert.deepEqual(told.pendingUpdate, pendingUpdate)
    }
    await (await client.positions.update(position.id, { tp: '70000' })).wait(SOON)
    const early = await refusal(client.positions.prepareCancelUpdate(position.id))
    assert.ok(early.code === 'ORDER_NOT_MODIFIABLE')
    const { block, timesOutAtBlock } = early.details
    assert.ok(timesOutAtBlock === pendingUpdate.timesOutAtBlock && block! < timesOutAtBlock)

    await mine(TIMEOUT_BLOCKS)
    await assert.rejects(update.wait(SOON), PositionUpdateTimedOutError)
    await positionOnce(position.id, hasStatus('timed_out'))
    const [notice] = await notices('position_update_timed_out')
    assert.match(notice!.message, new RegExp(`DELETE /v1/arbitrum-sepolia/positions/${position.id}/pending-update`))
    const freed = await (await client.positions.cancelUpdate(position.id)).wait(SOON)
    assert.deepEqual(
      [freed?.pendingUpdate, freed?.leverage, freed?.collateral],
      [null, position.leverage, position.collateral],
    )
    assert.equal(await usdcOf(trader.address), balance, 'everything is back')
    assert.deepEqual(await notices('position_update_timed_out'), [])
    const { data } = await client.account.events({ after: lastSeq, limit: 100 })
    const told = data.flatMap((event) =>
      event.channel === 'positions' ? [event.data[0]?.pendingUpdate?.status ?? null] : [],
    )
    assert.deepEqual(
      told.filter((status, at) => status !== told[at - 1]),
      ['pending', 'timed_out', null],
    )
    const nothing = await refusal(client.positions.prepareCancelUpdate(position.id))
    assert.ok(nothing.code === 'ORDER_NOT_MODIFIABLE')
    assert.equal(nothing.details.timesOutAtBlock, null)
    await pauseOracle(false)
    await close(position)
  })

  it('that timed out are reclaimed by a close, a reduce-only order and another change, each in one transaction', async () => {
    const [first, second] = [await open(), await open()]
    await timedOut(first.id, { collateral: { action: 'add', amount: '50' } })
    assert.equal((await client.positions.get(first.id)).pendingUpdate?.kind, 'collateral')
    await timedOut(second.id, { leverage: '5' })
    const side = { ...ORDER, side: 'short', reduceOnly: true, size: '0.03', leverage: '10' } as const
    const reduction = await client.orders.prepare(side)
    const names = callsOf(reduction.transaction!)
    assert.deepEqual(names.slice(0, 3), ['cancelOrderAfterTimeout', 'closeTradeMarket', 'cancelOrderAfterTimeout'])
    const prepared = await client.positions.prepareClose(first.id)
    assert.deepEqual(callsOf(prepared.transaction!), ['cancelOrderAfterTimeout', 'closeTradeMarket'])
    const again = await client.positions.update(second.id, { leverage: '8' })
    await positionOnce(second.id, ({ pendingUpdate }) => pendingUpdate?.txHash === again.txHash)
    await pauseOracle(false)
    assert.equal((await again.wait(SOON)).leverage, '8')
    await positionOnce(first.id, hasStatus(null))
    await close(second)
    await timedOut(first.id, { leverage: '4' })
    const balance = await usdcOf(trader.address)
    const order = await client.positions.close(first.id)
    await until('the request is reclaimed', async (saw) => {
      const waiting = await pendingOnChain(trader.address)
      saw(waiting)
      return waiting.length === 1 && (await usdcOf(trader.address)) > balance
    })
    await pauseOracle(false)
    await order.waitForFill(SOON)
    assert.equal((await tradesOnChain(trader.address)).length, 0)
  })

  it('that are refused say why', async () => {
    const position = await open()
    await pauseOracle(true)
    const update = await client.positions.update(position.id, { leverage: '100' })
    await positionOnce(position.id, hasStatus('pending'))
    await world.moveTo(59_000)
    await pauseOracle(false)
    await assert.rejects(update.wait(SOON), (error: PositionUpdateRefusedError) => {
      assert.ok(error instanceof PositionUpdateRefusedError, String(error))
      assert.match(String(error.reason), /liquidation price/)
      assert.deepEqual([error.position?.leverage, error.position?.pendingUpdate], ['10', null])
      return true
    })
    assert.equal((await notices('position_update_refused')).length, 1)
    await world.moveTo(60_000)
    await close(position)
  })

  it('that are answered late are carried out', async () => {
    const position = await open()
    await timedOut(position.id, { leverage: '5' })
    await pauseOracle(false)
    const changed = await positionOnce(position.id, ({ leverage }) => leverage === '5')
    assert.equal(changed.pendingUpdate, null)
    await close(position)
  })

  it('that were started elsewhere are known, and can be reclaimed here', async () => {
    const position = await open()
    const [trade] = await tradesOnChain(trader.address)
    await pauseOracle(true)
    const events = await world.chain.send(trader, 'updateLeverage', [trade!.index, 5_000])
    const { pendingUpdate } = await positionOnce(position.id, hasStatus('pending'))
    assert.deepEqual([pendingUpdate?.kind, pendingUpdate?.leverage], ['leverage', '5'])
    assert.equal(pendingUpdate?.txHash, events[0]!.transactionHash)
    await mine(TIMEOUT_BLOCKS)
    const late = await positionOnce(position.id, hasStatus('timed_out'))
    await (await client.positions.cancelUpdate(late.id)).wait(SOON)
    await pauseOracle(false)
    await close(position)
  })

  it('through the facade are answered by what moved, and reclaimed by the relayer', async () => {
    const agent = await connectRaw(world, 'trader-2', 'agent-2')
    const owner = world.chain.account('trader-2').address
    const act = async (action: object): Promise<{ status: string; response: unknown }> =>
      JSON.parse((await postRaw(world, await envelopeOf(agent, action as Record<string, unknown>))).text)
    const limit = { a: 0, b: true, p: '61000', s: '0.02', r: false, t: { limit: { tif: 'Ioc' } } }
    const opened = await act({ type: 'order', orders: [limit], grouping: 'na' })
    assert.equal(opened.status, 'ok', JSON.stringify(opened))
    const margin = () => act({ type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: 30_000_000 })
    const collateral = async () => (await tradesOnChain(owner))[0]?.collateralAmount
    const held = await until('the position is open', collateral)
    const moved = await margin()
    // A busy machine needs longer than the answer is held, which is then told.
    if (moved.status !== 'ok') assert.match(String(moved.response), /margin moved so far/)
    else assert.deepEqual(moved.response, { type: 'default' })
    await until('the margin has moved', async () => (await collateral())! > held)
    await until('it is answered', async () => (await pendingOnChain(owner)).length === 0)

    const balance = await usdcOf(owner)
    await pauseOracle(true)
    const silent = await margin()
    assert.equal(silent.status, 'err')
    assert.match(String(silent.response), /^0 of 30 margin moved so far/)
    assert.ok((await usdcOf(owner)) < balance)
    await mine(TIMEOUT_BLOCKS)
    await until('the relayer has reclaimed it', async () => (await pendingOnChain(owner)).length === 0)
    assert.equal(await usdcOf(owner), balance)
    await pauseOracle(false)
    const sold = { ...limit, b: false, p: '59000', r: true }
    await until('the position can be closed', async (saw) => {
      const { response } = await act({ type: 'order', orders: [sold], grouping: 'na' })
      saw(response)
      return /filled|resting/.test(JSON.stringify(response))
    })
    await until('the position is closed', async () => (await tradesOnChain(owner)).length === 0)
  })

  it('leave a timed-out order among the open ones, with the time at which it was', async () => {
    await pauseOracle(true)
    const order = await client.orders.create(ORDER)
    const pending = await order.waitFor('pending', SOON)
    await mine(TIMEOUT_BLOCKS)
    const late = await order.waitFor('timed_out', SOON)
    assert.ok(late.updatedAt > pending.updatedAt)
    const listed = async () => (await client.account.openOrders()).filter(({ status }) => status !== 'prepared')
    assert.deepEqual(
      (await listed()).map(({ id, status }) => [id, status]),
      [[late.id, 'timed_out']],
    )
    await (await client.orders.cancel(late.id)).waitFor('canceled', SOON)
    assert.deepEqual(await listed(), [])
    await pauseOracle(false)
  })
})
