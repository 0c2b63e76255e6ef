import type { CreateOrderRequest, Position } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'
import type { CallReader } from './createCallReader.ts'
import { expectClosing } from './expectClosing.ts'
import { scaled, SIZE_DECIMALS } from './scales.ts'
import type { VerifyContext } from './verifyContext.ts'

/** Closes opposite positions of the market in one collateral, oldest first, until the size is used up; never one more. */
export function expectReduction(calls: CallReader, body: CreateOrderRequest, context: VerifyContext): void {
  const { market, collateral } = context
  let left = scaled('size', body.size, SIZE_DECIMALS)
  const unit = 10n ** BigInt(SIZE_DECIMALS - market.sizePrecision)
  const candidates = reducible(context.positions ?? [], body).filter(
    ({ collateralSymbol }) => collateralSymbol === collateral.symbol,
  )
  if (candidates.length === 0) throw new UnverifiedTransactionError('reduceOnly', 'a position to reduce', 'none')
  for (const position of candidates) {
    if (left < unit) break
    const terms = { position, size: left, sizeText: body.size, price: body.price, slippage: body.slippage }
    left -= expectClosing(calls, terms, context)
  }
}

/** What a reduce-only order can close, oldest first. */
export function reducible(positions: readonly Position[], { market, side }: CreateOrderRequest): readonly Position[] {
  return positions
    .filter((position) => position.market === market && position.side !== side)
    .toSorted((one, other) => one.openedAtBlock - other.openedAtBlock)
}
