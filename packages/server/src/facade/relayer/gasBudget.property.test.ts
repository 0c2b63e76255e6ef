import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { Address, OrderId } from '@bezel/protocol'
import { EXIT_PARTS, type ExitPart } from '../../store/relayGasStore.ts'
import type { Sql } from '../../store/sql.ts'
import { RelayRefusedError } from './gasBudget.ts'
import { cancelOrder, fillOrder, leave, placeOrder, turnOrder, turnPosition } from './testing/relayedOrders.ts'
import { attemptOf, CHAIN, openRelayWorld, registerOwn, type RelayWorld } from './testing/relayWorld.ts'

// Traders open, leave, cancel and spend in any order, while blocks come and go and processes end. The invariants, all
// recomputed from the rows of single entries: the sums of the store are what they say; what is set aside and what is
// spent never exceed a budget, except by what a reorganisation brought back; and an exit whose gas is set aside is
// accepted, whatever the others did.

const RUNS = Number(process.env.RELAY_RUNS ?? 25)

const TRADERS = [1, 2, 3, 4].map((digit) => `0x${String(digit).repeat(40)}` as Address)

/** The first offer of an action, in wei: a million units of gas at twice the base fee and the tip. */
const ACTION_WEI = 1_000_000n * (2n * 10_000_000n + 100n)
const OPEN_WEI = ACTION_WEI + (3n * 1_500_000n * 10n ** 9n) / 2n

const BUDGETS = { traderDayWei: 3n * OPEN_WEI, deploymentDayWei: 6n * OPEN_WEI + 10n * ACTION_WEI }

interface Held {
  readonly trader: Address
  readonly orderId: OrderId
  positionId?: OrderId
  isOver: boolean
}

const step = fc.record({
  kind: fc.constantFrom(
    'place',
    'place',
    'spend',
    'spend',
    'fill',
    'exit',
    'exit',
    'exit',
    'cancel',
    'end',
    'revive',
    'mine',
    'mine',
    'reorg',
    'restart',
    'day',
  ),
  trader: fc.nat(TRADERS.length - 1),
  pick: fc.nat(1_000),
  part: fc.constantFrom(...EXIT_PARTS),
})
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

it('keeps what is set aside and spent within the budgets, and every exit that is set aside is accepted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
      const world = await openRelayWorld({ ...BUDGETS, maxUnmined: 12, stuckMs: 10 ** 9 })
      try {
        await registerOwn(world.opened.store, CHAIN.slug, TRADERS)
        await world.settle()
        const held: Held[] = []
        let revived = 0n
        for (const one of steps) {
          await run(world, held, one)
          if (one.kind === 'revive') revived += OPEN_WEI
          await check(world.opened.store.read, revived)
        }
      } finally {
        await world.close()
      }
    }),
    { numRuns: RUNS, endOnFailure: RUNS > 100 },
  )
})

async function run(world: RelayWorld, held: Held[], { kind, pick, part, ...of }: Step): Promise<void> {
  const trader = TRADERS[of.trader]!
  const some = (isOne: (one: Held) => boolean): Held | undefined => {
    const found = held.filter(isOne)
    return found[pick % Math.max(1, found.length)]
  }
  if (kind === 'place') {
    const orderId = await unlessRefused(placeOrder(world, trader))
    if (orderId !== undefined) held.push({ trader, orderId, isOver: false })
  } else if (kind === 'spend') {
    const attempt = attemptOf({ expiresAtMs: world.nowMs + 10 ** 9, trader })
    await unlessRefused(world.enqueue(attempt, trader))
  } else if (kind === 'fill') {
    const one = some(({ positionId, isOver }) => positionId === undefined && !isOver)
    if (one !== undefined) one.positionId = await fillOrder(world, one.orderId, one.trader)
  } else if (kind === 'exit') {
    const one = some(({ positionId, isOver }) => positionId !== undefined && !isOver)
    if (one !== undefined) await exit(world, one, part)
  } else if (kind === 'cancel') {
    const one = some(({ positionId, isOver }) => positionId === undefined && !isOver)
    if (one === undefined || (await unlessRefused(cancelOrder(world, one.orderId, one.trader))) === undefined) return
    await turnOrder(world, one.orderId, 'canceled')
    one.isOver = true
  } else if (kind === 'end' || kind === 'revive') {
    const isOver = kind === 'end'
    const one = some((other) => other.isOver !== isOver)
    if (one === undefined) return
    one.isOver = isOver
    if (one.positionId === undefined) await turnOrder(world, one.orderId, isOver ? 'rejected' : 'pending')
    else await turnPosition(world, one.positionId, one.orderId, !isOver)
  } else await passTime(world, kind, pick)
}

