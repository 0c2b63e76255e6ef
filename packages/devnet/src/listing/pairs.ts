/** How lively a price moves; `feed/volatility.ts` gives each class its daily range. */
export type VolatilityClass = 'major' | 'altcoin' | 'meme' | 'forex' | 'stock' | 'index' | 'metal' | 'energy'

/** One pair as the local Diamond lists it and the local feed prices it. */
export interface ListedPair {
  /** The index the live Diamond has it under; see `deployedPairs` for the holes between. */
  readonly index: number
  readonly from: string
  readonly to: string
  readonly groupIndex: number
  readonly feeIndex: number
  /** 1e10 per percent. */
  readonly spreadP: bigint
  /** Around which the walk moves, as a decimal. */
  readonly startPrice: string
  readonly volatility: VolatilityClass
  /** USD that move the price by 1 %; 0 on both sides means that no depth bands are set. */
  readonly depthAboveUsd: number
  readonly depthBelowUsd: number
  /**
   * How far the index price stands from the mark, in millionths. Not 0 only for the pairs the live feed calls volatile: their mark
   * comes from a futures market, their index from spot.
   */
  readonly indexBasisPpm: number
}

type Common = Pick<ListedPair, 'groupIndex' | 'feeIndex' | 'volatility'>

const CRYPTO: Common = { groupIndex: 0, feeIndex: 0, volatility: 'major' }
const ALTCOIN: Common = { groupIndex: 10, feeIndex: 0, volatility: 'altcoin' }
const MEME: Common = { ...ALTCOIN, volatility: 'meme' }
const FOREX: Common = { groupIndex: 1, feeIndex: 1, volatility: 'forex' }
const FOREX_CROSS: Common = { ...FOREX, feeIndex: 8 }
const FOREX_MINOR: Common = { groupIndex: 8, feeIndex: 8, volatility: 'forex' }
const STOCKS_1: Common = { groupIndex: 2, feeIndex: 2, volatility: 'stock' }
const STOCKS_2: Common = { groupIndex: 3, feeIndex: 3, volatility: 'stock' }
const INDICES: Common = { groupIndex: 5, feeIndex: 5, volatility: 'index' }
const COMMODITIES_1: Common = { groupIndex: 6, feeIndex: 6, volatility: 'metal' }
const COMMODITIES_2: Common = { groupIndex: 7, feeIndex: 7, volatility: 'metal' }
const ENERGY: Common = { ...COMMODITIES_2, volatility: 'energy' }

/** The spread is in hundredths of a percent, the depth in whole USD: the units of the source table. */
function pair(
  index: number,
  symbol: string,
  common: Common,
  spreadBps: bigint,
  startPrice: string,
  [depthAboveUsd, depthBelowUsd]: readonly [number, number] = [0, 0],
  indexBasisPpm = 0,
): ListedPair {
  const [from = '', to = ''] = symbol.split('/')
  return {
    index,
    from,
    to,
    ...common,
    spreadP: spreadBps * 10n ** 8n,
    startPrice,
    depthAboveUsd,
    depthBelowUsd,
    indexBasisPpm,
  }
}

/**
 * Indices, groups, fees, spreads and depths of the public arbitrum-sepolia sample of June 2025, in the order of the index. Ours are: the
 * start prices (plausible for late 2026), the depths of BTC and ETH (the sample has none) and which pairs are volatile.
 */
