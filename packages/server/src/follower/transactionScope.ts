import type { Address, Hex, OrderId } from '@bezel/protocol'
import { attemptIdIn, type StoredAttempt } from '../store/attemptStore.ts'
import type { ChainPlace, OrderEvent } from '../trading/orders/orderModel.ts'
import type { PositionEvent } from '../trading/positions/positionModel.ts'
import type { PositionAttempt } from '../store/positionAttemptStore.ts'
import type { BlockScope } from './blockScope.ts'
import type { ChainTransaction } from '../chain/blocks.ts'
import type { OrderHandle } from '../store/orderEventStore.ts'
import { createTransactionBooks, type TransactionBooks } from './transactionBooks.ts'

type Body<Event> = Event extends unknown ? Omit<Event, keyof ChainPlace | 'attemptId'> : never
/** An order event without its place on the chain and its attempt. */
type OrderEventBody = Body<OrderEvent>

/** Working state while the events of one transaction are applied. */
export interface TransactionScope {
  readonly scope: BlockScope
  readonly transaction: ChainTransaction
  /**
   * Lists the attempt whose calldata the transaction has, once for each of its orders; empty when there is none. Reads
   * at the first call only, because transactions of oracles and bots never need it.
   */
  listExactAttempts(): Promise<readonly StoredAttempt[]>
  /**
   * Lists the attempts that the transaction can be, once for each of their orders: the one with its calldata, else the
   * trader's attempts for which its hash was reported.
   */
  listAttempts(trader: Address): Promise<readonly StoredAttempt[]>
  /** Finds the attempt to change this position whose id the calldata ends with. */
  findPositionAttempt(positionId: OrderId): Promise<PositionAttempt | undefined>
  placeOf(logIndex: number): ChainPlace
  /**
   * Returns the origin key of the next order that this transaction creates. The same in whichever block it is mined.
   */
  nextOriginKey(): string
  /** Token size, scaled by 1e18, of each position before this transaction changed it. */
  readonly tokensBefore: Map<OrderId, bigint>
  /** News of trades that are not known, which this transaction may open yet. */
  readonly newsOfUnknown: UnknownNews[]
  /** Changes of positions' books that entries of the history are made of. */
  readonly books: TransactionBooks
  /** Adds an event that may change a position's books. */
  addBookedEvent(positionId: OrderId, event: PositionEvent): Promise<void>
}

/** An event about a trade that is not known. */
interface UnknownNews {
  readonly trader: `0x${string}`
  readonly tradeIndex: number
  readonly event: PositionEvent
}

export function createTransactionScope(scope: BlockScope, transaction: ChainTransaction): TransactionScope {
  const { number: blockNumber, hash: blockHash, timestampMs } = scope.block
  let exact: Promise<readonly StoredAttempt[]> | undefined
  let created = 0
  const books = createTransactionBooks(scope)
  const listExactAttempts = (): Promise<readonly StoredAttempt[]> => (exact ??= readExactAttempts(scope, transaction))
  return {
    scope,
    transaction,
    listExactAttempts,
    async listAttempts(trader) {
      const found = await listExactAttempts()
      return found.length === 0 ? scope.reads.attemptsByHash(transaction.hash, trader) : found
    },
    findPositionAttempt: (positionId) => scope.reads.positionAttempt(attemptIdIn(transaction.input), positionId),
    placeOf: (logIndex) => ({ blockNumber, blockHash, logIndex, txHash: transaction.hash, timestampMs }),
    nextOriginKey: () => originKeyOf(transaction.hash, created++),
    tokensBefore: new Map(),
    newsOfUnknown: [],
    books,
    async addBookedEvent(positionId, event) {
      await books.open(positionId)
      await scope.addPositionEvent(positionId, event)
    },
  }
}

/** Returns the origin key of an order that a transaction creates, the first one or a later one. */
export function originKeyOf(txHash: Hex, at: number): string {
  return `tx:${txHash}:${at}`
}

/** Returns true when an attempt was prepared as exactly this transaction. */
export function isExactly({ attempt }: StoredAttempt, { input }: Pick<ChainTransaction, 'input'>): boolean {
  return attempt.calldata === input
}

/** Returns the address as an `Address`: decoded addresses are in EIP-55 form already. */
export function traderOf(address: `0x${string}`): Address {
  return address as Address
}

/** Finds the order with this handle on the chain; `undefined` for what is no order, such as a leverage update. */
export function findOrderByHandle(
  { scope }: TransactionScope,
  trader: `0x${string}`,
  handle: OrderHandle,
): Promise<OrderId | undefined> {
  return scope.findOrderByHandle(traderOf(trader), handle)
}

export async function addOrderEvent(
  tx: TransactionScope,
  of: {
    readonly trader: `0x${string}`
    readonly orderId: OrderId
    readonly logIndex: number
    readonly body: OrderEventBody
    /**
     * True when a transaction of the trader caused the event, which may then be an attempt; false when the oracle or a
     * bot did.
     */
    readonly isByTrader: boolean
  },
): Promise<void> {
  const trader = traderOf(of.trader)
  const attempts = of.isByTrader ? await tx.listAttempts(trader) : []
  const found = attempts.find(({ orderId }) => orderId === of.orderId)
  await tx.scope.addOrderEvent({
    trader,
    orderId: of.orderId,
    handle: null,
    event: { ...tx.placeOf(of.logIndex), attemptId: found?.attempt.id ?? null, ...of.body },
  })
}

/** Reads the attempt whose calldata equals that of the transaction, once for each of its orders. */
async function readExactAttempts(
  { reads, chain }: Pick<BlockScope, 'reads' | 'chain'>,
  transaction: Pick<ChainTransaction, 'input'>,
): Promise<readonly StoredAttempt[]> {
  const named = await reads.attemptsNamed(attemptIdIn(transaction.input))
  return named.filter((found) => found.chain === chain && isExactly(found, transaction))
}
