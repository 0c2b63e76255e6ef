import { CollateralAmount, type OrderId } from '@bezel/protocol'
import { bookValue, type ToldAmounts, type ValueChange } from '../trading/positions/books.ts'
import type { BlockScope } from './blockScope.ts'

/** Fees that a transaction charged to an open position. */
type Charges = Pick<ToldAmounts, 'feeCollateral' | 'fundingFee' | 'borrowingFee'>

/** A change of a position's books that no entry of the history has told. */
export interface Unbooked extends Charges {
  readonly value: ValueChange
}

/** The changes of books in one transaction, from entry to entry of each position. */
export interface TransactionBooks {
  /** Notes the value of a position. Called before an event that may change it is added. */
  open(positionId: OrderId): Promise<void>
  /** Notes fees that an event tells. Ignores a position whose books are not open. */
  charge(positionId: OrderId, charges: Partial<Charges>): void
  /** Returns the fees that events told since the last entry of a position. */
  charged(positionId: OrderId): Charges
  /** Returns everything since the last entry of a position, and starts anew. */
  take(positionId: OrderId): Promise<Unbooked>
  /** Returns the positions whose holding fees were realised since their last entry. */
  withHoldingFees(): OrderId[]
}

const NO_CHARGES: Charges = {
  feeCollateral: CollateralAmount.zero,
  fundingFee: CollateralAmount.zero,
  borrowingFee: CollateralAmount.zero,
}

export function createTransactionBooks({ readPositionState }: Pick<BlockScope, 'readPositionState'>): TransactionBooks {
  const books = new Map<OrderId, Charges & { readonly before: CollateralAmount }>()
  const valueNow = async (id: OrderId): Promise<CollateralAmount> => bookValue(await readPositionState(id))

  return {
    async open(id) {
      if (!books.has(id)) books.set(id, { ...NO_CHARGES, before: await valueNow(id) })
    },
    charge(id, charges) {
      const book = books.get(id)
      if (book === undefined) return
      const plus = (field: keyof Charges): CollateralAmount => CollateralAmount.of(book[field] + (charges[field] ?? 0n))
      const sums = {
        feeCollateral: plus('feeCollateral'),
        fundingFee: plus('fundingFee'),
        borrowingFee: plus('borrowingFee'),
      }
      books.set(id, { ...sums, before: book.before })
    },
    charged: (id) => books.get(id) ?? NO_CHARGES,
    async take(id) {
      const after = await valueNow(id)
      const { before, ...charges } = books.get(id) ?? { ...NO_CHARGES, before: after }
      books.set(id, { ...NO_CHARGES, before: after })
      return { ...charges, value: { before, after } }
    },
    withHoldingFees: () =>
      [...books].filter(([, book]) => book.fundingFee !== 0n || book.borrowingFee !== 0n).map(([id]) => id),
  }
}
