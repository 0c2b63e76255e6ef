import { NodeUnavailableError } from '../ground/unavailable.ts'
import {
  ApiError,
  errorsAbi,
  explainContractError,
  formatDecimal,
  revertReason,
  type Address,
  type Hex,
  type RevertReason,
  type TransactionRequest,
} from '@bezel/protocol'
import { diamondCall } from './diamondCalls.ts'
import { isRevert, revertData, type RpcClient, type RpcOutcome, type RpcCall } from './rpcClient.ts'
import { decodeFunctionResult, encodeFunctionData, erc20Abi } from 'viem'

/** A transaction for an agent to send, not yet simulated. */
export interface TransactionDraft {
  readonly chainId: number
  readonly diamond: Address
  readonly trader: Address
  readonly agent: Address
  /**
   * Calldata of the trader's own call, without the delegation around it. A `SIMULATION_REVERTED` error returns it, so
   * that the call can be replayed.
   */
  readonly inner: Hex
  /** Calldata of the whole transaction. */
  readonly data: Hex
  /** Tokens that the Diamond takes from the trader; `null` when it takes none. */
  readonly takes: TokenDemand | null
}

/** An amount of a token that the Diamond takes from a trader. */
export interface TokenDemand {
  readonly symbol: string
  readonly token: Address
  readonly decimals: number
  /** Amount in the token's smallest unit. */
  readonly amount: bigint
  /** Amount that the transaction itself gives back first, so that it need not be in the wallet. */
  readonly returned: bigint
}

/** Further calls in the round trip of a simulation, and the receiver of their outcomes. */
export interface Alongside {
  readonly calls: readonly RpcCall[]
  readonly take: (outcomes: readonly RpcOutcome[]) => void
}

/** Receivers of what the round trip of a simulation reads besides. */
export interface SimulationReaders {
  /** Throws when the delegate is the wrong one. Not called where the trader sends for itself. */
  readonly onDelegate: (delegate: Address) => void
  /** Called when the transaction takes a token that answers, before the simulation is judged. */
  readonly onTokens?: ((held: HeldTokens) => void) | undefined
  readonly alongside?: Alongside | undefined
}

/** The tokens of a trader, in the token's smallest unit. */
export interface HeldTokens {
  readonly balance: bigint
  /** Amount that the trader lets the Diamond take. */
  readonly allowance: bigint
}

/** A transaction whose simulation passed. */
interface TriedTransaction {
  /** Gas limit in units of gas; `null` when it could not be estimated, mostly because the agent has no native token. */
  readonly gas: string | null
}

/**
 * Gas limit as a multiple of the estimate, 3/2: answers of the oracle between the estimate and the block make a request
 * more expensive.
 */
const GAS_MARGIN_NUMERATOR = 3n
const GAS_MARGIN_DENOMINATOR = 2n

/**
 * Simulates a transaction on the latest block, in one round trip: reads the trader's delegate, simulates the call,
 * estimates its gas and reads the trader's tokens to explain a revert. Passes everything that was read to its
 * receivers. Throws `SIMULATION_REVERTED`, or `NodeUnavailableError` when the node does not answer properly.
 */
export async function prepareTransaction(
  client: RpcClient,
  draft: TransactionDraft,
  { onDelegate, onTokens, alongside }: SimulationReaders,
): Promise<TriedTransaction> {
  const { diamond, trader, agent, data, takes } = draft
  const transaction = { from: agent, to: diamond, data }
  const delegate = agent === trader ? undefined : diamondCall(diamond, 'getTradingDelegate', [trader])
  const holdings = takes === null ? [] : holdingCalls(takes, trader, diamond)
  const outcomes = await client.batch([
    { method: 'eth_call', params: [transaction, 'latest'] },
    { method: 'eth_estimateGas', params: [transaction] },
    ...holdings,
    ...(alongside?.calls ?? []),
    ...(delegate === undefined ? [] : [delegate.call]),
  ])
  const [simulation, estimate, ...rest] = outcomes
  if (simulation === undefined || estimate === undefined) throw new NodeUnavailableError('the node gave no answer')
  const held = takes === null ? undefined : heldOf(rest)
  if (held !== undefined) onTokens?.(held)
  if (delegate !== undefined) onDelegate(delegate.decode(rest.at(-1)!) as Address)
  alongside?.take(rest.slice(holdings.length, holdings.length + alongside.calls.length))
  requirePassed(draft, simulation, takes === null || held === undefined ? undefined : shortageOf(draft, takes, held))
  return { gas: gasOf(estimate) }
}

/** Throws `SIMULATION_REVERTED` for a simulation that did not pass. */
export function requirePassed(
  draft: Pick<TransactionDraft, 'inner'>,
  simulation: RpcOutcome,
  shortage?: Shortage,
): void {
  if (simulation.ok) {
    if (typeof simulation.result === 'string' && simulation.result.startsWith('0x')) return
    throw new NodeUnavailableError('the node answered a simulation with something that is no bytes')
  }
  if (!isRevert(simulation)) throw new NodeUnavailableError(`the simulation failed: ${simulation.message}`)
  const reason = revertReason(revertData(simulation))
  throw simulationReverted(draft, reason, mayBeOfTokens(reason) ? shortage : undefined)
}

/** Errors of the Diamond's own rules, which have nothing to do with tokens that are missing besides. */
const OWN_ERRORS: ReadonlySet<string> = new Set(
  errorsAbi.map(({ name }) => name).filter((name) => name !== 'InsufficientBalance'),
)

