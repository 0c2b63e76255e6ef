import assert from 'node:assert/strict'
import { env } from 'node:process'
import { after, before, describe, it } from 'node:test'
import { FILL_ACTIONS, type Position } from '@bezel/protocol'
import { patient, startAccountingWorld, type AccountingWorld, type BookedTrader } from './accounting/accountingWorld.ts'
import { checkBooks } from './accounting/checkBooks.ts'
import {
  change,
  CHANGES,
  close,
  DOOMED_LEVERAGE,
  isPlain,
  open,
  OPENS,
  reclaim,
  request,
  REQUESTS,
  tendOrders,
} from './accounting/deeds.ts'

// The books of traders who trade at random over days of the chain's time, against the tokens' own transfers.
// CAMPAIGN=10 lets 20 traders trade for so many waves, CAMPAIGN_SEED=7 draws others.

const IS_SHORT = env['CAMPAIGN'] === undefined
const WAVES = Number(env['CAMPAIGN'] ?? 1)
const TRADERS = IS_SHORT ? 4 : 20
/** Seed of the draws: always the same in the short form, since everything has to happen there in one wave. */
const SEED = Number(env['CAMPAIGN_SEED'] ?? (IS_SHORT ? 1 : Math.floor(Math.random() * 2 ** 31)))
/** Blocks after which a request of this chain can be reclaimed. */
const TIMEOUT_BLOCKS = 200
/** Levels of the prices at the end of a wave: the first two reach every take profit, stop loss and doomed position. */
const END_LEVELS = [1.03, 0.97, 1]
/** Rounds of requests until an open and a change were refused: which one the price refuses is drawn. */
const MAX_REFUSALS = 5
const isRefusal = (action: string): boolean => action.endsWith('Refused')
/** Waves after the last one, while something has not happened: a busy machine deals the kinds in another order. */
const MAX_FURTHER_WAVES = 3
const REQUIRED = ['killed', 'reorganised by drop', 'reorganised by remine', 'closed too late']

