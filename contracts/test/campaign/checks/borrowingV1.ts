import type { ViewResult } from '../codec.ts'

type Side = { long: bigint; short: bigint }

/** The input of first-generation borrowing of a pair or a group: open interest in collateral, caps 1e3 per percent. */
export type BorrowingV1Terms = {
  data: ViewResult<'getBorrowingPair'>
  oi: Side
  maxOi: bigint // 1e10
  cap: { minP: number; maxP: number }
  precision: bigint
}

/**
 * Returns the accumulators at a block, 1e10 per percent: the heavier side accrues by the net open interest within the
 * caps, the other one at the lower cap, and a side without open interest not at all.
 */
export function borrowingV1At({ data, oi, maxOi, cap, precision }: BorrowingV1Terms, block: bigint) {
  const { accFeeLong, accFeeShort } = data
  const blocks = block - BigInt(data.accLastUpdatedBlock)
  const limit = (maxOi * precision) / 10n ** 10n
  const shareOfLimit = (p: number) => (limit * BigInt(p)) / 1_000n / 100n
  const floor = shareOfLimit(cap.minP)
  const ceiling = cap.maxP > 0 ? shareOfLimit(cap.maxP) : limit
  const gainAt = (net: bigint): bigint => {
    if (maxOi === 0n || data.feeExponent === 0 || net === 0n) return 0n
    const exponent = BigInt(data.feeExponent)
    const rate = BigInt(data.feePerBlock) * ((net * 10n ** 10n) / maxOi) ** exponent
    return (blocks * rate) / precision ** exponent
  }
  const net = oi.long > oi.short ? oi.long - oi.short : oi.short - oi.long
  const heavy = net > floor ? gainAt(net < ceiling ? net : ceiling) : gainAt(floor)
  const light = gainAt(floor)
  const isShortHeavier = oi.short > oi.long
  return {
    accFeeLong: accFeeLong + (oi.long === 0n ? 0n : isShortHeavier ? light : heavy),
    accFeeShort: accFeeShort + (oi.short === 0n ? 0n : isShortHeavier ? heavy : light),
  }
}
