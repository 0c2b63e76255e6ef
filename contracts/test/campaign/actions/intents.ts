import type { Address, Hex } from 'viem'
import { AGENTS, TRADERS, type DevAccount } from '../../../../packages/devnet/src/deploy/accounts.ts'
import { priceOf, type Action, type Campaign, type Step } from '../campaign.ts'
import { encodeWrite } from '../codec.ts'
import { marketOf, movedBy } from '../market.ts'
import { OPEN_INTENTS } from './openIntents.ts'
import { pickTrade, POSITION_INTENTS } from './positionIntents.ts'

/** A kind of call that a trader can send to the Diamond: directly, through its delegate or in a multicall. */
export type IntentMaker = {
  name: string
  weight: number
  /** Encodes the call. Returns undefined when the trader has nothing to apply it to. */
  make(campaign: Campaign, trader: Address): Hex | undefined
}

/**
 * Numbers of trades of one trader. With fewer than the first it mostly opens; with more than the second it only closes,
 * because reading all trades takes time.
 */
const FEW_TRADES = 5
const MANY_TRADES = 10

const ORDER_INTENTS: readonly IntentMaker[] = [
  {
    name: 'update open order',
    weight: 4,
    make(c, trader) {
      const t = pickTrade(c, trader, ({ tradeType }) => tradeType !== 0)
      if (t === undefined) return undefined
      const price = movedBy(priceOf(c, t.pairIndex), c.random.int(-20_000, 20_000) * marketOf(t.pairIndex).liveliness)
      const [tp, sl] = [t.long ? price * 2n : price / 2n, t.long ? price / 2n : price * 2n]
      const slippage = c.random.logInt(10, 60_000)
      return encodeWrite('updateOpenOrder', [
        t.index,
        price,
        c.random.pick([0n, tp]),
        c.random.pick([0n, sl]),
        slippage,
      ])
    },
  },
  {
    name: 'cancel open order',
    weight: 3,
    make(c, trader) {
      const t = pickTrade(c, trader, ({ tradeType }) => tradeType !== 0)
      return t === undefined ? undefined : encodeWrite('cancelOpenOrder', [t.index])
    },
  },
  {
    name: 'reclaim',
    weight: 8,
    make(c, trader) {
      const orders = c.snapshot.orders.filter(({ user }) => user === trader)
      return orders.length === 0 ? undefined : encodeWrite('cancelOrderAfterTimeout', [c.random.pick(orders).index])
    },
  },
]

const CLOSING = new Set(['close', 'decrease of collateral', 'decrease of leverage', 'cancel open order', 'reclaim'])

/** A trader sends a request, directly or through its delegate, or several in a multicall. */
export const traderActs: Action = {
  name: 'trader acts',
  weight: 45,
  async run(c) {
    const trader = c.random.pick(TRADERS)
    const intents = [makeIntent(c, trader.account.address)]
    while (c.random.chance(0.1)) intents.push(makeIntent(c, trader.account.address))
    const made = intents.filter((intent) => intent !== undefined)
    const [first] = made
    if (first === undefined) return undefined
    const data = made.length === 1 ? first.data : encodeWrite('multicall', [made.map((intent) => intent.data)])
    const how = made.length === 1 ? first.name : 'multicall'
    return send(c, trader, how, data)
  },
}

function makeIntent(c: Campaign, trader: Address): { name: string; data: Hex } | undefined {
  const { name, make } = c.random.weighted(intentsFor(c, trader))
  const data = make(c, trader)
  return data === undefined ? undefined : { name, data }
}

function intentsFor(c: Campaign, trader: Address): readonly IntentMaker[] {
  const trades = c.snapshot.trades.filter(({ user }) => user === trader).length
  const changes = [...POSITION_INTENTS, ...ORDER_INTENTS]
  if (trades > MANY_TRADES) return changes.filter(({ name }) => CLOSING.has(name))
  return trades < FEW_TRADES && c.random.chance(0.5) ? OPEN_INTENTS : [...OPEN_INTENTS, ...changes]
}

async function send(c: Campaign, trader: DevAccount, how: string, data: Hex): Promise<Step> {
  const delegate = c.delegates.get(trader.account.address)
  const isDelegated = delegate !== undefined && c.random.chance(0.5)
  const receipt = isDelegated
    ? await c.ground.transact(
        delegate.account,
        c.ground.diamond,
        encodeWrite('delegatedTradingAction', [trader.account.address, data]),
      )
    : await c.ground.transact(trader.account, c.ground.diamond, data)
  c.coverage.count(`sent ${how}${isDelegated ? ' by a delegate' : ''}: ${receipt.revertedWith ?? 'ok'}`)
  return { receipts: [receipt] }
}

/** A trader sets a delegate, or removes it. */
export const traderDelegates: Action = {
  name: 'trader delegates',
  weight: 2,
  async run(c) {
    const i = c.random.int(0, TRADERS.length - 1)
    const { account } = TRADERS[i]!
    if (c.delegates.has(account.address) && c.random.chance(0.3)) {
      c.delegates.delete(account.address)
      return {
        receipts: [await c.ground.transact(account, c.ground.diamond, encodeWrite('removeTradingDelegate', []))],
      }
    }
    const agent = AGENTS[i]!
    c.delegates.set(account.address, agent)
    const data = encodeWrite('setTradingDelegate', [agent.account.address])
    return { receipts: [await c.ground.transact(account, c.ground.diamond, data)] }
  },
}
