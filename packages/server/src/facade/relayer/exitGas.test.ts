import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { Address, OrderId } from '@bezel/protocol'
import { readAsideWei, readRelayedGasWei } from '../../store/relayGasStore.ts'
import { utcDayOf } from '../../trading/scope.ts'
import {
  cancelOrder,
  fillOrder,
  insertPlaced,
  leave,
  placeOrder,
  turnOrder,
  turnPosition,
} from './testing/relayedOrders.ts'
import {
  attemptOf,
  CHAIN,
  FINAL_BLOCKS,
  openRelayWorld,
  OTHER_TRADER,
  relayRefusal,
  type RelayWorld,
  START_MS,
  TRADER,
} from './testing/relayWorld.ts'

const DAY = utcDayOf(START_MS)
const DAY_MS = 86_400_000

const GAS = 1_000_000n
/** The first offer, in wei: twice the base fee and the tip. */
const OFFER_WEI = 2n * 10_000_000n + 100n
const CAP_WEI = 10n ** 9n / 2n
/** One part of a way out: the least gas that is set aside for one, at the fee cap. */
const PART_WEI = 1_500_000n * CAP_WEI
const WAY_OUT_WEI = 3n * PART_WEI
const ACTION_WEI = GAS * OFFER_WEI
/** The paid cost of a mined action on the fake node. */
const PAID_WEI = 20_000n * OFFER_WEI

