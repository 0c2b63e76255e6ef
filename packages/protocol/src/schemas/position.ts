import { Type, type Static } from '@sinclair/typebox'
import { PreparedTransactionSchema } from './order.ts'
import { AddressSchema, Closed, DecimalSchema, IdSchema, MarketSymbolSchema, SideSchema } from './scalars.ts'

/**
 * An open position. No field is ever null: an unset `sl` or `tp` is "0", as on chain. A positive fee is paid by the
 * trader.
 */
export const PositionSchema = Closed({
  id: IdSchema,
  trader: AddressSchema,
  market: MarketSymbolSchema,
  pairIndex: Type.Integer(),
  side: SideSchema,
  size: DecimalSchema,
  collateral: DecimalSchema,
  collateralSymbol: Type.String(),
  leverage: DecimalSchema,
  entryPrice: DecimalSchema,
  markPrice: DecimalSchema,
  liquidationPrice: DecimalSchema,
  unrealizedPnl: DecimalSchema,
  unrealizedPnlPercent: DecimalSchema,
  fundingFee: DecimalSchema,
  borrowingFee: DecimalSchema,
  sl: DecimalSchema,
  tp: DecimalSchema,
  openedAtBlock: Type.Integer(),
  marginMode: Type.Literal('isolated'),
})
export type Position = Static<typeof PositionSchema>
export const PositionListSchema = Closed({ data: Type.Array(PositionSchema) })

export const ClosePositionRequestSchema = Closed({
  size: Type.Optional(DecimalSchema),
  slippage: Type.Optional(DecimalSchema),
})
export type ClosePositionRequest = Static<typeof ClosePositionRequestSchema>

/** A change of a position. A change of `collateral` keeps the size, so the leverage changes. */
export const UpdatePositionRequestSchema = Closed({
  sl: Type.Optional(DecimalSchema),
  tp: Type.Optional(DecimalSchema),
  leverage: Type.Optional(DecimalSchema),
  collateral: Type.Optional(
    Closed({ action: Type.Union([Type.Literal('add'), Type.Literal('remove')]), amount: DecimalSchema }),
  ),
})
export type UpdatePositionRequest = Static<typeof UpdatePositionRequestSchema>

export const PreparedPositionSchema = Closed({ position: PositionSchema, transaction: PreparedTransactionSchema })
export type PreparedPosition = Static<typeof PreparedPositionSchema>
