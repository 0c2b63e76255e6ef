import type { LivePosition } from '../../../trading/positions/positionModel.ts'
import type { Address, OrderId } from '@bezel/protocol'
import { POSITION } from '../../../trading/valuation/testing/fixtures.ts'

export const ALICE = `0x${'aa'.repeat(20)}` as Address

/** Returns an open position of the trader `ALICE`. */
export function live(id: string, pairIndex = 0): LivePosition {
  const { trade, info, liquidationParams, feesData } = POSITION
  return {
    record: { id: id as OrderId, chain: 'base', trader: ALICE, originOrderId: id as OrderId },
    state: {
      isOpen: true,
      trade: { ...trade, pairIndex },
      info,
      liquidationParams,
      feesData,
      maxClosingSlippageP: 0,
      pendingUpdate: null,
      oldBorrowing: null,
      updateRefusal: null,
      openedAtBlock: 1,
      openedAtMs: 1,
      updatedAtMs: 1,
    },
  }
}
