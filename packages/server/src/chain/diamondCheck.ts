import { diamondAbi } from '@bezel/protocol'
import { numberToHex, toFunctionSelector, type AbiFunction, type ContractFunctionName, type Hex } from 'viem'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { ENCODED_CALLS } from '../trading/plan/encodeCall.ts'
import { headNumberCall, quantity, resultOf } from './blocks.ts'
import { createCallRound, diamondCall } from './diamondCalls.ts'
import { isRevert, type RpcClient } from './rpcClient.ts'
import type { ServedChain } from './servedChain.ts'

type FunctionName = ContractFunctionName<typeof diamondAbi>

/**
 * Every function of the Diamond that the service calls, or lets a wallet or an agent call. The Diamond's own `facets`
 * is not among them, because the live Diamond has it outside of its facets. A test compares this list with the source.
 */
export const CALLED_FUNCTIONS: readonly FunctionName[] = [
  ...ENCODED_CALLS,
  'setTradingDelegate',
  'removeTradingDelegate',
  'calculateFeeAmount',
  'fees',
  'feesCount',
  'getAllBorrowingPairs',
  'getAllPairsRestrictedMaxLeverage',
  'getAllPendingOrdersForTraders',
  'getAllTradeInfosForTraders',
  'getAllTradesForTraders',
  'getAllTradesLiquidationParamsForTraders',
  'getBorrowingGroups',
  'getBorrowingInitialAccFees',
  'getBorrowingPair',
  'getBorrowingPairFeePerBlockCap',
  'getBorrowingPairOiBeforeV10',
  'getCollateralPriceUsd',
  'getCollaterals',
  'getCountersForTraders',
  'getDepthBandsMapping',
  'getGlobalTradeFeeParams',
  'getMarketOrdersTimeoutBlocks',
  'getNegPnlCumulVolMultiplier',
  'getOiWindows',
  'getOiWindowsSettings',
  'getPairBorrowingFeeData',
  'getPairBorrowingFeeParams',
  'getPairCounterTradeFeeRateMultipliers',
  'getPairDepthBandsArray',
  'getPairFactors',
  'getPairFundingFeeData',
  'getPairFundingFeeParams',
  'getPairGlobalParamsArray',
  'getPairLiquidationParams',
  'getPairOisAfterV10Token',
  'getPairSkewDepths',
  'getTrade',
  'getTradeFeesDataArray',
  'getTradeInfo',
  'getTradeLiquidationParams',
  'getTraderActiveReferrer',
  'getTraders',
  'getTradersCount',
  'getTradingActivated',
  'getTradingDelegate',
  'getTriggerTimeoutBlocks',
  'getUserPriceImpact',
  'groups',
  'groupsCount',
  'pairs',
  'pairsCount',
]

/** State of a Diamond at one block. */
export interface DiamondState {
  /** Block at which the Diamond was asked. */
  readonly block: number
  /** One sentence that names what is not as expected; `undefined` when all is well. */
  readonly problem: string | undefined
}

type Profile = Pick<ServedChain, 'slug' | 'diamond' | 'requestTimeoutBlocks'>

const REMEDY = 'correct the diamond in the chains file, or use a build that knows these contracts'

/**
 * Compares the Diamond with what the service calls and the chains file says, at the node's head or at `atLeast`,
 * whichever is later. Throws `NodeUnavailableError` when the node does not tell.
 */
export async function readDiamond(client: RpcClient, profile: Profile, atLeast: number): Promise<DiamondState> {
  const [head] = await client.batch([headNumberCall])
  const block = Math.max(quantity(resultOf(head)), atLeast)
  const missing = await readMissing(client, profile, block)
  if (missing.length === 0) return { block, problem: await readProblem(client, profile, block) }
  return { block, problem: `${nameOf(profile)} does not answer ${missing.join(', ')}: ${REMEDY}.` }
}

/** Returns the called functions that no facet with code answers, as `name (selector)`. */
async function readMissing(client: RpcClient, { diamond }: Profile, block: number): Promise<readonly string[]> {
  const loupe = diamondCall(diamond, 'facets', [], numberToHex(block))
  const [outcome] = await client.batch([loupe.call])
  if (outcome === undefined) throw new NodeUnavailableError('the node gave no answer')
  if (isRevert(outcome) || (outcome.ok && outcome.result === '0x')) return [labelOf('facets')]
  const facets = loupe.decode(outcome)
  const coded = await readCoded(
    client,
    facets.map(({ facetAddress }) => facetAddress),
    block,
  )
  const answered = new Set(
    facets.filter(({ facetAddress }) => coded.has(facetAddress)).flatMap((facet) => facet.functionSelectors),
  )
  return CALLED_FUNCTIONS.filter((name) => !answered.has(selectorOf(name))).map(labelOf)
}

/** Returns those addresses that hold code. */
async function readCoded(client: RpcClient, addresses: readonly Hex[], block: number): Promise<ReadonlySet<Hex>> {
  const outcomes = await client.batch(
    addresses.map((address) => ({ method: 'eth_getCode', params: [address, numberToHex(block)] })),
  )
  return new Set(addresses.filter((_, at) => resultOf(outcomes[at]) !== '0x'))
}

/** Returns the sentence about the first value that is not as expected; `undefined` when all are. */
async function readProblem(client: RpcClient, profile: Profile, block: number): Promise<string | undefined> {
  const round = createCallRound(client, profile.diamond, numberToHex(block))
  const collaterals = round.view('getCollaterals', [])
  const pairs = round.view('pairsCount', [])
  const timeout = round.view('getMarketOrdersTimeoutBlocks', [])
  await round.run()
  if (collaterals().length === 0) return `${nameOf(profile)} has 0 collaterals: ${REMEDY}.`
  if (pairs() === 0n) return `${nameOf(profile)} lists 0 pairs: ${REMEDY}.`
  const { requestTimeoutBlocks: expected = timeout() } = profile
  if (timeout() === expected) return undefined
  const remedy = 'correct requestTimeoutBlocks in the chains file if that is meant'
  return `${nameOf(profile)} gives requests back after ${timeout()} blocks, not ${expected}: ${remedy}.`
}

function nameOf({ slug, diamond }: Profile): string {
  return `The Diamond at ${diamond} on ${slug}`
}

function labelOf(name: FunctionName): string {
  return `${name} (${selectorOf(name)})`
}

function selectorOf(name: FunctionName): Hex {
  return toFunctionSelector(
    diamondAbi.find((entry): entry is AbiFunction & typeof entry => entry.type === 'function' && entry.name === name)!,
  )
}
