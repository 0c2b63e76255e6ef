import type { Order, Position, UpdateOrderRequest, UpdatePositionRequest } from '@bezel/protocol/wire'
import type { CallReader } from './createCallReader.ts'
import { expectSame } from './expect.ts'
import { expectOpening } from './expectOpening.ts'
import { expectOrderIndex, expectPositionIndex } from './expectTradeIndex.ts'
import { LEVERAGE_DECIMALS, scaled, slippageUnits, triggerUnits } from './scales.ts'
import type { VerifyContext } from './verifyContext.ts'

/** One `updateOpenOrder` that leaves alone what was not named; for another size the order is cancelled and placed again. */
export function expectOrderUpdate(
  calls: CallReader,
  order: Order,
  body: UpdateOrderRequest,
  context: VerifyContext,
): void {
  const terms = {
    ...order,
    price: body.price ?? order.price ?? undefined,
    sl: body.sl ?? order.sl,
    tp: body.tp ?? order.tp,
    slippage: body.slippage ?? order.slippage,
  }
  if (body.size !== undefined) {
    const [index] = calls.next('cancelOpenOrder')
    expectOrderIndex(index, order, context)
    expectOpening(calls, { ...terms, size: body.size }, context)
    return
  }
  const [index, price, tp, sl, slippage] = calls.next('updateOpenOrder')
  expectOrderIndex(index, order, context)
  expectSame('price', triggerUnits('price', terms.price), price)
  expectSame('tp', triggerUnits('tp', terms.tp), tp)
  expectSame('sl', triggerUnits('sl', terms.sl), sl)
  expectSame('slippage', slippageUnits(terms.slippage), slippage)
}

/** Stop loss and take profit, or leverage, or collateral (which the chain knows as a leverage that keeps the size). */
export function expectPositionUpdate(
  calls: CallReader,
  position: Position,
  body: UpdatePositionRequest,
  context: VerifyContext,
): void {
  const expectIndex = (index: number): void => void expectPositionIndex(index, position, context)
  const indices: number[] = []
  if (body.sl !== undefined) {
    const [index, sl] = calls.next('updateSl')
    expectSame('sl', triggerUnits('sl', body.sl), sl)
    indices.push(index)
  }
  if (body.tp !== undefined) {
    const [index, tp] = calls.next('updateTp')
    expectSame('tp', triggerUnits('tp', body.tp), tp)
    indices.push(index)
  }
  if (body.leverage !== undefined || body.collateral !== undefined) {
    const [index, leverage] = calls.next('updateLeverage')
    expectSame('leverage', newLeverage(position, body, context), leverage)
    indices.push(index)
  }
  for (const index of indices) {
    expectSame('trade index', indices[0]!, index)
    expectIndex(index)
  }
}

/** 1e3. Collateral moves by the leverage that keeps the size: C x L / C', rounded down. */
function newLeverage(position: Position, body: UpdatePositionRequest, { collateral }: VerifyContext): bigint {
  if (body.leverage !== undefined) return scaled('leverage', body.leverage, LEVERAGE_DECIMALS)
  const held = scaled('collateral', position.collateral, collateral.decimals)
  const amount = scaled('collateral.amount', body.collateral?.amount ?? '0', collateral.decimals)
  const becomes = body.collateral?.action === 'add' ? held + amount : held - amount
  if (becomes <= 0n) return 0n
  return (held * scaled('leverage', position.leverage, LEVERAGE_DECIMALS)) / becomes
}