/** Returns true when a transfer of tokens may have reverted. Tokens revert with errors and texts of their own. */
function mayBeOfTokens({ errorName }: RevertReason): boolean {
  return errorName === null || !OWN_ERRORS.has(errorName)
}

/**
 * Returns the refusal of a simulation, in the words of the table of contract errors. A shortage of tokens says more
 * than the error that it leads to, so it takes the place of those words.
 */
export function simulationReverted(
  { inner }: Pick<TransactionDraft, 'inner'>,
  { errorName, text }: RevertReason,
  shortage?: Shortage,
): ApiError {
  const known = explainContractError(errorName)
  const said = text === null ? undefined : `They say: ${text}`
  const words = shortage?.message ?? said ?? (known && `${known.words} ${known.cause} ${known.remedy}`)
  const name = `The contracts would revert${errorName === null ? '' : ` with ${errorName}`}.`
  return new ApiError('SIMULATION_REVERTED', [name, words ?? UNEXPLAINED].join(' '), {
    errorName,
    ...(known === undefined ? {} : { cause: known.cause, remedy: known.remedy }),
    calldata: inner,
    ...(text === null ? {} : { reason: text }),
    ...shortage?.details,
  })
}

const UNEXPLAINED = 'No table explains it: details.calldata can be replayed against the Diamond.'

function gasOf(outcome: RpcOutcome): string | null {
  if (!outcome.ok || typeof outcome.result !== 'string' || !/^0x[0-9a-f]{1,16}$/i.test(outcome.result)) return null
  const estimate = BigInt(outcome.result)
  return String((estimate * GAS_MARGIN_NUMERATOR + GAS_MARGIN_DENOMINATOR - 1n) / GAS_MARGIN_DENOMINATOR)
}

/** Description of missing balance or allowance, as text and as numbers. */
interface Shortage {
  readonly message: string
  readonly details: {
    readonly collateral: string
    readonly needed: string
    readonly balance: string
    readonly allowance: string
    /** The last sentence of the message. */
    readonly remedy: string
    /** The trader's transaction that allows what is needed; absent when the allowance is large enough. */
    readonly approvalTx?: TransactionRequest
  }
}

/** Returns two calls: the trader's balance of the token and its allowance for the Diamond. */
function holdingCalls({ token }: TokenDemand, trader: Address, diamond: Address): readonly RpcCall[] {
  const balance = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [trader] })
  const allowance = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [trader, diamond] })
  return [balance, allowance].map((data) => ({ method: 'eth_call', params: [{ to: token, data }, 'latest'] }))
}

/** Returns what a trader has of a token; `undefined` when the token does not answer. */
function heldOf([balanceOutcome, allowanceOutcome]: readonly (RpcOutcome | undefined)[]): HeldTokens | undefined {
  const balance = amountIn(balanceOutcome)
  const allowance = amountIn(allowanceOutcome)
  return balance === undefined || allowance === undefined ? undefined : { balance, allowance }
}

/** Tells which of balance and allowance is too small for a demand. */
export function lackOf(
  { amount, returned }: Pick<TokenDemand, 'amount' | 'returned'>,
  { balance, allowance }: HeldTokens,
): { readonly isPoor: boolean; readonly isBarred: boolean } {
  return { isPoor: balance + returned < amount, isBarred: allowance < amount }
}

/** Returns the trader's transaction that lets the Diamond take an amount of a token. */
export function approvalTx(
  { diamond, chainId }: Pick<TransactionDraft, 'diamond' | 'chainId'>,
  { token, amount }: Pick<TokenDemand, 'token' | 'amount'>,
): TransactionRequest {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [diamond, amount] })
  return { to: token, data, chainId }
}

/** Returns the shortage of balance or allowance; `undefined` when there is enough of both. */
function shortageOf(
  draft: Pick<TransactionDraft, 'diamond' | 'chainId'>,
  demand: TokenDemand,
  held: HeldTokens,
): Shortage | undefined {
  const { symbol, decimals, amount, returned } = demand
  const { balance, allowance } = held
  const { isPoor, isBarred } = lackOf(demand, held)
  if (!isPoor && !isBarred) return undefined
  const amounts = [amount, balance, allowance, amount - returned - balance]
  const [needed, has, allowed, lacking] = amounts.map((value) => formatDecimal(value, decimals))
  const lacks = [
    isPoor && `the trader's balance is ${has} ${symbol}`,
    isBarred && `the trader's allowance for the Diamond is ${allowed} ${symbol}`,
  ].filter((part) => part !== false)
  const paidIn = `Pay ${lacking} ${symbol} or more into the trader's wallet`
  const remedy = isPoor
    ? `${paidIn}${isBarred ? ', and let the trader send approvalTx: an approval alone does not help' : ''}.`
    : 'The trader sends approvalTx, which allows just that, or approves a little more, since the price moves until the order is sent.'
  return {
    message: `${needed} ${symbol} are needed, but ${lacks.join(' and ')}. ${remedy}`,
    details: {
      collateral: symbol,
      needed: needed!,
      balance: has!,
      allowance: allowed!,
      remedy,
      ...(isBarred ? { approvalTx: approvalTx(draft, demand) } : {}),
    },
  }
}

function amountIn(outcome: RpcOutcome | undefined): bigint | undefined {
  if (outcome?.ok !== true) return undefined
  try {
    return decodeFunctionResult({ abi: erc20Abi, functionName: 'balanceOf', data: outcome.result as Hex })
  } catch {
    return undefined
  }
}
