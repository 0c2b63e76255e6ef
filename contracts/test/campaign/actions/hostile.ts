import { encodeFunctionData, zeroAddress, type Address } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { AGENTS, KEEPER, ORACLES, TRADERS } from '../../../../packages/devnet/src/deploy/accounts.ts'
import { loadArtifact } from '../../../artifact.ts'
import { packAnswer, oracleRequestId, type Candle } from '../../world.ts'
import type { Action, Campaign } from '../campaign.ts'
import { encodeWrite, type PendingOrder } from '../codec.ts'
import type { Receipt } from '../ground.ts'
import { MARKET_TIMEOUT_BLOCKS, TRIGGER_TIMEOUT_BLOCKS } from '../timeouts.ts'
import { findTrade } from '../snapshot.ts'
import { pickRequest } from './answers.ts'
import { BAD_CHANGES, BAD_OPENS, decentOpen, type Hostility } from './hostileRequests.ts'
import { encodeTrigger } from './surroundings.ts'

const MARKET_TYPES = [1, 7, 8, 9]
const TRIGGER_TYPES = [2, 3, 4, 5, 6]
const ANSWER_TTL_S = 3_600

function pickOrder(c: Campaign, filter: (order: PendingOrder) => boolean): PendingOrder | undefined {
  const found = c.snapshot.orders.filter(filter)
  return found.length === 0 ? undefined : c.random.pick(found)
}

const BAD_TIMING: readonly Hostility[] = [
  {
    error: 'ConflictingPendingOrder',
    make(c, trader) {
      const order = pickOrder(c, ({ user, orderType }) => user === trader && MARKET_TYPES.includes(orderType))
      return order && { data: encodeWrite('closeTradeMarket', [order.trade.index, 1n]) }
    },
  },
  {
    error: 'WaitTimeout',
    make(c, trader) {
      const youngest = c.ground.blockNumber() + 2 - MARKET_TIMEOUT_BLOCKS
      const order = pickOrder(
        c,
        ({ user, orderType, createdBlock }) =>
          user === trader && !TRIGGER_TYPES.includes(orderType) && createdBlock >= youngest,
      )
      return order && { data: encodeWrite('cancelOrderAfterTimeout', [order.index]) }
    },
  },
  {
    error: 'WrongOrderType',
    make(c) {
      const order = pickOrder(c, ({ user }) => user === KEEPER.account.address)
      return order && { account: KEEPER.account, data: encodeWrite('cancelOrderAfterTimeout', [order.index]) }
    },
  },
  {
    error: 'PendingTrigger',
    make(c) {
      const youngest = c.ground.blockNumber() + 2 - TRIGGER_TIMEOUT_BLOCKS
      const order = pickOrder(
        c,
        ({ trade, orderType, createdBlock }) =>
          TRIGGER_TYPES.includes(orderType) && createdBlock >= youngest && findTrade(c.snapshot, trade) !== undefined,
      )
      return order && { account: KEEPER.account, data: encodeTrigger(order.trade, order.orderType) }
    },
  },
]

function badTrigger(
  error: string,
  orderType: number,
  tradeTypes: number[],
  has: { tp?: boolean; sl?: boolean },
): Hostility {
  return {
    error,
    make(c) {
      const found = c.snapshot.trades.filter(
        (t) =>
          tradeTypes.includes(t.tradeType) &&
          (has.tp === undefined || t.tp > 0n === has.tp) &&
          (has.sl === undefined || t.sl > 0n === has.sl) &&
          !c.snapshot.orders.some(({ trade }) => trade.user === t.user && trade.index === t.index),
      )
      if (found.length === 0) return undefined
      return { account: KEEPER.account, data: encodeTrigger(c.random.pick(found), orderType) }
    },
  }
}

const BAD_TRIGGERS: readonly Hostility[] = [
  badTrigger('WrongOrderType', 0, [0, 1, 2], {}),
  badTrigger('WrongOrderType', 7, [0, 1, 2], {}),
  badTrigger('WrongTradeType', 6, [1, 2], {}),
  badTrigger('WrongTradeType', 2, [0, 2], {}),
  badTrigger('NoTp', 4, [0], { tp: false }),
  badTrigger('NoSl', 5, [0], { sl: false }),
  {
    error: 'NoTrade',
    make: (_, trader) => ({ account: KEEPER.account, data: encodeTrigger({ user: trader, index: 4_000_000 }, 6) }),
  },
]

function badAnswer(error: string, prices: Candle, isLookback: boolean, oracle?: number): Hostility {
  return {
    error,
    make(c) {
      const isWanted = ({ orderType }: PendingOrder): boolean => TRIGGER_TYPES.includes(orderType) === isLookback
      const request = pickRequest(c, (age) => age <= ANSWER_TTL_S, isWanted)
      if (request === undefined) return undefined
      const entitled = [0, 1, 2].find((i) => !request.answeredBy.has(i))!
      const requestId = oracleRequestId(request.order, ORACLES[entitled]!.account.address)
      return {
        account: ORACLES[oracle ?? entitled]!.account,
        data: encodeWrite('fulfill', [requestId, packAnswer(prices)]),
      }
    },
  }
}

const PRICED: Candle = { open: 10n, high: 12n, low: 8n, current: 10n }

