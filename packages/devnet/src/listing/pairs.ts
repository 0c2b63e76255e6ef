import { PercentP } from '@bezel/protocol'

/** Classes of volatility; feed/timeline.ts has the daily move of each. */
export type VolatilityClass = 'major' | 'altcoin' | 'meme' | 'forex' | 'stock' | 'index' | 'metal' | 'energy'

/** A pair, as the local Diamond lists it and the local feed prices it. */
export interface LocalPair {
  /** Index on the live Diamond; see `deployedPairs` for the holes between. */
  readonly index: number
  readonly from: string
  readonly to: string
  readonly groupIndex: number
  readonly feeIndex: number
  /** Spread, 1e10 per percent. */
  readonly spreadP: bigint
  /** Price around which the walk moves, as a decimal. */
  readonly startPrice: string
  readonly volatility: VolatilityClass
  /** USD that move the price up by 1 %; 0 on both sides means that no depth bands are set. */
  readonly depthAboveUsd: number
  readonly depthBelowUsd: number
  /**
   * Distance of the index price from the mark in millionths. Not 0 only for the pairs the live feed calls volatile:
   * their mark comes from a futures market, their index from spot.
   */
  readonly indexBasisPpm: number
}

type Common = Pick<LocalPair, 'groupIndex' | 'feeIndex' | 'volatility'>

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

/** Creates a pair from the units of the source table: the spread in hundredths of a percent, the depth in whole USD. */
function listedPair(
  index: number,
  symbol: string,
  common: Common,
  spreadBps: bigint,
  startPrice: string,
  [depthAboveUsd, depthBelowUsd]: readonly [number, number] = [0, 0],
  indexBasisPpm = 0,
): LocalPair {
  const [from = '', to = ''] = symbol.split('/')
  return {
    index,
    from,
    to,
    ...common,
    spreadP: (spreadBps * PercentP.one) / 100n,
    startPrice,
    depthAboveUsd,
    depthBelowUsd,
    indexBasisPpm,
  }
}

/**
 * The listed pairs in the order of their index. Indices, groups, fees, spreads and depths are those of the public
 * arbitrum-sepolia sample of June 2025. Our own are the start prices (plausible for late 2026), the depths of BTC and
 * ETH (the sample has none) and the choice of volatile pairs.
 */