async function passTime(world: RelayWorld, kind: Step['kind'], pick: number): Promise<void> {
  if (kind === 'mine') await world.pass(1 + (pick % 3))
  if (kind === 'reorg') {
    world.node.reorg(Math.min(1 + (pick % 4), world.node.head()), pick % 2 === 0 ? 'drop' : 'remine')
    await world.settle()
  }
  if (kind === 'restart') {
    world.restart()
    await world.settle()
  }
  if (kind === 'day') {
    world.nowMs += (1 + (pick % 30)) * 3_600_000
    await world.settle()
  }
}

async function unlessRefused<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof RelayRefusedError && error.reason !== 'not_ready') return undefined
    throw error
  }
}

/** Leaves a position. It must be accepted when its gas is set aside and no other transaction uses it. */
async function exit(world: RelayWorld, { trader, orderId, positionId }: Held, part: ExitPart): Promise<void> {
  const { read } = world.opened.store
  const row = await read.get<Record<string, string>>(
    'select * from relay_exits where order_id = $1 and over_at is null',
    BigInt(orderId),
  )
  const busy = await read.all(
    `select 1 from relay_exit_uses as used join relay_entries as entry on entry.nonce = used.nonce
     where used.order_id = $1 and used.part = $2 and entry.state = 'live' and entry.nonce >= $3`,
    BigInt(orderId),
    part,
    world.node.used(),
  )
  assert.notEqual(row, undefined, 'nothing is set aside for an open position')
  const isSetAside = BigInt(row![`${part}_wei`]!) >= ACTION_WEI && busy.length === 0
  const leaving = leave(world, positionId!, { kind: part, trader })
  if (isSetAside) await leaving
  else await unlessRefused(leaving)
}

/** Compares every sum of the store with the single rows, and with the budgets. */
async function check(sql: Sql, revivedWei: bigint): Promise<void> {
  const exits = await sql.all<Record<string, string | bigint | null>>('select * from relay_exits')
  const uses = await sql.all<Record<string, string | bigint>>('select * from relay_exit_uses')
  const entries = await sql.all<Record<string, string | bigint>>('select * from relay_entries')
  const sums = await sql.all<{ day: bigint; trader: string; wei: string }>('select day, trader, wei from relay_gas')
  const left = (of: (typeof exits)[number]): bigint =>
    EXIT_PARTS.reduce((sum, part) => sum + BigInt(of[`${part}_wei`]!), 0n)
  const holding = exits.filter(({ over_at }) => over_at === null)
  const aside = await sql.get<{ wei: string }>('select wei from relay_aside')
  assert.equal(BigInt(aside?.wei ?? 0), sumOf(holding.map(left)))
  assert.ok(exits.every((of) => EXIT_PARTS.every((part) => BigInt(of[`${part}_wei`]!) >= 0n)))
  for (const { day, trader, wei } of sums) {
    const isIn = (of: Readonly<Record<string, unknown>>): boolean =>
      of.day === day && (trader === '' || of.trader === trader)
    const usesOf = (nonce: string | bigint): bigint =>
      sumOf(uses.filter((use) => use.nonce === nonce).map((use) => BigInt(use.wei!)))
    const ordinary = entries.filter(isIn).map((of) => BigInt(of.counted_wei!) - usesOf(of.nonce!))
    const paid = uses
      .filter((use) => use.day === day)
      .filter((use) => trader === '' || entries.find(({ nonce }) => nonce === use.nonce)!.trader === trader)
    const real = sumOf(ordinary) + sumOf(paid.map((use) => BigInt(use.wei!))) + sumOf(holding.filter(isIn).map(left))
    const surcharge = trader === '' ? 0n : sumOf(exits.filter(isIn).map((of) => BigInt(of.surcharge_wei!)))
    assert.equal(BigInt(wei), real + surcharge, `the sum of ${trader || 'all'} on day ${day}`)
    assert.ok(ordinary.every((one) => one >= 0n))
    const budget = trader === '' ? BUDGETS.deploymentDayWei : BUDGETS.traderDayWei
    assert.ok(real <= budget + revivedWei, `${real} is beyond the budget`)
  }
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, one) => sum + one, 0n)
}