describe('the gas of the way out', () => {
  let world: RelayWorld

  afterEach(() => world.close())

  async function open(settings: Parameters<typeof openRelayWorld>[0] = {}): Promise<void> {
    world = await openRelayWorld(settings)
    await world.settle()
  }

  const usedWei = (trader: Address | null, day = DAY): Promise<bigint> =>
    readRelayedGasWei(world.opened.store.read, CHAIN.slug, day, trader)
  const asideWei = (): Promise<bigint> => readAsideWei(world.opened.store.read, CHAIN.slug)

  /** Opens a position: the order is mined and filled. */
  async function hold(trader = TRADER): Promise<{ readonly orderId: OrderId; readonly id: OrderId }> {
    const orderId = await placeOrder(world, trader)
    await world.pass(1)
    return { orderId, id: await fillOrder(world, orderId, trader) }
  }

  it('is set aside with the open, from the budget of the same day, at the fee cap', async () => {
    await open()
    await placeOrder(world)
    assert.equal(await asideWei(), WAY_OUT_WEI)
    assert.equal(await usedWei(TRADER), ACTION_WEI + WAY_OUT_WEI)
    assert.equal(await usedWei(null), ACTION_WEI + WAY_OUT_WEI)
    await world.pass(1)
    assert.equal(await usedWei(TRADER), PAID_WEI + WAY_OUT_WEI)
    assert.deepEqual(
      [world.relaying.health().asideWei, world.relaying.health().usedWei],
      [WAY_OUT_WEI, await usedWei(null)],
    )
  })

  it('must be left, or the open is refused and nothing of it is kept', async () => {
    await open({ traderDayWei: ACTION_WEI + WAY_OUT_WEI - 1n })
    await assert.rejects(placeOrder(world), /also sets aside the gas of its way out/)
    assert.deepEqual([await asideWei(), await usedWei(TRADER)], [0n, 0n])
    await world.enqueue()
    await world.close()
    await open({ deploymentDayWei: ACTION_WEI + WAY_OUT_WEI - 1n })
    assert.equal(await relayRefusal(placeOrder(world)), 'deployment_budget')
    await world.close()
    await open()
    world.node.balanceWei = ACTION_WEI + WAY_OUT_WEI - 1n
    world.nowMs += 3_000
    await world.settle()
    assert.equal(await relayRefusal(placeOrder(world)), 'low_balance')
  })

  it('pays for the exits when the budgets are used up, by whomever', async () => {
    await open({ deploymentDayWei: 2n * (ACTION_WEI + WAY_OUT_WEI) })
    const { id } = await hold()
    // Another trader takes all the rest.
    await placeOrder(world, OTHER_TRADER)
    const far = (): ReturnType<typeof attemptOf> =>
      attemptOf({ expiresAtMs: world.nowMs + 600_000, trader: OTHER_TRADER })
    assert.equal(await relayRefusal(world.enqueue(far(), OTHER_TRADER)), 'deployment_budget')
    assert.equal(await relayRefusal(world.enqueue()), 'deployment_budget')
    const before = await usedWei(null)
    for (const kind of ['close', 'stops', 'cancel'] as const) await leave(world, id, { kind })
    assert.equal(await usedWei(null), before)
    await world.settle()
    assert.equal(world.relaying.health().isBudgetLow, true)
  })

  it('pays for the exits when the places of unmined entries are taken', async () => {
    await open({ maxUnmined: 4 })
    const { id } = await hold()
    for (let i = 0; i < 4; i += 1) await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    assert.equal(await relayRefusal(world.enqueue()), 'busy')
    for (const kind of ['close', 'stops', 'cancel'] as const) await leave(world, id, { kind })
  })

  it('serves its own position alone, one transaction at a time', async () => {
    await open({ traderDayWei: PAID_WEI + ACTION_WEI + 2n * WAY_OUT_WEI })
    const { id } = await hold()
    const other = await hold(OTHER_TRADER)
    await hold()
    assert.equal(await relayRefusal(world.enqueue()), 'trader_budget')
    // The position of another trader.
    assert.equal(await relayRefusal(leave(world, other.id)), 'trader_budget')
    await leave(world, id)
    assert.equal(await relayRefusal(leave(world, id)), 'trader_budget')
    await world.pass(1)
    // The first close was mined and paid less: the rest pays for another one.
    await leave(world, id)
  })

  it('serves on any day, and counts on none but its own', async () => {
    await open()
    const { id } = await hold()
    world.nowMs += 3 * DAY_MS
    await world.settle()
    await leave(world, id)
    await world.pass(1)
    assert.equal(await usedWei(TRADER, DAY + 3), 0n)
    assert.equal(await usedWei(TRADER), PAID_WEI + WAY_OUT_WEI)
    assert.equal(await asideWei(), WAY_OUT_WEI - PAID_WEI)
  })

  it('returns what is left when the position has ended, and is back when a reorganisation undoes the end', async () => {
    await open()
    const { id, orderId } = await hold()
    await leave(world, id)
    await turnPosition(world, id, orderId, false)
    // The close is not mined for the relayer yet, and counts its highest cost.
    assert.deepEqual([await asideWei(), await usedWei(TRADER)], [0n, PAID_WEI + ACTION_WEI])
    await turnPosition(world, id, orderId, true)
    assert.equal(await asideWei(), WAY_OUT_WEI - ACTION_WEI)
    await turnPosition(world, id, orderId, false)
    await world.pass(1)
    assert.deepEqual([await asideWei(), await usedWei(TRADER), await usedWei(null)], [0n, 2n * PAID_WEI, 2n * PAID_WEI])
    await turnPosition(world, id, orderId, true)
    assert.deepEqual([await asideWei(), await usedWei(TRADER)], [WAY_OUT_WEI - PAID_WEI, PAID_WEI + WAY_OUT_WEI])
  })

  it('returns for an order that came to nothing', async () => {
    await open()
    for (const status of ['rejected', 'expired']) await turnOrder(world, await placeOrder(world), status)
    await world.pass(1)
    assert.deepEqual([await asideWei(), await usedWei(TRADER)], [0n, 2n * PAID_WEI])
  })

  it('counts a place and cancel without a fill twice for its trader, and once for the deployment', async () => {
    await open()
    const orderId = await placeOrder(world)
    await world.pass(1)
    await turnOrder(world, orderId, 'open')
    await cancelOrder(world, orderId)
    await world.pass(1)
    await turnOrder(world, orderId, 'canceled')
    assert.deepEqual([await usedWei(TRADER), await usedWei(null)], [4n * PAID_WEI, 2n * PAID_WEI])
    await turnOrder(world, orderId, 'open')
    assert.equal(await usedWei(TRADER), 2n * PAID_WEI + WAY_OUT_WEI - PAID_WEI)
  })

  it('is the same after a restart at any point, and when a nonce was used elsewhere', async () => {
    await open()
    const { id } = await hold()
    await leave(world, id)
    world.restart()
    await world.settle()
    assert.equal(await asideWei(), WAY_OUT_WEI - ACTION_WEI)
    world.node.mempool.clear()
    world.node.useElsewhere()
    await world.pass(FINAL_BLOCKS + 6, 2_000)
    assert.equal(world.relaying.health().counts.lost, 1)
    assert.deepEqual([await asideWei(), await usedWei(TRADER)], [WAY_OUT_WEI - PAID_WEI, PAID_WEI + WAY_OUT_WEI])
  })

  it('is set aside at the start for what was opened before, even beyond the budget', async () => {
    await open({ traderDayWei: 1n })
    const orderId = await insertPlaced(world)
    const id = await fillOrder(world, orderId)
    world.restart()
    await world.settle()
    assert.equal(await asideWei(), WAY_OUT_WEI)
    assert.equal(await relayRefusal(world.enqueue()), 'trader_budget')
    await leave(world, id)
    world.restart()
    await world.settle()
    assert.equal(await asideWei(), WAY_OUT_WEI - ACTION_WEI)
  })
})