const BAD_ANSWERS: readonly Hostility[] = [
  badAnswer('PriceZero', { ...PRICED, current: 0n }, false),
  badAnswer('InvalidCandle', { ...PRICED, low: 11n }, true),
  badAnswer('InvalidCandle', { ...PRICED, high: 9n }, true),
  badAnswer('SourceNotOracleOfRequest', PRICED, false, 3),
  {
    error: 'SourceNotOracleOfRequest',
    make: () => ({ data: encodeWrite('fulfill', [`0x${'00'.repeat(32)}`, packAnswer(10n)]) }),
  },
]

function strangerOf(trader: Address): PrivateKeyAccount {
  const i = TRADERS.findIndex(({ account }) => account.address === trader)
  return AGENTS[(i + 1) % AGENTS.length]!.account
}

const BAD_ACCESS: readonly Hostility[] = [
  {
    error: 'DelegateNotApproved',
    make: (_, trader) => ({
      account: strangerOf(trader),
      data: encodeWrite('delegatedTradingAction', [trader, encodeWrite('closeTradeMarket', [0, 1n])]),
    }),
  },
  {
    error: 'DelegatedActionNotAllowed',
    make(c, trader) {
      const inner = c.random.pick([
        encodeTrigger({ user: trader, index: 0 }, 6),
        encodeWrite('delegatedTradingAction', [trader, '0x']),
        encodeWrite('multicall', [[encodeTrigger({ user: trader, index: 0 }, 6)]]),
      ])
      const account = c.delegates.get(trader)?.account
      return account && { account, data: encodeWrite('delegatedTradingAction', [trader, inner]) }
    },
  },
  { error: 'WrongAccess', make: () => ({ data: encodeWrite('updateTradingActivated', [2]) }) },
  { error: 'WrongAccess', make: () => ({ data: encodeWrite('diamondCut', [[], zeroAddress, '0x']) }) },
  {
    error: 'OnlyDiamond',
    make: (c, trader) => ({
      to: c.random.pick(c.ground.collaterals).vault,
      data: encodeFunctionData({ abi: loadArtifact('Vault').abi, functionName: 'sendAssets', args: [1n, trader] }),
    }),
  },
  {
    error: 'NotMinter',
    make: (c, trader) => ({
      to: c.random.pick(c.ground.collaterals).address,
      data: encodeFunctionData({ abi: loadArtifact('Token').abi, functionName: 'mint', args: [trader, 1n] }),
    }),
  },
]

const BAD_BATCHES: readonly Hostility[] = [
  {
    error: 'AboveMax',
    make: () => ({ data: encodeWrite('multicall', [Array(21).fill(encodeWrite('cancelOpenOrder', [0]))]) }),
  },
  {
    // The calls before the failing one are undone with it.
    error: 'DoesntExist',
    make: (c, trader) => ({
      data: encodeWrite('multicall', [
        [
          encodeWrite('openTrade', [decentOpen(c, trader), 1_000, zeroAddress]),
          encodeWrite('closeTradeMarket', [4_000_000, 1n]),
        ],
      ]),
    }),
  },
]

const HOSTILITIES: readonly Hostility[] = [
  ...BAD_OPENS,
  ...BAD_CHANGES,
  ...BAD_TIMING,
  ...BAD_TRIGGERS,
  ...BAD_ANSWERS,
  ...BAD_ACCESS,
  ...BAD_BATCHES,
]
/** Errors that occur instead when the trader has too little of a collateral. */
const ANYWAY = ['ERC20InsufficientBalance']

/**
 * Picks one of the least tried out of eight random ones, so that all are tried soon, even while some are impossible.
 */
function leastTried(c: Campaign): number {
  const few = Array.from({ length: 8 }, () => c.random.int(0, HOSTILITIES.length - 1))
  return few.toSorted((a, b) => (c.attempts.get(a) ?? 0) - (c.attempts.get(b) ?? 0))[c.random.int(0, 1)]!
}

/** Somebody attempts something forbidden. */
export const hostileActs: Action = {
  name: 'hostile acts',
  weight: 12,
  async run(c) {
    const trader = c.random.pick(TRADERS)
    const chosen = leastTried(c)
    const { error, make } = HOSTILITIES[chosen]!
    const attempt = make(c, trader.account.address)
    if (attempt === undefined) return undefined
    c.attempts.set(chosen, (c.attempts.get(chosen) ?? 0) + 1)
    const { data, account = trader.account, to = c.ground.diamond } = attempt
    const receipt = await c.ground.transact(account, to, data)
    c.coverage.count(`hostile ${receipt.revertedWith ?? 'ok'}`)
    return { receipts: [receipt], mustEndWith: [error, ...ANYWAY] }
  },
}

/** Trading is paused for a while, and every request reverts. */
export const tradingStops: Action = {
  name: 'trading stops',
  weight: 0.5,
  async run(c) {
    const { account } = c.random.pick(TRADERS)
    const open = encodeWrite('openTrade', [decentOpen(c, account.address), 1_000, zeroAddress])
    const close = encodeWrite('closeTradeMarket', [0, 1n])
    const receipts: Receipt[] = []
    await c.ground.govern('updateTradingActivated', [1])
    receipts.push(await c.ground.transact(account, c.ground.diamond, open))
    await c.ground.govern('updateTradingActivated', [2])
    receipts.push(await c.ground.transact(account, c.ground.diamond, close))
    await c.ground.govern('updateTradingActivated', [0])
    for (const { revertedWith } of receipts) c.coverage.count(`stopped ${revertedWith ?? 'ok'}`)
    return { receipts, mustEndWith: ['Paused'] }
  },
}
