import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { FillHistoryEntry, Order, Position, RecentTrade } from '@bezel/protocol'
import { erc20Abi, formatUnits, parseUnits } from 'viem'
import { call } from '@bezel/testkit/agentClient.ts'
import { problemsOfBooks } from '@bezel/testkit/booksBalance.ts'
import {
  readHeldByOrders,
  readWitnessedLogs,
  readWitnessedTokens,
  tokenMoves,
  type TokenMoves,
  type WitnessedToken,
} from '@bezel/testkit/tokenWitness.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'

const LONG = { market: 'BTC/USD', side: 'long', type: 'market' }
const TEN_HOURS_S = 36_000

describe('the books of a trader', () => {
  let world: TradingWorld
  let usdc: WitnessedToken

  before(async () => {
    world = await startTradingWorld()
    usdc = (await readWitnessedTokens(world.chain, ['USDC']))[0]!
  })
  after(() => world?.stop())
  beforeEach(() => world.setPrice(60_000))

  const fillsOf = async (client: TradingClient): Promise<FillHistoryEntry[]> =>
    (await client.account('/fills', 'listFills')).body.data.toReversed()
  const positionsOf = async (client: TradingClient): Promise<Position[]> =>
    (await client.account('/positions', 'listPositions')).body.data
  const units = (text: string | null): bigint => parseUnits(text!, usdc.decimals)

  async function walletOf({ trader }: TradingClient): Promise<bigint> {
    const request = { address: usdc.address, abi: erc20Abi, functionName: 'balanceOf', args: [trader.address] } as const
    return world.chain.client.readContract(request)
  }

  async function movesOf({ trader }: TradingClient): Promise<TokenMoves> {
    const logs = await readWitnessedLogs(world.chain, [usdc])
    return tokenMoves(logs, { diamond: world.chain.diamond, trader: trader.address, token: usdc })
  }

  /** Fails unless everything that the service tells of the trader adds up to the token's transfers. */
  async function expectBalanced(client: TradingClient): Promise<void> {
    const held = await readHeldByOrders(world.chain, client.trader.address, 'USDC')
    const openOrders: Order[] = (await client.account('/orders', 'listOpenOrders')).body.data
    const books = { fills: await fillsOf(client), openOrders, positions: await positionsOf(client) }
    assert.deepEqual(problemsOfBooks(books, { ...(await movesOf(client)), held }, usdc), [])
  }

  async function close(client: TradingClient, id: string, body: object = {}): Promise<Order> {
    const { body: prepared } = await client.request('closePosition', 'POST', `/positions/${id}/close`, body)
    const hash = await client.broadcast(prepared.transaction)
    await client.submit(prepared.order.id, hash)
    return client.orderOnce(prepared.order.id, ({ status }) => status === 'filled' || status === 'rejected')
  }

  /** Asks for something while the oracles are silent, and lets them answer at another price. */
  async function withPriceAtAnswer<Result>(usd: number, ask: () => Promise<Result>): Promise<Result> {
    await world.chain.control('bezel_pauseOracle', true)
    const asked = await ask()
    await world.setPrice(usd)
    await world.chain.control('bezel_pauseOracle', false)
    return asked
  }

  it("1 BTC at 50x for ten hours, closed: the wallet's change equals what the API reports", async () => {
    const client = await world.clientOf('trader-1', 'agent-1')
    const walletBefore = await walletOf(client)
    const opened = await client.trade({ ...LONG, size: '1', leverage: '50', clientId: 'ten-hours' }, 'filled')
    await expectBalanced(client)
    await world.chain.control('evm_increaseTime', TEN_HOURS_S)
    const [position] = await positionsOf(client)
    const closed = await close(client, position!.id)

    const change = (await walletOf(client)) - walletBefore
    const { taken, paid } = await movesOf(client)
    assert.equal(paid - taken, change)
    const [opening, closing, ...others] = await fillsOf(client)
    assert.deepEqual(others, [])
    assert.equal(units(opening!.netPnl) + units(closing!.netPnl), change)
    assert.equal(units(closing!.payout) - units(opening!.deposit), change)
    assert.deepEqual([opening!.orderId, opening!.clientId], [opened.id, 'ten-hours'])
    assert.deepEqual([closing!.orderId, closing!.clientId], [closed.id, null])
    assert.equal(position!.realized, formatUnits(-units(opening!.feeCollateral), usdc.decimals))
    assert.ok(units(closing!.fundingFee) + units(closing!.borrowingFee) > units('1'), JSON.stringify(closing))
    assert.deepEqual([opening!.forfeited, closing!.forfeited], ['0', '0'])
    await expectBalanced(client)
  })

  it('balance at every step of a position that is changed, closed in part and liquidated', async () => {
    const client = await world.clientOf('trader-2', 'agent-2')
    await client.trade({ ...LONG, size: '0.1', leverage: '20' }, 'filled')
    const [position] = await positionsOf(client)
    await world.chain.control('evm_increaseTime', TEN_HOURS_S)
    const patched = await client.request('updatePosition', 'PATCH', `/positions/${position!.id}`, { leverage: '30' })
    await client.broadcast(patched.body.transaction)
    await until('the change', async () => (await fillsOf(client)).length === 2)
    await expectBalanced(client)
    await world.setPrice(60_333)
    await close(client, position!.id, { size: '0.03' })
    await expectBalanced(client)
    await world.setPrice(58_000)
    await until('the liquidation', async () => (await positionsOf(client)).length === 0)
    await expectBalanced(client)
    const actions = (await fillsOf(client)).map(({ action }) => action)
    assert.deepEqual(actions, ['TradeOpenedMarket', 'TradeLeverageUpdate', 'TradePosSizeDecrease', 'TradeClosedLIQ'])
  })

  it('have an entry for a refusal that cost something, which the tape does not show', async () => {
    const client = await world.clientOf('trader-3', 'agent-3')
    const walletBefore = await walletOf(client)
    const { order } = await withPriceAtAnswer(60_500, async () => {
      const prepared = await client.prepare({ ...LONG, size: '0.02', leverage: '10', slippage: '0.1', clientId: 'no' })
      await client.broadcast(prepared.transaction)
      return prepared
    })
    await client.orderOnce(order.id, ({ status }) => status === 'rejected')
    const [refused] = await fillsOf(client)
    assert.deepEqual(
      [refused!.action, refused!.positionId, refused!.orderId, refused!.clientId, refused!.size, refused!.pnl],
      ['TradeOpenRefused', order.id, order.id, 'no', '0', '0'],
    )
    assert.equal((await walletOf(client)) - walletBefore, units(refused!.netPnl))
    await expectBalanced(client)

    await world.setPrice(60_000)
    await client.trade({ ...LONG, size: '0.02', leverage: '10' }, 'filled')
    const [position] = await positionsOf(client)
    const path = `/positions/${position!.id}/close`
    const closing = await withPriceAtAnswer(59_000, async () => {
      const { body } = await client.request('closePosition', 'POST', path, { slippage: '0.1' })
      await client.broadcast(body.transaction)
      return body.order as Order
    })
    await client.orderOnce(closing.id, ({ status }) => status === 'rejected')
    const entry = (await fillsOf(client)).at(-1)!
    assert.deepEqual([entry.action, entry.positionId, entry.orderId], ['TradeUpdateRefused', position!.id, closing.id])
    assert.equal(units(entry.netPnl), -units(entry.feeCollateral))
    await expectBalanced(client)
    const tape: RecentTrade[] = (await call(world.url(), '/v1/arbitrum-sepolia/markets/BTC%2FUSD/trades')).body.data
    assert.ok(!tape.some(({ action }) => action.endsWith('Refused')))
  })

  it('are the same after a crash and a reorganisation', async () => {
    const client = await world.clientOf('trader-4', 'agent-4')
    await client.trade({ ...LONG, size: '0.05', leverage: '10' }, 'filled')
    const [position] = await positionsOf(client)
    await close(client, position!.id, { size: '0.02' })
    await world.chain.control('bezel_reorg', 8, 'remine')
    await world.crash()
    await until('the last close', async () => {
      const { status, body } = await client.account('/fills', 'listFills')
      return status === 200 && body.data.length >= 2
    })
    await expectBalanced(client)
  })
})