export const PAIRS: readonly LocalPair[] = [
  listedPair(0, 'BTC/USD', CRYPTO, 4n, '65000', [40_000_000, 42_000_000]),
  listedPair(1, 'ETH/USD', CRYPTO, 4n, '2500', [25_000_000, 26_000_000]),
  listedPair(2, 'LINK/USD', ALTCOIN, 0n, '14', [859_289, 815_978]),
  listedPair(3, 'DOGE/USD', ALTCOIN, 0n, '0.14', [2_369_876, 2_717_124]),
  listedPair(5, 'ADA/USD', ALTCOIN, 0n, '0.42', [858_191, 1_137_857]),
  listedPair(7, 'AAVE/USD', ALTCOIN, 0n, '165', [996_450, 861_846]),
  listedPair(11, 'DOT/USD', ALTCOIN, 0n, '2.4', [329_962, 383_578]),
  listedPair(13, 'LTC/USD', ALTCOIN, 0n, '84', [480_111, 587_200]),
  listedPair(17, 'UNI/USD', ALTCOIN, 0n, '6.1', [349_196, 357_840]),
  listedPair(18, 'XLM/USD', ALTCOIN, 0n, '0.24', [462_151, 536_669]),
  listedPair(19, 'XRP/USD', ALTCOIN, 0n, '1.65', [3_152_403, 3_690_210]),
  listedPair(21, 'EUR/USD', FOREX, 1n, '1.16'),
  listedPair(22, 'USD/JPY', FOREX, 1n, '154'),
  listedPair(23, 'GBP/USD', FOREX, 1n, '1.32'),
  listedPair(26, 'USD/CAD', FOREX, 1n, '1.39'),
  listedPair(29, 'EUR/JPY', FOREX_CROSS, 1n, '178.6'),
  listedPair(33, 'SOL/USD', ALTCOIN, 0n, '120', [4_630_663, 5_245_771]),
  listedPair(35, 'BCH/USD', ALTCOIN, 0n, '480', [121_991, 118_991]),
  listedPair(44, 'TRX/USD', ALTCOIN, 0n, '0.29', [2_676_898, 3_061_656]),
  listedPair(47, 'BNB/USD', ALTCOIN, 0n, '720', [3_005_499, 3_344_646]),
  listedPair(50, 'HBAR/USD', ALTCOIN, 0n, '0.13', [596_697, 820_691]),
  listedPair(57, 'SHIB/USD', MEME, 0n, '0.0000085', [368_699, 460_427]),
  listedPair(58, 'AAPL/USD', STOCKS_2, 4n, '272'),
  listedPair(62, 'MSFT/USD', STOCKS_1, 2n, '485'),
  listedPair(65, 'NVDA/USD', STOCKS_2, 4n, '186'),
  listedPair(81, 'META/USD', STOCKS_2, 4n, '640'),
  listedPair(86, 'SPY/USD', INDICES, 2n, '685'),
  listedPair(87, 'QQQ/USD', INDICES, 2n, '612'),
  listedPair(88, 'IWM/USD', INDICES, 2n, '242'),
  listedPair(89, 'DIA/USD', INDICES, 2n, '475'),
  listedPair(90, 'XAU/USD', COMMODITIES_1, 1n, '4100'),
  listedPair(91, 'XAG/USD', COMMODITIES_2, 4n, '51'),
  listedPair(102, 'AVAX/USD', ALTCOIN, 0n, '16', [1_221_624, 1_324_904]),
  listedPair(103, 'ATOM/USD', ALTCOIN, 0n, '2.7', [158_795, 178_233]),
  listedPair(104, 'NEAR/USD', ALTCOIN, 0n, '2.1', [339_746, 409_438]),
  listedPair(107, 'TON/USD', ALTCOIN, 0n, '1.8', [211_441, 200_334]),
  listedPair(109, 'ARB/USD', ALTCOIN, 0n, '0.22', [376_517, 436_332]),
  listedPair(117, 'GBP/JPY', FOREX_MINOR, 1n, '203.3'),
  listedPair(121, 'AUD/JPY', FOREX_MINOR, 1n, '101'),
  listedPair(134, 'PEPE/USD', MEME, 0n, '0.0000052', [1_448_126, 1_740_217], -600),
  listedPair(141, 'OP/USD', ALTCOIN, 0n, '0.34', [308_221, 496_500]),
  listedPair(144, 'TIA/USD', ALTCOIN, 0n, '0.62', [340_775, 336_109]),
  listedPair(153, 'SUI/USD', ALTCOIN, 0n, '1.7', [1_410_683, 1_463_643]),
  listedPair(159, 'SEI/USD', ALTCOIN, 0n, '0.14', [197_773, 248_787]),
  listedPair(171, 'WLD/USD', ALTCOIN, 0n, '0.63', [372_470, 520_825]),
  listedPair(187, 'WTI/USD', ENERGY, 5n, '62'),
  listedPair(188, 'XPT/USD', COMMODITIES_2, 4n, '1560'),
  listedPair(189, 'XPD/USD', COMMODITIES_2, 8n, '1410'),
  listedPair(190, 'HG/USD', COMMODITIES_1, 4n, '5.05'),
  listedPair(193, 'BONK/USD', MEME, 0n, '0.0000118', [545_884, 588_992], 500),
  listedPair(205, 'WIF/USD', MEME, 0n, '0.43', [574_764, 793_397], -400),
  listedPair(219, 'ENA/USD', ALTCOIN, 0n, '0.27', [703_996, 829_700]),
]

/** The input of `addPairs` and `setPairCustomMaxLeverages` for one index. */
interface DeployedPair extends Pick<LocalPair, 'index' | 'from' | 'to' | 'groupIndex' | 'feeIndex' | 'spreadP'> {
  /** Custom largest leverage, 1e3; 0 means the group's own. */
  readonly customMaxLeverage: bigint
  readonly listed: boolean
}

/** Leverage that closes a pair to new trades, as on the live Diamond: 0.001x is below every group's minimum. */
const CLOSED_MAX_LEVERAGE = 1n

/**
 * Returns one pair for each index from 0 to the last listed one. The contract only appends pairs, and the live indices
 * have holes (pairs that were taken off), so each hole is filled with a pair nobody can open.
 */
export function deployedPairs(listed: readonly LocalPair[] = PAIRS): readonly DeployedPair[] {
  const byIndex = new Map(listed.map((pair) => [pair.index, pair]))
  const count = Math.max(...byIndex.keys()) + 1
  return Array.from({ length: count }, (_, index) => {
    const pair = byIndex.get(index)
    return pair === undefined ? delistedPair(index) : { ...deployable(pair), customMaxLeverage: 0n, listed: true }
  })
}

function deployable({ index, from, to, groupIndex, feeIndex, spreadP }: LocalPair) {
  return { index, from, to, groupIndex, feeIndex, spreadP }
}

function delistedPair(index: number): DeployedPair {
  return {
    index,
    from: `DELISTED${index}`,
    to: 'USD',
    groupIndex: 10,
    feeIndex: 0,
    spreadP: 0n,
    customMaxLeverage: CLOSED_MAX_LEVERAGE,
    listed: false,
  }
}
