const FIRST_SLOT_BANDS = 14
const BAND_BITS = 16n
const DEPTH_BITS = 32n

/** Two words of the Diamond: the total depth in the low 32 bits of the first, then 14 bands; 16 bands in the second. */
export function packBands(bands: readonly number[], totalDepthUsd = 0): { slot1: bigint; slot2: bigint } {
  return {
    slot1: (packWords(bands.slice(0, FIRST_SLOT_BANDS)) << DEPTH_BITS) | BigInt(totalDepthUsd),
    slot2: packWords(bands.slice(FIRST_SLOT_BANDS)),
  }
}

function packWords(bands: readonly number[]): bigint {
  return bands.reduceRight((word, band) => (word << BAND_BITS) | BigInt(band), 0n)
}
