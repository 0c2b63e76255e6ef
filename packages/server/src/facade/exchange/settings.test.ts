import { CollateralAmount, diamondAbi } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { decodeFunctionData } from 'viem'
import { movesCollateral } from '../../trading/plan/planUpdatePosition.ts'
import type { PositionState, WaitingUpdate } from '../../trading/positions/positionModel.ts'
import { TRADE, usdc } from '../../trading/valuation/testing/fixtures.ts'
import { saveAgent } from '../../store/agentStore.ts'
import { listDueSchedules } from '../../store/facadeChoreStore.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'
import { openExchangeWorld, TRADER, type ExchangeWorld } from './testing/exchangeWorld.ts'
import { spread } from './updateMargin.ts'

const OK = { status: 'ok', response: { type: 'default' } }

const PENDING: WaitingUpdate = {
  kind: 'collateral',
  pendingIndex: 4,
  leverage: 8_000,
  collateralDelta: usdc(25),
  attemptId: null,
  txHash: '0x00' as never,
  createdAtMs: 1,
  createdBlock: 1,
  timesOutAtBlock: 2,
  status: 'pending',
}

describe('actions about positions and settings', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  const lever = (leverage: number, changes = {}) =>
    world.send({ type: 'updateLeverage', asset: 0, isCross: true, leverage, ...changes })
  const margin = (ntli: number) => world.send({ type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli })
  const lastCall = () => {
    const { calldata } = world.relayer.taken.at(-1)!.attempt
    const { args } = decodeFunctionData({ abi: diamondAbi, data: calldata as `0x${string}` })
    return decodeFunctionData({ abi: diamondAbi, data: (args as readonly unknown[])[1] as `0x${string}` })
  }
  const schedule = (time: number | null | undefined) =>
    world.send(time === undefined ? { type: 'scheduleCancel' } : { type: 'scheduleCancel', time })
  const due = (nowMs: number) => listDueSchedules(world.parts.store.read, 'arbitrum', { nowMs, limit: 9 })

  it('keeps the leverage of the next orders, and leaves positions alone', async () => {
    await world.hold()
    assert.deepEqual(await lever(25), OK)
    assert.deepEqual(await lever(50, { isCross: false }), OK)
    assert.equal(await world.parts.reads.leverageOf(TRADER, 0), 50)
    assert.equal(world.relayer.taken.length, 0)
  })

  it('refuses a leverage that the market or the scope does not take', async () => {
    assert.match((await lever(201)).response as string, /not between 1\.1 and 200/)
    assert.match((await lever(1)).response as string, /not between/)
    assert.match((await lever(-5)).response as string, /not between/)
    assert.match((await lever(10, { asset: 77 })).response as string, /no asset 77/)
    const { scope } = await world.register()
    await world.register({ scope: { ...scope, maxLeverage: '20' } })
    assert.match((await lever(21)).response as string, /above the 20 of the agent's scope/)
    assert.deepEqual(await lever(20), OK)
    assert.equal(await world.parts.reads.leverageOf(TRADER, 0), 20)
  })

  it('changes nothing for an agent that another node ended, gave to another trader, or lets only read', async () => {
    const record = await world.register()
    const dueAtMs = world.base.market.nowMs + 60_000
    assert.deepEqual(await lever(25), OK)
    assert.deepEqual(await schedule(dueAtMs), OK)
    const ended = [
      [{ revoked: true }, /it was revoked/],
      [{ trader: world.parts.relayer.address }, /it was revoked/],
      [{ scope: { ...record.scope, permissions: 'read' } }, /read only/],
    ] as const
    for (const [changes, text] of ended) {
      await world.parts.store.transaction(TEST_SCOPE, (sql) => saveAgent(sql, { ...record, ...changes }))
      assert.match((await lever(50)).response as string, text)
      assert.match((await schedule(undefined)).response as string, text)
    }
    const bounded = { ...record, scope: { ...record.scope, maxLeverage: '20' } } as const
    await world.parts.store.transaction(TEST_SCOPE, (sql) => saveAgent(sql, bounded))
    assert.match((await lever(50)).response as string, /above the 20/)
    assert.equal(await world.parts.reads.leverageOf(TRADER, 0), 25)
    assert.equal((await due(dueAtMs)).length, 1)
  })

  it('moves margin by the leverage that keeps the size', async () => {
    const position = await world.hold()
    const answer = await world.sendWhile(
      { type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: 25_000_000 },
      () => world.change(position.record.id, { collateralAmount: usdc(125) }),
    )
    assert.deepEqual(answer, OK)
    assert.equal(lastCall().functionName, 'updateLeverage')
    assert.deepEqual(lastCall().args, [position.state.trade.index, 8_000])
    world.change(position.record.id, { collateralAmount: usdc(100) })
    await margin(-20_000_000)
    assert.deepEqual(lastCall().args, [position.state.trade.index, 12_500])
  })

  it('says that no margin moved: refused, closed, not answered, or not even mined', async () => {
    const position = await world.hold()
    const { id } = position.record
    const send = (chainSays: () => void) =>
      world.sendWhile({ type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: 25_000_000 }, chainSays)
    const refusal = { kind: 'collateral', pendingIndex: 3, leverage: 8_000, reason: 'LIQ_REACHED', atMs: 1 } as const
    const refused = await send(() => world.turn(id, { updateRefusal: refusal }))
    assert.match(refused.response as string, /^0 of 25 margin moved: Insufficient margin/)
    const update = { ...PENDING, status: 'timed_out' } as const
    const late = await send(() => world.turn(id, { pendingUpdate: update }))
    assert.match(late.response as string, /^0 of 25 margin moved so far: the oracles have not answered/)
    world.turn(id, { pendingUpdate: null })
    assert.match((await margin(25_000_000)).response as string, /moved so far: the transaction is not mined yet/)
    world.base.positions.splice(0)
    await world.hold()
    const closed = await send(() => void world.base.positions.splice(0))
    assert.equal(closed.status, 'err')
  })

  it('refuses margin that is nothing, or of nothing', async () => {
    assert.match((await margin(1_000_000)).response as string, /no open position in BTC/)
    await world.hold()
    assert.match((await margin(0)).response as string, /other than zero/)
    assert.match((await margin(-100_000_000)).response as string, /below the position's collateral/)
    assert.equal(world.relayer.taken.length, 0)
  })

  it('spreads margin over the trades of a position by their notional, in one transaction', async () => {
    const held = [await world.hold(), await world.hold({ collateralAmount: usdc(300) }), await world.hold()]
    await world.hold({ long: false })
    const answer = await world.sendWhile(
      { type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: 50_000_000 },
      () => {
        for (const { record, state } of held) {
          const { collateralAmount } = state.trade
          world.change(record.id, { collateralAmount: CollateralAmount.of((collateralAmount * 11n) / 10n) })
        }
      },
    )
    assert.deepEqual(answer, OK)
    assert.equal(world.relayer.taken.length, 1)
    const calls = (lastCall().args![0] as `0x${string}`[]).map((data) => decodeFunctionData({ abi: diamondAbi, data }))
    assert.deepEqual(
      calls.map(({ functionName, args }) => [functionName, ...(args as readonly unknown[])]),
      [held[1]!, held[0]!, held[2]!].map(({ state }) => ['updateLeverage', state.trade.index, 9_091]),
    )
  })

  it('says how much of the margin has moved when one of the trades was refused', async () => {
    const held = [await world.hold(), await world.hold()]
    const refusal = { kind: 'collateral', pendingIndex: 3, leverage: 8_000, reason: 'LIQ_REACHED', atMs: 1 } as const
    const answer = await world.sendWhile(
      { type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: 50_000_000 },
      () => {
        world.change(held[0]!.record.id, { collateralAmount: usdc(125) })
        world.turn(held[1]!.record.id, { updateRefusal: refusal })
      },
    )
    assert.equal(answer.status, 'err')
    assert.match(answer.response as string, /^25 of 50 margin moved: Insufficient margin/)
  })

  it('leaves out the trades of which nothing would move', async () => {
    const large = await world.hold({ collateralAmount: usdc(1_000) })
    const small = await world.hold({ leverage: 1_100 })
    const amountsOf = (usdcs: number) =>
      spread([small, large], { action: 'add', amount: usdc(usdcs) }).map(({ position, amount }) => [position, amount])
    assert.deepEqual(amountsOf(1), [[large, usdc(1)]])
    assert.deepEqual(
      amountsOf(1_010.1).map(([position]) => position),
      [large, small],
    )
    // Too little for any of them is left to the largest, which refuses it.
    assert.deepEqual(amountsOf(0.0001), [[large, usdc(0.0001)]])
  })

  it('never spreads more or less than was asked for, over at most as many trades as a transaction holds', () => {
    const { state, record } = { record: {} as never, state: { pendingUpdate: null } as PositionState }
    for (let seed = 1; seed <= 200; seed += 1) {
      const at = (n: number): number => Math.abs(Math.sin(seed * 31 + n)) * 1_000
      const trades = Array.from({ length: 1 + (seed % 30) }, (_, n) => {
        const trade = {
          ...TRADE,
          collateralAmount: usdc(Math.ceil(at(n)) + 5),
          leverage: 1_100 + Math.ceil(at(n + 40)) * 90,
        }
        return { record, state: { ...state, trade } }
      })
      const amount = usdc(Math.ceil(at(99)))
      const legs = spread(trades, { action: 'add', amount })
      assert.equal(
        legs.reduce((sum, leg) => sum + leg.amount, 0n),
        amount,
      )
      assert.ok(legs.length > 0 && legs.length <= 20)
      for (const leg of legs.length === 1 ? [] : legs) {
        assert.ok(movesCollateral(leg.position.state.trade, { action: 'add', amount: leg.amount }))
      }
    }
  })

  it('keeps when to cancel everything, in place of what was said before', async () => {
    const { nowMs } = world.base.market
    assert.match((await schedule(nowMs + 4_999)).response as string, /at least 5 seconds/)
    assert.deepEqual(await schedule(nowMs + 5_000), OK)
    assert.deepEqual(await schedule(nowMs + 9_000), OK)
    assert.deepEqual(await due(nowMs + 8_999), [])
    assert.deepEqual(
      (await due(nowMs + 9_000)).map(({ trader }) => trader),
      [TRADER],
    )
    assert.deepEqual(await schedule(null), OK)
    assert.deepEqual(await due(nowMs + 99_000), [])
    await schedule(nowMs + 9_000)
    assert.deepEqual(await schedule(undefined), OK)
    assert.deepEqual(await due(nowMs + 99_000), [])
  })
})
