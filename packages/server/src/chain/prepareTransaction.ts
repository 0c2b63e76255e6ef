import { NodeUnavailableError } from '../ground/unavailable.ts'
import {
  ApiError,
  errorsAbi,
  explainContractError,
  formatDecimal,
  tokenErrorsAbi,
  type Address,
  type Hex,
  type TransactionRequest,
} from '@bezel/protocol'
import { diamondCall } from './diamondCalls.ts'
import { revertData, type RpcClient, type RpcOutcome, type RpcCall } from './rpcClient.ts'
import { decodeErrorResult, parseAbi, decodeFunctionResult, encodeFunctionData, erc20Abi } from 'viem'

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
 * Matches messages that report a failure of the call itself and not of the node, for nodes that leave out the revert
 * bytes.
 */
const REVERT_PATTERN = /revert|out of gas|invalid opcode|invalid jump|stack (?:under|over)flow|vm exception/i
/** JSON-RPC error code for "execution reverted". */
const REVERT_CODE = 3

/**
 * Simulates a transaction on the latest block, in one round trip: reads the trader's delegate, simulates the call,
 * estimates its gas and reads the trader's tokens to explain a revert. Passes the delegate to `onDelegate`, which
 * throws when it is the wrong one, and what was read alongside to its receiver. Throws `SIMULATION_REVERTED`, or
 * `NodeUnavailableError` when the node does not answer properly.
 */
export async function prepareTransaction(
  client: RpcClient,
  draft: TransactionDraft,
  onDelegate: (delegate: Address) => void,
  alongside?: Alongside,
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
  if (delegate !== undefined) onDelegate(delegate.decode(rest.at(-1)!) as Address)
  alongside?.take(rest.slice(holdings.length, holdings.length + alongside.calls.length))
  requirePassed(draft, simulation, takes === null ? undefined : shortageOf(draft, takes, rest))
  return { gas: gasOf(estimate) }
}

function requirePassed(draft: TransactionDraft, simulation: RpcOutcome, shortage: Shortage | undefined): void {
  if (simulation.ok) {
    if (typeof simulation.result === 'string' && simulation.result.startsWith('0x')) return
    throw new NodeUnavailableError('the node answered a simulation with something that is no bytes')
  }
  const bytes = revertData(simulation)
  const isRevert = bytes !== undefined || simulation.code === REVERT_CODE || REVERT_PATTERN.test(simulation.message)
  if (!isRevert) throw new NodeUnavailableError(`the simulation failed: ${simulation.message}`)
  const reason = revertReason(bytes)
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

/**
 * Returns the shortage of balance or allowance; `undefined` when there is enough of both or the token does not answer.
 * Only explains a revert, so it never throws.
 */
function shortageOf(
  { diamond, chainId }: Pick<TransactionDraft, 'diamond' | 'chainId'>,
  { symbol, token, decimals, amount, returned }: TokenDemand,
  [balanceOutcome, allowanceOutcome]: readonly (RpcOutcome | undefined)[],
): Shortage | undefined {
  const balance = amountIn(balanceOutcome)
  const allowance = amountIn(allowanceOutcome)
  if (balance === undefined || allowance === undefined) return undefined
  const isPoor = balance + returned < amount
  const isBarred = allowance < amount
  if (!isPoor && !isBarred) return undefined
  const [needed, has, allowed] = [amount, balance, allowance].map((value) => formatDecimal(value, decimals))
  const lacks = [
    isPoor && `the trader's balance is ${has} ${symbol}`,
    isBarred && `the trader's allowance for the Diamond is ${allowed} ${symbol}`,
  ].filter((part) => part !== false)
  const remedy = isBarred ? ' The trader sends approvalTx once, which allows it.' : ''
  const approval = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [diamond, amount] })
  return {
    message: `${needed} ${symbol} are needed, but ${lacks.join(' and ')}.${remedy}`,
    details: {
      collateral: symbol,
      needed: needed!,
      balance: has!,
      allowance: allowed!,
      ...(isBarred ? { approvalTx: { to: token, data: approval, chainId } } : {}),
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

/** The reason for a revert, as far as its bytes tell. */
interface RevertReason {
  /**
   * Name of the custom error, or Solidity's own `Error` or `Panic`; the four-byte selector of an unknown error; `null`
   * for a revert without data.
   */
  readonly errorName: string | null
  /** The text of an `Error` or the code of a `Panic`, otherwise `null`. */
  readonly text: string | null
}

const KNOWN_ERRORS = [
  ...errorsAbi,
  ...tokenErrorsAbi,
  ...parseAbi(['error Error(string)', 'error Panic(uint256)']),
] as const

/** Maximum length of a revert text in an answer, because foreign contracts choose that text. */
const MAX_TEXT_CHARS = 200

const SELECTOR_CHARS = 10

function revertReason(data: Hex | undefined): RevertReason {
  if (data === undefined || data.length < SELECTOR_CHARS) return { errorName: null, text: null }
  try {
    const { errorName, args } = decodeErrorResult({ abi: KNOWN_ERRORS, data })
    const hasText = errorName === 'Error' || errorName === 'Panic'
    return { errorName, text: hasText ? String(args[0]).slice(0, MAX_TEXT_CHARS) : null }
  } catch {
    return { errorName: data.slice(0, SELECTOR_CHARS), text: null }
  }
}
