import { encodeFunctionData, type Address, type Hex } from 'viem'
import { KEEPER, TRADERS, TREASURY } from '../../../packages/devnet/src/deploy/accounts.ts'
import { loadArtifact } from '../../artifact.ts'
import type { PendingOrder, Trade, TradeFees, ViewResult } from './codec.ts'
import type { Ground } from './ground.ts'
import { COLLATERAL_INDICES, MARKETS } from './market.ts'

/** All users with trades or pending orders: five traders and the keeper. */
export const USERS: readonly Address[] = [...TRADERS, KEEPER].map(({ account }) => account.address)
export const TRADER_ADDRESSES: readonly Address[] = TRADERS.map(({ account }) => account.address)

/** Distribution of a collateral's tokens. */
export type Balances = {
  supply: bigint
  diamond: bigint
  vault: bigint
  treasury: bigint
  /** Balances in the order of TRADERS. */
  traders: bigint[]
}

/** The open interest and fee state of one pair in one collateral. */
export type Book = {
  collateralIndex: number
  pairIndex: number
  oiCollateral: ViewResult<'getPairOisAfterV10Collateral'>[number]
  oiToken: ViewResult<'getPairOisAfterV10Token'>[number]
  funding: ViewResult<'getPairFundingFeeData'>[number]
  borrowing: ViewResult<'getPairBorrowingFeeData'>[number]
}

/** The state of the Diamond after a step. */
export type Snapshot = {
  /** Open positions and resting orders of all users. */
  trades: readonly Trade[]
  /** Fees of each trade, by its index in `trades`. */
  fees: readonly TradeFees[]
  /** Open pending orders of all users. */
  orders: readonly PendingOrder[]
  /** Counters in the order of USERS. */
  tradeCounters: ViewResult<'getCountersForTraders'>
  orderCounters: ViewResult<'getCountersForTraders'>
  /** Fees by collateral index, like the balances. */
  govFees: Readonly<Record<number, bigint>>
  balances: Readonly<Record<number, Balances>>
  books: readonly Book[]
}

const BOOKS = COLLATERAL_INDICES.flatMap((collateral) =>
  MARKETS.map(({ pairIndex }) => [collateral, pairIndex] as const),
)
const BOOK_COLLATERALS = BOOKS.map(([collateral]) => collateral)
const BOOK_PAIRS = BOOKS.map(([, pair]) => pair)

export async function takeSnapshot(ground: Ground): Promise<Snapshot> {
  const [open, books, money] = await Promise.all([
    readOpen(ground),
    readBooks(ground),
    Promise.all(ground.collaterals.map((collateral) => readMoney(ground, collateral))),
  ])
  return {
    ...open,
    fees: await readFees(ground, open.trades),
    books,
    govFees: Object.fromEntries(money.map(({ index, govFees }) => [index, govFees])),
    balances: Object.fromEntries(money.map(({ index, balances }) => [index, balances])),
  }
}

/** Reads the part of a snapshot that actions choose from, without fees, books and money. */
export async function readOpen(
  ground: Ground,
): Promise<Pick<Snapshot, 'trades' | 'orders' | 'tradeCounters' | 'orderCounters'>> {
  const [tradeCounters, orderCounters] = await Promise.all([
    ground.read('getCountersForTraders', [USERS, 0]),
    ground.read('getCountersForTraders', [USERS, 1]),
  ])
  const [trades, orders] = await Promise.all([
    readTrades(ground, openCountOf(tradeCounters)),
    readOrders(ground, openCountOf(orderCounters)),
  ])
  return { trades, orders, tradeCounters, orderCounters }
}

function openCountOf(counters: Snapshot['tradeCounters']): bigint {
  return BigInt(counters.reduce((sum, { openCount }) => sum + openCount, 0))
}

async function readOrders(ground: Ground, count: bigint): Promise<readonly PendingOrder[]> {
  return count === 0n ? [] : ground.read('getAllPendingOrders', [0n, count - 1n])
}

async function readTrades(ground: Ground, count: bigint): Promise<readonly Trade[]> {
  return count === 0n ? [] : ground.read('getAllTrades', [0n, count - 1n])
}

async function readFees(ground: Ground, trades: readonly Trade[]): Promise<readonly TradeFees[]> {
  if (trades.length === 0) return []
  return ground.read('getTradeFeesDataArray', [trades.map(({ user }) => user), trades.map(({ index }) => index)])
}

async function readBooks(ground: Ground): Promise<Book[]> {
  const [oiCollaterals, oiTokens, fundings, borrowings] = await Promise.all([
    ground.read('getPairOisAfterV10Collateral', [BOOK_COLLATERALS, BOOK_PAIRS]),
    ground.read('getPairOisAfterV10Token', [BOOK_COLLATERALS, BOOK_PAIRS]),
    ground.read('getPairFundingFeeData', [BOOK_COLLATERALS, BOOK_PAIRS]),
    ground.read('getPairBorrowingFeeData', [BOOK_COLLATERALS, BOOK_PAIRS]),
  ])
  return BOOKS.map(([collateralIndex, pairIndex], i) => ({
    collateralIndex,
    pairIndex,
    oiCollateral: oiCollaterals[i]!,
    oiToken: oiTokens[i]!,
    funding: fundings[i]!,
    borrowing: borrowings[i]!,
  }))
}

const tokenAbi = loadArtifact('Token').abi
const TOTAL_SUPPLY = encodeFunctionData({ abi: tokenAbi, functionName: 'totalSupply', args: [] })
const balanceCalls = new Map<Address, Hex>()

function balanceOf(ground: Ground, token: Address, holder: Address): Promise<bigint> {
  const data =
    balanceCalls.get(holder) ?? encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [holder] })
  balanceCalls.set(holder, data)
  return ground.readNumber(token, data)
}

async function readMoney(ground: Ground, { index, address, vault }: Ground['collaterals'][number]) {
  const [govFees, supply, inDiamond, inVault, inTreasury, traders] = await Promise.all([
    ground.read('getPendingGovFeesCollateral', [index]),
    ground.readNumber(address, TOTAL_SUPPLY),
    balanceOf(ground, address, ground.diamond),
    balanceOf(ground, address, vault),
    balanceOf(ground, address, TREASURY.account.address),
    Promise.all(TRADER_ADDRESSES.map((holder) => balanceOf(ground, address, holder))),
  ])
  const balances: Balances = { supply, diamond: inDiamond, vault: inVault, treasury: inTreasury, traders }
  return { index, govFees, balances }
}

/** Returns the key of a trade or a pending order. Each owner's indexes count from 0. */
export function keyOf({ user, index }: { user: Address; index: number }): string {
  return `${user.toLowerCase()}:${index}`
}

/** Finds an open trade, with its fees. */
export function findTrade(
  snapshot: Snapshot,
  id: { user: Address; index: number },
): { trade: Trade; fees: TradeFees } | undefined {
  const key = keyOf(id)
  const i = snapshot.trades.findIndex((trade) => keyOf(trade) === key)
  return i < 0 ? undefined : { trade: snapshot.trades[i]!, fees: snapshot.fees[i]! }
}

export function bookOf(snapshot: Snapshot, collateralIndex: number, pairIndex: number): Book {
  return snapshot.books.find((book) => book.collateralIndex === collateralIndex && book.pairIndex === pairIndex)!
}
