import { CollateralPrice, Leverage, revertReason, TradeType, type Price } from '@bezel/protocol'
import { numberToHex } from 'viem'
import { diamondCall, readAll } from '../chain/diamondCalls.ts'
import { readDiamond } from '../chain/diamondCheck.ts'
import { USED_TOPICS } from '../chain/events.ts'
import { createMulticallClient } from '../chain/multicallClient.ts'
import { resultOf } from '../chain/blocks.ts'
import { isRevert, revertData, type RpcClient, type RpcOutcome } from '../chain/rpcClient.ts'
import { isLive, type ServedChain } from '../chain/servedChain.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { tradablePairs } from '../market/listing/namedPair.ts'
import { readListing, type ChainListing } from '../market/listing/readListing.ts'
import type { ListedPair } from '../trading/market/chainMarkets.ts'
import { encodeOpenTrade } from '../trading/plan/encodeCall.ts'
import { minCollateral, MIN_FEES_ON_OPEN } from '../trading/valuation/fees.ts'
import type { UsableProvider } from './checkProvider.ts'
import { counted, failure, note, ok, quoted, warning, type Finding, type Progress } from './finding.ts'
import { clientOf, type Probe } from './probe.ts'

/** The contracts of a chain, as they were found. */
interface CheckedContracts {
  readonly findings: readonly Finding[]
  /** Number of active collaterals; `undefined` when the markets could not be read. */
  readonly collaterals: number | undefined
}

interface CheckContractsOptions {
  readonly chain: ServedChain
  readonly probe: Probe
  readonly usable: UsableProvider
  /** The feed's prices by pair index; `undefined` when it gave none. */
  readonly prices: ReadonlyMap<number, Price> | undefined
  readonly progress: Progress
}

/** Checks the contracts of a chain through one of its providers. Never throws. */
export async function checkContracts(options: CheckContractsOptions): Promise<CheckedContracts> {
  const { chain, probe, usable, prices, progress } = options
  const client = clientOf(probe, usable.batchSize)
  const findings: Finding[] = []
  let listing: ChainListing | undefined
  try {
    progress('functions of the Diamond')
    findings.push(await checkFunctions(client, chain))
    if (findings[0]?.mark === 'failure') return { findings, collaterals: undefined }
    findings.push(await checkEvents(client, chain))
    progress('markets')
    const multicall = usable.hasMulticall ? createMulticallClient(client) : client
    const block = numberToHex(usable.head.number)
    listing = await readListing({ client: multicall, diamond: chain.diamond, block })
    findings.push(judgePrices(tradablePairs(listing.pairs), prices))
    findings.push(await checkDryOpen(client, chain, listing, prices))
  } catch (error) {
    if (!(error instanceof NodeUnavailableError)) throw error
    const words = quoted(error.message, probe.url)
    findings.push(
      failure('contracts', `They could not be read (${words}): run the check again, or take another provider.`),
    )
  }
  return { findings, collaterals: listing?.collaterals.filter(({ isActive }) => isActive).length }
}

async function checkFunctions(client: RpcClient, chain: ServedChain): Promise<Finding> {
  const { problem } = await readDiamond(client, chain, 0)
  return problem === undefined
    ? ok('functions', 'The Diamond has every function that the service calls, pairs and collaterals.')
    : failure('functions', problem)
}

/** The most names in a sentence. */
const MAX_NAMES = 5

/** The most contracts whose code is read in search of events. */
const MAX_CODES = 200

/** Matches the addresses that code names as constants, as it does with the libraries that it calls. */
const NAMED_ADDRESS = /73([0-9a-f]{40})/g

/**
 * Looks for the topics of all events that orders and positions are made of in the code of the facets and of the
 * libraries that they call, where a compiler leaves them.
 */
async function checkEvents(client: RpcClient, chain: ServedChain): Promise<Finding> {
  const [facets = []] = await readAll(client, [diamondCall(chain.diamond, 'facets', [])])
  const codes = new Map<string, string>()
  let wanted = new Set<string>(facets.map(({ facetAddress }) => facetAddress.toLowerCase()))
  while (wanted.size > 0) {
    const addresses = [...wanted]
    const outcomes = await client.batch(
      addresses.map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
    )
    const found = outcomes.map((outcome) => String(resultOf(outcome)).toLowerCase())
    for (const [at, address] of addresses.entries()) codes.set(address, found[at]!)
    const named = found.flatMap((code) => [...code.matchAll(NAMED_ADDRESS)].map(([, digits]) => `0x${digits}`))
    wanted = new Set(named.filter((address) => !codes.has(address)).slice(0, MAX_CODES - codes.size))
  }
  return judgeEvents([...codes.values()], isLive(chain))
}

/**
 * Judges which events are in these pieces of code. The contracts of a local chain lack some, and a contract may have
 * them elsewhere, so that a missing one proves nothing.
 */
export function judgeEvents(codes: readonly string[], isLiveDiamond: boolean): Finding {
  const missing = [...USED_TOPICS].filter(([topic]) => !codes.some((code) => code.includes(topic.slice(2))))
  const known = counted(USED_TOPICS.size, 'event')
  if (missing.length === 0) return ok('events', `The topics of all ${known} that are followed are in its code.`)
  const names = nameFew(missing.map(([, name]) => name))
  const isFew = missing.length * 2 < USED_TOPICS.size
  if (isFew && !isLiveDiamond) {
    return note('events', `Of ${known} that are followed the code lacks ${names}, as that of a local chain may.`)
  }
  return warning(
    'events',
    `Of ${known} that are followed the code has no topic of ${names}: look whether an upgrade renamed them, and use a build that knows these contracts if so.`,
  )
}

