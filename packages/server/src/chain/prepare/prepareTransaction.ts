import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { ApiError, type Address, type Hex } from '@bezel/protocol'
import { diamondCall } from '../diamondCalls.ts'
import { revertData } from '../revertData.ts'
import type { RpcClient } from '../rpcClient.ts'
import { type RpcOutcome } from '../rpcOutcome.ts'
import { revertReason } from './revertReason.ts'
import { holdingCalls, shortageOf, type Shortage, type TokenDemand } from './tokenHolding.ts'

/** A transaction that an agent is to send, before it was tried. */
export interface TransactionDraft {
  readonly diamond: Address
  readonly trader: Address
  readonly agent: Address
  /** The call of the trader itself, to be replayed by whoever looks for the fault. */
  readonly inner: Hex
  /** The whole input. */
  readonly data: Hex
  /** What the Diamond takes from the trader. */
  readonly takes: TokenDemand | null
}

/** A transaction that would be accepted now. */
export interface TriedTransaction {
  /** Units of gas; `null` when it could not be estimated, mostly because the agent has no native token. */
  readonly gas: string | null
}

/** Answers of the oracle between the estimate and the block make a request dearer: half as much again covers it. */
const GAS_MARGIN_NUMERATOR = 3n
const GAS_MARGIN_DENOMINATOR = 2n

/** How nodes say that the call itself failed and not they, when they leave out its bytes. */
const REVERT_PATTERN = /revert|out of gas|invalid opcode|invalid jump|stack (?:under|over)flow|vm exception/i
/** The code that nodes have for "execution reverted". */
const REVERT_CODE = 3

/**
 * Tries a transaction on the latest block in one round trip: who the delegate is (told to `onDelegate`, which throws when it is the wrong
 * one), whether it would revert, what it costs and, to explain a revert, what the trader has. Throws `SIMULATION_REVERTED`, and
 * `NodeUnavailableError` when the node is away or makes no sense.
 */
export async function prepareTransaction(
  client: RpcClient,
  draft: TransactionDraft,
  onDelegate: (delegate: Address) => void,
): Promise<TriedTransaction> {
  const { diamond, trader, agent, data, takes } = draft
  const transaction = { from: agent, to: diamond, data }
  const delegate = agent === trader ? undefined : diamondCall(diamond, 'getTradingDelegate', [trader])
  const outcomes = await client.batch([
    { method: 'eth_call', params: [transaction, 'latest'] },
    { method: 'eth_estimateGas', params: [transaction] },
    ...(takes === null ? [] : holdingCalls(takes, trader, diamond)),
    ...(delegate === undefined ? [] : [delegate.call]),
  ])
  const [simulation, estimate, ...rest] = outcomes
  if (simulation === undefined || estimate === undefined) throw new NodeUnavailableError('the node gave no answer')
  if (delegate !== undefined) onDelegate(delegate.decode(rest.at(-1)!) as Address)
  requirePassed(draft, simulation, takes === null ? undefined : shortageOf(takes, rest))
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
  const { errorName, text } = revertReason(bytes)
  const name = `The contracts would revert${errorName === null ? '' : ` with ${errorName}`}`
  const message = shortage?.message ?? (text === null ? undefined : `They say: ${text}`)
  throw new ApiError('SIMULATION_REVERTED', message === undefined ? `${name}.` : `${name}. ${message}`, {
    errorName,
    calldata: draft.inner,
    ...(text === null ? {} : { reason: text }),
    ...shortage?.details,
  })
}

function gasOf(outcome: RpcOutcome): string | null {
  if (!outcome.ok || typeof outcome.result !== 'string' || !/^0x[0-9a-f]{1,16}$/i.test(outcome.result)) return null
  const estimate = BigInt(outcome.result)
  return String((estimate * GAS_MARGIN_NUMERATOR + GAS_MARGIN_DENOMINATOR - 1n) / GAS_MARGIN_DENOMINATOR)
}
