import type { OiWindowsSettings, VolumeState } from './chainState.ts'

// As contracts/src/rules/PriceImpact.sol computes it.

export function windowIdAt({ startTs, windowsDuration }: OiWindowsSettings, timestampS: number): number {
  return Math.floor((timestampS - startTs) / windowsDuration)
}

/** 1e18 USD that was bought, or sold, in the windows that count at that time, the current one included. */
export function activeVolumeUsd({ settings, windows }: VolumeState, isBuy: boolean, timestampS: number): bigint {
  if (settings.windowsDuration === 0) return 0n
  const current = windowIdAt(settings, timestampS)
  let volumeUsd = 0n
  for (let id = current; id >= 0 && id > current - settings.windowsCount; id -= 1) {
    const window = windows.get(id)
    if (window !== undefined) volumeUsd += isBuy ? window.oiLongUsd : window.oiShortUsd
  }
  return volumeUsd
}
