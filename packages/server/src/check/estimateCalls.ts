import { unitsOf } from '../chain/providers/unitBudget.ts'
import type { ServerConfig } from '../settings/config.ts'
import { note, type Finding } from './finding.ts'

/** Calls of each method. */
type CallCounts = Readonly<Partial<Record<string, number>>>

/** One kind of work that calls the node by itself, without any request of a client. */
interface CallsPart {
  readonly name: string
  readonly callsPerDay: CallCounts
}

/** The parts of an estimate for one chain. */
interface CallsEstimate {
  readonly idle: readonly CallsPart[]
  /** The part that the first trader adds who is active or subscribed, all day long. Others share its rounds. */
  readonly perTrader: CallsPart
}

interface EstimateOptions {
  readonly finality: 'tag' | object
  readonly config: Pick<ServerConfig, 'headPollMs' | 'marketsRefreshMs'> & { readonly accountRefreshMs: number }
  /** Number of active collaterals. */
  readonly collaterals: number
  readonly hasMulticall: boolean
  readonly hasSocket: boolean
}

const DAY_MS = 86_400_000
const HOURS_PER_DAY = 24

/** Interval between two looks at a node that pushes its heads: PUSHED_LOOK_MS of createFollowing.ts. */
const PUSHED_LOOK_MS = 10_000

/** Interval between two checks of the chain's id: CHAIN_CHECK_MS of provider.ts. */
const CHAIN_CHECK_MS = 30_000

/** Interval between two questions for the finalized block: ASK_MS of finality.ts. */
const FINALIZED_MS = 15_000

/** Interval between two parts of the round over all traders, and its calls: proveTraders.ts. */
const COUNTERS_MS = 30_000
const COUNTERS_CALLS = 6

/** Calls of one read of all settings, as an hourly round does it, with 483 pairs and four collaterals. */
const LISTING_CALLS = 38

/** Calls of one round of markets without Multicall3: those of each collateral, and those of its three pairs. */
const COLLATERAL_CALLS = 11
const PAIRS_PER_ROUND = 3

/** Calls about a trader beside balance and allowance of each collateral: delegate, referrer, fee. */
const TRADER_CALLS = 3

/**
 * Estimates the calls that the service makes on a day at the intervals of its settings: looks for new blocks, questions
 * for the finalized one, checks of the chain, rounds of markets and of all traders' counters, and the rounds of the
 * first active trader's account, which others share. Blocks with logs, requests of clients, a start and the relayer are
 * not in it.
 */
export function estimateCalls(options: EstimateOptions): CallsEstimate {
  const { finality, config, collaterals, hasMulticall, hasSocket } = options
  const looks = DAY_MS / (hasSocket ? Math.max(PUSHED_LOOK_MS, config.headPollMs) : config.headPollMs)
  const rounds = DAY_MS / config.marketsRefreshMs
  const roundCalls = hasMulticall ? 1 : collaterals * COLLATERAL_CALLS + PAIRS_PER_ROUND
  const idle: CallsPart[] = [
    { name: 'new blocks', callsPerDay: { eth_getBlockByNumber: 2 * looks, eth_getLogs: looks } },
    { name: 'chain', callsPerDay: { eth_chainId: DAY_MS / CHAIN_CHECK_MS } },
    { name: 'finalized block', callsPerDay: { eth_getBlockByNumber: finality === 'tag' ? DAY_MS / FINALIZED_MS : 0 } },
    { name: 'markets', callsPerDay: { eth_call: rounds * roundCalls + HOURS_PER_DAY * LISTING_CALLS } },
    { name: 'counters', callsPerDay: { eth_call: (DAY_MS / COUNTERS_MS) * COUNTERS_CALLS } },
  ]
  const accountRounds = DAY_MS / config.accountRefreshMs
  const accountCalls = accountRounds * (hasMulticall ? 1 : TRADER_CALLS + 2 * collaterals)
  return { idle, perTrader: { name: 'account', callsPerDay: { eth_call: accountCalls } } }
}

/** Returns the number of calls, and their compute units. */
export function sumCalls(parts: readonly CallsPart[]): { readonly calls: number; readonly units: number } {
  const counts = parts.flatMap(({ callsPerDay }) => Object.entries(callsPerDay))
  return {
    calls: Math.round(counts.reduce((sum, [, count = 0]) => sum + count, 0)),
    units: Math.round(counts.reduce((sum, [method, count = 0]) => sum + count * unitsOf({ method }), 0)),
  }
}

/** Writes the estimate, with and without a WebSocket. Amounts of money need the price of a million units. */
export function tellEstimate(
  options: Omit<EstimateOptions, 'hasSocket'>,
  pricePerMillionUnits: number | undefined,
): readonly Finding[] {
  const withSocket = estimateCalls({ ...options, hasSocket: true })
  const without = estimateCalls({ ...options, hasSocket: false })
  const words = (parts: readonly CallsPart[]): string => {
    const { calls, units } = sumCalls(parts)
    const price =
      pricePerMillionUnits === undefined
        ? ''
        : `, ${((units / 1e6) * pricePerMillionUnits).toFixed(2)} at the price given`
    return `about ${rounded(calls)} calls a day (${rounded(units)} units${price})`
  }
  return [
    note('calls, idle', `With a WebSocket ${words(withSocket.idle)}, without one ${words(without.idle)}.`),
    note('calls, first trader', `The first active trader adds ${words([without.perTrader])}.`),
  ]
}

/** Digits of an estimate that say something. */
const SIGNIFICANT_DIGITS = 2

function rounded(count: number): string {
  return Number(count.toPrecision(SIGNIFICANT_DIGITS)).toLocaleString('en-US')
}
