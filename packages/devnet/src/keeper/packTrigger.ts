import type { Address } from 'viem'

/** The argument of triggerOrder: order type in bits 0-7, trader in 8-167, trade index in 168-199. */
export function packTrigger(orderType: number, trader: Address, tradeIndex: number): bigint {
  return BigInt(orderType) | (BigInt(trader) << 8n) | (BigInt(tradeIndex) << 168n)
}