describe('the books of traders', () => {
  let world: AccountingWorld
  const dealt = { opens: 0, changes: 0, requests: 0 }

  before(async () => {
    console.log(`CAMPAIGN=${WAVES} CAMPAIGN_SEED=${SEED}`)
    world = await startAccountingWorld(SEED, TRADERS)
  })
  after(() => world?.stop())

  const everybody = <Result>(work: (trader: BookedTrader) => Promise<Result>) => Promise.all(world.traders.map(work))
  const deal = <Kind>(kinds: readonly Kind[], pile: keyof typeof dealt): Kind => kinds[dealt[pile]++ % kinds.length]!
  const isDoomed = ({ leverage }: Position): boolean => Number(leverage) >= DOOMED_LEVERAGE

  async function passTime(): Promise<void> {
    await world.chain.control('evm_increaseTime', 3_600 * (1 + world.random.below(9)))
    await world.chain.control('hardhat_mine', 2)
  }

  async function reorganise(mode: 'drop' | 'remine'): Promise<void> {
    await world.chain.control('bezel_reorg', 1 + world.random.below(12), mode)
    world.count(`reorganised by ${mode}`)
    await world.settle()
  }

  async function openSome(): Promise<void> {
    await everybody(async (trader) => {
      for (let n = 0; n < 3; n += 1) await open(world, trader, deal(OPENS, 'opens'))
    })
    await world.settle()
  }

  /** Lets everybody change positions while the service is killed. */
  async function changeSome(): Promise<void> {
    const changes = everybody(async (trader) => {
      for (const position of await world.positionsOf(trader)) {
        if (isPlain(position)) await change(world, trader, position, deal(CHANGES, 'changes'))
      }
      await tendOrders(world, trader)
    })
    // The service is back before a failure ends the test, so that it can be stopped.
    const results = await Promise.allSettled([changes, world.crash()])
    for (const result of results) if (result.status === 'rejected') throw result.reason
    world.count('killed')
    await world.settle()
  }

  /** Makes requests while the oracle is silent. It answers them at another price, or after they have timed out. */
  async function requestSome(isLate: boolean): Promise<void> {
    await world.moveAll(() => 1)
    await world.chain.control('bezel_pauseOracle', true)
    const refusing = await everybody((trader) => request(world, trader, deal(REQUESTS, 'requests')))
    await checkBooks(world, 'while requests wait')
    if (isLate) {
      await world.chain.control('hardhat_mine', TIMEOUT_BLOCKS)
      await checkBooks(world, 'after requests have timed out')
      // Every third request waits on, and is answered late.
      await Promise.all(world.traders.map((trader, n) => (n % 3 === 2 ? undefined : reclaim(world, trader))))
      await checkBooks(world, 'after requests were reclaimed')
    } else {
      const isUp = new Map(refusing.map((move) => [move.market, move.isUp]))
      await world.moveAll(({ symbol }) => ((isUp.get(symbol) ?? world.random.chance(0.5)) ? 1.005 : 0.995))
    }
    await world.chain.control('bezel_pauseOracle', false)
    await world.settle()
  }

  /** Returns everything that has not happened yet: actions that no entry told, and deeds that were not done. */
  function missing(): string[] {
    const isReclaimed = world.counts.has('reclaim order') || world.counts.has('reclaim update')
    return [
      ...FILL_ACTIONS.filter((action) => !world.told.has(action)),
      ...REQUIRED.filter((what) => !world.counts.has(what)),
      ...(isReclaimed ? [] : ['reclaim']),
    ]
  }

  /** Closes doomed positions beyond their liquidation price, which the keeper is not there to liquidate. */
  async function closeTooLate(): Promise<void> {
    await world.chain.control('bezel_pauseKeeper', true)
    await world.moveAll(() => END_LEVELS[0]!)
    await everybody(async (trader) => {
      const own = await world.positionsOf(trader)
      const lost = own.find((position) => isDoomed(position) && isReached(position))
      if (lost !== undefined && (await close(world, trader, lost))) world.count('closed too late')
    })
    await world.settle()
    await world.chain.control('bezel_pauseKeeper', false)
  }

  /** True when the keeper must end the position, with some margin for the skew. */
  function isReached({ side, tp, sl, liquidationPrice, market }: Position): boolean {
    const mark = world.markOf(world.markets.find(({ symbol }) => symbol === market)!)
    const isAbove = (price: string): boolean => Number(price) > 0 && mark > Number(price) * 1.002
    const isBelow = (price: string): boolean => Number(price) > 0 && mark < Number(price) * 0.998
    if (side === 'long') return isAbove(tp) || isBelow(sl) || isBelow(liquidationPrice)
    return isBelow(tp) || isAbove(sl) || isAbove(liquidationPrice)
  }

  async function endSome(): Promise<void> {
    for (const level of END_LEVELS.slice(1)) {
      await keeperIsDone()
      await world.moveAll(() => level)
    }
    await keeperIsDone()
    await everybody(async (trader) => {
      for (const position of await world.positionsOf(trader)) {
        if (trader.random.chance(0.5)) await close(world, trader, position)
      }
    })
    await world.settle()
  }

  async function keeperIsDone(): Promise<void> {
    for (const trader of world.traders) {
      await patient('the keeper has ended what is reached', async (saw) => {
        const reached = (await world.positionsOf(trader)).filter(isReached)
        saw(reached)
        return reached.length === 0
      })
    }
    await world.settle()
  }

  async function balanceInWave(): Promise<void> {
    await openSome()
    await checkBooks(world, 'after the opens')
    await passTime()
    await changeSome()
    await reorganise('remine')
    await checkBooks(world, 'after changes, a kill and a reorganisation')
    await passTime()
    for (let n = 0; n === 0 || (n < MAX_REFUSALS && missing().some(isRefusal)); n += 1) {
      await requestSome(false)
      await checkBooks(world, 'after refusals')
    }
    await requestSome(true)
    await world.setTokenPrice('WETH', String(2_400 + world.random.below(200)))
    await closeTooLate()
    await endSome()
    await checkBooks(world, 'after the ends')
    await reorganise('drop')
    await checkBooks(world, 'after blocks were dropped')
    world.count('waves')
  }

  for (let wave = 1; wave <= WAVES; wave += 1) it(`balance in wave ${wave}`, balanceInWave)

  it('held everything that can happen to a position', async () => {
    for (let n = 0; n < MAX_FURTHER_WAVES && missing().length > 0; n += 1) await balanceInWave()
    for (const [what, count] of [...world.counts].toSorted()) console.log(`${String(count).padStart(7)} ${what}`)
    assert.deepEqual(missing(), [])
  })
})
