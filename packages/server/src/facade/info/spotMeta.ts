/** There is no spot market: one token, that everything is counted in, and no pair. */
export const SPOT_META = {
  tokens: [
    {
      name: 'USDC',
      szDecimals: 8,
      weiDecimals: 8,
      index: 0,
      tokenId: '0x00000000000000000000000000000000',
      isCanonical: true,
      evmContract: null,
      fullName: null,
      deployerTradingFeeShare: '0.0',
    },
  ],
  universe: [],
}

export function spotMeta(): unknown {
  return SPOT_META
}