describe('an exit while gas is dear', () => {
  it('may offer more than the fee cap, as far as what is set aside for it goes', async () => {
    const world = await openRelayWorld()
    await world.settle()
    const orderId = await placeOrder(world)
    await world.pass(1)
    const id = await fillOrder(world, orderId)
    world.node.baseFeeWei = CAP_WEI + 1n
    world.nowMs += 3_000
    await world.settle()
    assert.equal(await relayRefusal(world.enqueue()), 'gas_too_dear')
    assert.match(world.relaying.health().problem ?? '', /dearer/)
    const before = await readRelayedGasWei(world.opened.store.read, CHAIN.slug, DAY, TRADER)
    await leave(world, id)
    await world.settle()
    // One and a half million units are set aside at the cap, and a close takes a million.
    assert.equal(world.node.mempool.get(1)!.maxFeeWei, (3n * CAP_WEI) / 2n)
    assert.equal(await readRelayedGasWei(world.opened.store.read, CHAIN.slug, DAY, TRADER), before)
    // Dearer than that.
    world.node.baseFeeWei = (3n * CAP_WEI) / 2n
    world.nowMs += 3_000
    await world.settle()
    assert.equal(await relayRefusal(leave(world, id, { kind: 'stops' })), 'gas_too_dear')
    await world.close()
  })

  it('is re-priced beyond the cap, and can be burnt even then', async () => {
    const world = await openRelayWorld()
    await world.settle()
    const id = await fillOrder(world, await placeOrder(world))
    await world.pass(1)
    const attempt = attemptOf({ expiresAtMs: world.nowMs + 60_000 })
    await world.enqueue(attempt, TRADER, { purpose: { kind: 'close', positionIds: [id] } })
    await world.settle()
    world.node.baseFeeWei = CAP_WEI + 1n
    for (let i = 0; i < 10; i += 1) {
      world.nowMs += 3_000
      await world.settle()
    }
    assert.equal(world.node.mempool.get(1)!.maxFeeWei, (3n * CAP_WEI) / 2n)
    world.node.baseFeeWei = 2n * CAP_WEI
    for (let i = 0; i < 20; i += 1) {
      world.nowMs += 3_000
      await world.settle()
    }
    assert.equal(world.node.mempool.get(1)!.data, '0x')
    await world.pass(1)
    assert.equal(world.node.used(), 2)
    await world.close()
  })
})

describe('the balance', () => {
  it('is low while it has no room for several more opens, beside what is set aside', async () => {
    const lowBalanceWei = 3n * WAY_OUT_WEI
    const world = await openRelayWorld({ lowBalanceWei })
    world.node.balanceWei = lowBalanceWei + 2n * WAY_OUT_WEI
    await world.settle()
    await placeOrder(world)
    await world.pass(1)
    assert.equal(world.relaying.health().isLow, false)
    await placeOrder(world)
    await world.settle()
    assert.equal(world.relaying.health().isLow, true)
    await world.close()
  })

  it('is low while it has no room for one more open, whatever the setting says', async () => {
    const world = await openRelayWorld({ lowBalanceWei: 0n })
    world.node.balanceWei = 2n * WAY_OUT_WEI
    await world.settle()
    assert.equal(world.relaying.health().isLow, false)
    await placeOrder(world)
    await world.settle()
    assert.equal(world.relaying.health().isLow, true)
    await world.close()
  })
})

describe('shares of the gas', () => {
  it('are also of the balance, for what a trader holds of all days', async () => {
    const world = await openRelayWorld()
    world.node.balanceWei = 9n * WAY_OUT_WEI
    await world.settle()
    const others = [3, 4, 5].map((digit) => `0x${String(digit).repeat(40)}` as Address)
    for (let day = 0; day < 4; day += 1) {
      await placeOrder(world)
      await world.pass(1)
      world.nowMs += DAY_MS
      await world.settle()
    }
    for (const trader of others) {
      await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000, trader }), trader)
    }
    // Four are active with this one, so each may hold half of the balance.
    assert.equal(await relayRefusal(placeOrder(world)), 'trader_share')
    await world.enqueue()
    await placeOrder(world, OTHER_TRADER)
    await world.close()
  })

  it('leave everybody a first action, however many are active', async () => {
    const world = await openRelayWorld({ deploymentDayWei: WAY_OUT_WEI + 20n * ACTION_WEI })
    await world.settle()
    const others = [3, 4, 5].map((digit) => `0x${String(digit).repeat(40)}` as Address)
    for (const trader of others) {
      await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000, trader }), trader)
    }
    await placeOrder(world)
    assert.equal(await relayRefusal(world.enqueue()), 'trader_share')
    await world.close()
  })

  it('are at most twice the average of the traders who were active in the last hour', async () => {
    const world = await openRelayWorld({ deploymentDayWei: 8n * ACTION_WEI })
    await world.settle()
    const far = (trader: Address): ReturnType<typeof attemptOf> =>
      attemptOf({ expiresAtMs: world.nowMs + 600_000, trader })
    const others = [3, 4, 5].map((digit) => `0x${String(digit).repeat(40)}` as Address)
    for (const trader of others) await world.enqueue(far(trader), trader)
    // Four are active with this one, so each may have half of the budget.
    for (let i = 0; i < 4; i += 1) await world.enqueue(far(TRADER))
    assert.equal(await relayRefusal(world.enqueue(far(TRADER))), 'trader_share')
    world.nowMs += 3_600_000
    await world.settle()
    await world.enqueue(far(TRADER))
    await world.close()
  })
})