export const PAIRS: readonly ListedPair[] = [
  pair(0, 'BTC/USD', CRYPTO, 4n, '65000', [40_000_000, 42_000_000]),
  pair(1, 'ETH/USD', CRYPTO, 4n, '2500', [25_000_000, 26_000_000]),
  pair(2, 'LINK/USD', ALTCOIN, 0n, '14', [859_289, 815_978]),
  pair(3, 'DOGE/USD', ALTCOIN, 0n, '0.14', [2_369_876, 2_717_124]),
  pair(5, 'ADA/USD', ALTCOIN, 0n, '0.42', [858_191, 1_137_857]),
  pair(7, 'AAVE/USD', ALTCOIN, 0n, '165', [996_450, 861_846]),
  pair(11, 'DOT/USD', ALTCOIN, 0n, '2.4', [329_962, 383_578]),
  pair(13, 'LTC/USD', ALTCOIN, 0n, '84', [480_111, 587_200]),
  pair(17, 'UNI/USD', ALTCOIN, 0n, '6.1', [349_196, 357_840]),
  pair(18, 'XLM/USD', ALTCOIN, 0n, '0.24', [462_151, 536_669]),
  pair(19, 'XRP/USD', ALTCOIN, 0n, '1.65', [3_152_403, 3_690_210]),
  pair(21, 'EUR/USD', FOREX, 1n, '1.16'),
  pair(22, 'USD/JPY', FOREX, 1n, '154'),
  pair(23, 'GBP/USD', FOREX, 1n, '1.32'),
  pair(26, 'USD/CAD', FOREX, 1n, '1.39'),
  pair(29, 'EUR/JPY', FOREX_CROSS, 1n, '178.6'),
  pair(33, 'SOL/USD', ALTCOIN, 0n, '120', [4_630_663, 5_245_771]),
  pair(35, 'BCH/USD', ALTCOIN, 0n, '480', [121_991, 118_991]),
  pair(44, 'TRX/USD', ALTCOIN, 0n, '0.29', [2_676_898, 3_061_656]),
  pair(47, 'BNB/USD', ALTCOIN, 0n, '720', [3_005_499, 3_344_646]),
  pair(50, 'HBAR/USD', ALTCOIN, 0n, '0.13', [596_697, 820_691]),
  pair(57, 'SHIB/USD', MEME, 0n, '0.0000085', [368_699, 460_427]),
  pair(58, 'AAPL/USD', STOCKS_2, 4n, '272'),
  pair(62, 'MSFT/USD', STOCKS_1, 2n, '485'),
  pair(65, 'NVDA/USD', STOCKS_2, 4n, '186'),
  pair(81, 'META/USD', STOCKS_2, 4n, '640'),
  pair(86, 'SPY/USD', INDICES, 2n, '685'),
  pair(87, 'QQQ/USD', INDICES, 2n, '612'),
  pair(88, 'IWM/USD', INDICES, 2n, '242'),
  pair(89, 'DIA/USD', INDICES, 2n, '475'),
  pair(90, 'XAU/USD', COMMODITIES_1, 1n, '4100'),
  pair(91, 'XAG/USD', COMMODITIES_2, 4n, '51'),
  pair(102, 'AVAX/USD', ALTCOIN, 0n, '16', [1_221_624, 1_324_904]),
  pair(103, 'ATOM/USD', ALTCOIN, 0n, '2.7', [158_795, 178_233]),
  pair(104, 'NEAR/USD', ALTCOIN, 0n, '2.1', [339_746, 409_438]),
  pair(107, 'TON/USD', ALTCOIN, 0n, '1.8', [211_441, 200_334]),
  pair(109, 'ARB/USD', ALTCOIN, 0n, '0.22', [376_517, 436_332]),
  pair(117, 'GBP/JPY', FOREX_MINOR, 1n, '203.3'),
  pair(121, 'AUD/JPY', FOREX_MINOR, 1n, '101'),
  pair(134, 'PEPE/USD', MEME, 0n, '0.0000052', [1_448_126, 1_740_217], -600),
  pair(141, 'OP/USD', ALTCOIN, 0n, '0.34', [308_221, 496_500]),
  pair(144, 'TIA/USD', ALTCOIN, 0n, '0.62', [340_775, 336_109]),
  pair(153, 'SUI/USD', ALTCOIN, 0n, '1.7', [1_410_683, 1_463_643]),
  pair(159, 'SEI/USD', ALTCOIN, 0n, '0.14', [197_773, 248_787]),
  pair(171, 'WLD/USD', ALTCOIN, 0n, '0.63', [372_470, 520_825]),
  pair(187, 'WTI/USD', ENERGY, 5n, '62'),
  pair(188, 'XPT/USD', COMMODITIES_2, 4n, '1560'),
  pair(189, 'XPD/USD', COMMODITIES_2, 8n, '1410'),
  pair(190, 'HG/USD', COMMODITIES_1, 4n, '5.05'),
  pair(193, 'BONK/USD', MEME, 0n, '0.0000118', [545_884, 588_992], 500),
  pair(205, 'WIF/USD', MEME, 0n, '0.43', [574_764, 793_397], -400),
  pair(219, 'ENA/USD', ALTCOIN, 0n, '0.27', [703_996, 829_700]),
]
