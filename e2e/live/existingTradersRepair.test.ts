import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import type { FillHistoryEntry, Order, Position } from '@bezel/protocol'
import { call } from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { erc20Abi, formatUnits, parseEventLogs, parseUnits } from 'viem'
import { SLUG, startExistingWorld, type ExistingWorld } from './existingWorld.ts'
import { meddleWith } from './meddlingNode.ts'

const OPERATOR = fileURLToPath(new URL('../../packages/server/bezel-server.mjs', import.meta.url))

/** Number of blocks below the one of the snapshot that a reorganisation replaces too. */
const BLOCKS_BELOW = 2

/** A snapshot whose block is replaced, and a node that left out logs: both are mended while the service runs. */
interface ToldEvent {
  readonly channel: string
  readonly reverted: boolean
  readonly data: readonly object[]
}

describe('what is known of a trader', () => {
  let world: ExistingWorld
  let first: TradingClient
  let second: TradingClient
  /** A trader who has nothing at first. */
  let third: TradingClient
  /** True while the node leaves out all logs. */
  let isHiding = false
  /** Transactions whose logs the node goes on to leave out: the follower asks for logs once more at its next look. */
  const hidden = new Set<string>()

  /** The node keeps the counters back meanwhile: a request that is found before its answer would count as missed. */
  const isRefused = (view: string): boolean => isHiding && view === 'getCountersForTraders'

  function isHidden(transactionHash: string): boolean {
    if (isHiding) hidden.add(transactionHash)
    return hidden.has(transactionHash)
  }

  before(async () => {
    // A reorganisation can't be deeper than 128 blocks, so they must not come too fast.
    world = await startExistingWorld({ devnet: { DEVNET_BLOCK_MS: '250' } })
    await Promise.all([
      (async () => {
        await world.open('trader-1')
        await world.open('trader-1', { tradeType: 1, price: 50_000n })
      })(),
      world.open('trader-2', { long: false }),
    ])
    world.node.fault = { kind: 'lies', lie: meddleWith({ isHidden, isRefused }) }
    await world.launch()
    await world.untilReady()
    const clients = [1, 2, 3].map((n) => world.clientOf(`trader-${n}`, `agent-${n}`))
    ;[first, second, third] = (await Promise.all(clients)) as [TradingClient, TradingClient, TradingClient]
  })
  after(() => world?.stop())

  /** Runs the operator's command beside the running service, on its data folder. */
  async function operator(...words: string[]): Promise<string> {
    const env = { ...process.env, BEZEL_DATA: world.devnet.folder }
    const child = spawn(process.execPath, [OPERATOR, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += String(chunk)))
    const [code] = await once(child, 'close')
    assert.equal(code, 0, out)
    return out
  }

  const headNumber = async (): Promise<number> => Number(await world.chain.client.getBlockNumber({ cacheTime: 0 }))

  const knownSince = async (): Promise<number | undefined> =>
    (await call(world.url(), `/v1/${SLUG}`)).body.knownSince?.block

  /** Reads a list of the trader's account; `undefined` while the service says that not everything is known. */
  async function list<Item>(client: TradingClient, path: string, operation: string): Promise<Item[] | undefined> {
    const { status, body } = await client.account(path, operation)
    if (status === 200) return body.data
    assert.deepEqual([status, body.code, body.details.reason], [503, 'NOT_READY', 'snapshot'])
    return undefined
  }

  const positions = (client: TradingClient) => list<Position>(client, '/positions', 'listPositions')
  const orders = (client: TradingClient) => list<Order>(client, '/orders', 'listOpenOrders')
  const fills = (client: TradingClient) => list<FillHistoryEntry>(client, '/fills', 'listFills')

  /** Lets things happen in blocks whose logs the node leaves out. Returns the first and the last of these blocks. */
  async function unseen(work: () => Promise<unknown>): Promise<readonly [from: number, to: number]> {
    isHiding = true
    const from = (await headNumber()) + 1
    await work()
    const to = await untilFollowed()
    isHiding = false
    return [from, to]
  }

  /** Waits until the service has followed the chain up to its head. Returns that block. */
  async function untilFollowed(): Promise<number> {
    const head = await headNumber()
    await until(`block ${head} is followed`, async () => {
      const metrics = await (await fetch(`${world.url()}/metrics`)).text()
      return Number(/^bezel_chain_head_block\{[^}]*\} (\d+)$/m.exec(metrics)?.[1]) >= head
    })
    return head
  }

  it('keeps its ids when the block of the snapshot is replaced, and is never told in part', async () => {
    const idsOf = async (client: TradingClient): Promise<string[] | undefined> => {
      const [held, waiting] = [await positions(client), await orders(client)]
      return held && waiting && [...held, ...waiting].map(({ id }) => id)
    }
    const ids = (await idsOf(first))!
    assert.equal(ids.length, 2)
    const since = (await knownSince())!
    await world.chain.control('bezel_reorgFrom', since - BLOCKS_BELOW, 'remine')
    await until('it is known again', async (saw) => {
      const [held, now] = [await positions(first), await knownSince()]
      saw([held, now])
      assert.ok(held === undefined || held.length === 1, 'a part of it')
      return held !== undefined && now !== undefined && now > since
    })
    await world.untilReady()
    assert.deepEqual(await idsOf(first), ids)
    const { body } = await first.account('/events', 'listEvents')
    const told = body.data.filter(({ channel }: { channel: string }) => channel !== 'account')
    // Neither event says that nothing is held.
    assert.deepEqual(
      told.map(({ channel, reverted, data }: ToldEvent) => [channel, reverted, data.length]),
      [
        ['positions', false, 1],
        ['positions', false, 1],
      ],
    )
  })

  it('is mended by reread, where the counters do not show what was missed', async () => {
    const { chain } = world
    const [trade] = (await world.openOf('trader-2')).positions
    await unseen(() => chain.send(chain.account('trader-2'), 'updateSl', [trade!.index, parseUnits('63000', 10)]))
    assert.equal((await positions(second))![0]!.sl, '0')
    assert.match(await operator('reread', world.address('trader-2')), /is read again within seconds/)
    await until('the stop is known', async () => (await positions(second))?.[0]?.sl === '63000')
  })

  it('is found by itself, or refused where more was missed, and gets its fills by reindex', async () => {
    const { chain } = world
    await chain.control('bezel_pauseOracle', true)
    const [position] = (await positions(first))!
    const { body } = await first.request('closePosition', 'POST', `/positions/${position!.id}/close`, {})
    await first.submit(body.order.id, await first.broadcast(body.transaction))
    // An order is pending from its report on; its request must be known as well.
    await untilFollowed()
    assert.equal((await first.order(body.order.id)).status, 'pending')
    const [from, to] = await unseen(async () => {
      await Promise.all([world.ask('trader-2', { amount: '80' }), world.ask('trader-3')])
      await chain.control('bezel_pauseOracle', false)
      await until('both are answered', async () => {
        const open = await Promise.all(['trader-1', 'trader-2', 'trader-3'].map(world.openOf))
        return isDeepStrictEqual(
          open.map((of) => of.positions.length),
          [0, 2, 1],
        )
      })
    })
    await until('the open trade is found', async () => (await positions(second))?.length === 2)
    await until('a trader of whom nothing was known is found', async () => (await positions(third))?.length === 1)
    assert.deepEqual(await fills(second), [])
    await until('the other one is refused', async () => (await positions(first)) === undefined)
    const unknown = `${SLUG} trader ${world.address('trader-1')}: not everything on the chain is known`
    assert.ok((await operator('status')).includes(unknown))
    const [, found] = (await positions(second))!
    hidden.clear()
    assert.match(await operator('reindex', String(from), String(to)), /are read again/)
    await until('it is proven', async () => (await positions(first))?.length === 0)
    const closed = await first.orderOnce(body.order.id, ({ status }) => status === 'filled')
    assert.equal(closed.fill?.positionId, position!.id)
    const [entry, ...others] = (await fills(first))!
    assert.deepEqual([entry!.orderId, entry!.action, others], [body.order.id, 'TradeClosedMarket', []])
    assert.equal(entry!.payout, await paidIn(entry!.txHash))
    const [opened] = (await until('the opening is known', async () => {
      const known = await fills(second)
      return known?.length === 1 ? known : undefined
    }))!
    assert.deepEqual([opened!.action, opened!.positionId, opened!.deposit], ['TradeOpenedMarket', found!.id, '80'])
    assert.equal((await positions(second))!.length, 2)
    assert.match(
      await operator('status'),
      new RegExp(`blocks ${from} to ${to}: read again; something was missed in \\d`),
    )
  })

  /** Returns the USDC that a transaction paid to the first trader, by the token's own logs. */
  async function paidIn(txHash: string): Promise<string> {
    const { logs } = await world.chain.client.getTransactionReceipt({ hash: txHash as `0x${string}` })
    const { address: token, decimals } = world.chain.collateral('USDC')
    const transfers = parseEventLogs({ abi: erc20Abi, logs, eventName: 'Transfer' }).filter(
      ({ address, args }) => address.toLowerCase() === token.toLowerCase() && args.to === world.address('trader-1'),
    )
    return formatUnits(
      transfers.reduce((sum, { args }) => sum + args.value, 0n),
      decimals,
    )
  }
})
