/**
 * Distance of each band's end from the mark, in ppm (1e4 per percent). Ours: finer near the mark, and the last band ends at 1 %, so
 * that a pair's total depth is exactly its "1 % depth" of the source table.
 */
export const DEPTH_BAND_OFFSETS_PPM: readonly number[] = [
  50, 100, 150, 200, 300, 400, 500, 600, 700, 800, 1_000, 1_200, 1_400, 1_600, 1_800, 2_000, 2_300, 2_600, 3_000, 3_400,
  3_800, 4_200, 4_700, 5_200, 5_800, 6_400, 7_100, 8_000, 9_000, 10_000,
]

/**
 * Share of the total depth that lies within each band's offset, in bps, cumulative. Ours: 10000 x (offset / 1 %)^0.8, rounded to
 * tens: order books are a little thicker near the mark.
 */
export const DEPTH_BAND_SHARES_BPS: readonly number[] = [
  140, 250, 350, 440, 600, 760, 910, 1_050, 1_190, 1_330, 1_580, 1_830, 2_070, 2_310, 2_540, 2_760, 3_090, 3_400, 3_820,
  4_220, 4_610, 5_000, 5_470, 5_930, 6_470, 7_000, 7_600, 8_370, 9_190, 10_000,
]