/** Judges how many markets the feed has a price of. */
export function judgePrices(
  pairs: readonly Pick<ListedPair, 'pairIndex' | 'symbol'>[],
  prices: ReadonlyMap<number, Price> | undefined,
): Finding {
  if (prices === undefined)
    return note('prices', `${counted(pairs.length, 'pair')} can be traded; the feed gave no price.`)
  const bare = pairs.filter(({ pairIndex }) => !prices.has(pairIndex)).map(({ symbol }) => symbol)
  const covered = pairs.length - bare.length
  if (pairs.length === 0) return failure('prices', 'No pair can be traded: correct the diamond in the chains file.')
  if (covered === 0) {
    return failure(
      'prices',
      `The feed has no price of any of ${counted(pairs.length, 'pair')}: correct feedUrl in the chains file.`,
    )
  }
  if (bare.length === 0)
    return ok('prices', `The feed has a price of all ${counted(pairs.length, 'pair')} that can be traded.`)
  return warning(
    'prices',
    `The feed has a price of ${covered} of ${counted(pairs.length, 'pair')} that can be traded, and none of ${nameFew(bare)}: they are no markets until it has one. If they are many, correct feedUrl in the chains file.`,
  )
}

function nameFew(names: readonly string[]): string {
  const first = names.slice(0, MAX_NAMES).join(', ')
  return names.length <= MAX_NAMES ? first : `${first} and ${names.length - MAX_NAMES} more`
}

/** A sender without funds, of whom no contract knows anything: nobody has its key. */
const NOBODY = '0x0000000000000000000000000000bE2e10000001'

/** Slippage of the dry open, 1e3 per percent: one percent. */
const SLIPPAGE_P = 1_000

/** Lets the node run an open of the smallest size, which the contracts refuse for the lack of funds. Sends nothing. */
async function checkDryOpen(
  client: RpcClient,
  { diamond }: ServedChain,
  listing: ChainListing,
  prices: ReadonlyMap<number, Price> | undefined,
): Promise<Finding> {
  const collateral = listing.collaterals.find(({ isActive }) => isActive)
  const market = tradablePairs(listing.pairs).find(({ pairIndex }) => prices?.has(pairIndex) === true)
  if (collateral === undefined || market === undefined) {
    return note('dry open', 'Not tried, because there is no market with a price, or no active collateral.')
  }
  const [priceUsd = 0n] = await readAll(client, [diamondCall(diamond, 'getCollateralPriceUsd', [collateral.index])])
  const { precision, precisionDelta } = collateral
  const state = { precision, precisionDelta, priceUsd: CollateralPrice.of(priceUsd) }
  const call = encodeOpenTrade(
    {
      user: NOBODY,
      pairIndex: market.pairIndex,
      leverage: Number(market.minLeverage),
      long: true,
      collateralIndex: collateral.index,
      tradeType: TradeType.TRADE,
      collateralAmount: minCollateral(MIN_FEES_ON_OPEN, market.listing, state),
      openPrice: prices!.get(market.pairIndex)!,
      tp: 0n as Price,
      sl: 0n as Price,
    },
    SLIPPAGE_P,
  )
  const [outcome] = await client.batch([
    { method: 'eth_call', params: [{ from: NOBODY, to: diamond, data: call }, 'latest'] },
  ])
  const leverage = Leverage.format(market.minLeverage)
  return judgeDryOpen(outcome!, `the smallest open of ${market.symbol} with ${collateral.symbol}, ${leverage}x`)
}

/** The errors by which contracts say that the sender lacks tokens, or that the Diamond may not take them. */
const FUNDS_ERRORS: ReadonlySet<string> = new Set([
  'InsufficientBalance',
  'ERC20InsufficientBalance',
  'ERC20InsufficientAllowance',
  'SafeERC20FailedOperation',
])

/** Matches the words by which older tokens say the same. */
const FUNDS_PATTERN = /balance|allowance|transfer/i

/** The Diamond's error for a function that it does not have. */
const UNKNOWN_FUNCTION = 'NotFound'

const REMEDY = 'correct the diamond in the chains file, or use a build that knows these contracts'

/** Judges the answer to an open of somebody without funds. `what` names that open. */
export function judgeDryOpen(outcome: RpcOutcome, what: string): Finding {
  const name = 'dry open'
  if (outcome.ok) return note(name, `The contracts took ${what}, of somebody without funds; nothing was sent.`)
  const { errorName, text } = revertReason(revertData(outcome))
  const isFunds = (errorName !== null && FUNDS_ERRORS.has(errorName)) || FUNDS_PATTERN.test(text ?? '')
  if (isFunds)
    return ok(name, `The contracts understood ${what}: they refuse it only for lack of funds. Nothing was sent.`)
  if (errorName === null) {
    if (!isRevert(outcome)) {
      return warning(name, `The node could not run ${what} (${quoted(outcome.message, '')}): run the check again.`)
    }
    return warning(
      name,
      `The contracts refuse ${what} without a reason: try a small order of your own before others do.`,
    )
  }
  if (errorName === UNKNOWN_FUNCTION || errorName.startsWith('0x') || errorName === 'Panic') {
    return failure(name, `The contracts do not understand ${what} (${errorName}): ${REMEDY}.`)
  }
  return ok(
    name,
    `The contracts understood ${what}: they refuse it with ${errorName}${text === null ? '' : ` (${text})`}. Nothing was sent.`,
  )
}
