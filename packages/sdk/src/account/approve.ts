import { CollateralAmount, parseDecimal, type SigningDomain } from '@bezel/protocol/wire'
import { encodeFunctionData, parseAbi } from 'viem'
import { BezelConfigError } from '../errors/bezelError.ts'
import { BezelApiError } from '../errors/serviceErrors.ts'
import { ApprovalTimeoutError } from '../errors/transactionErrors.ts'
import { sendFrom } from '../senders/sendFrom.ts'
import type { TransactionSender } from '../senders/transactionSender.ts'
import { findToken, readerOf } from '../verify/readDiamond.ts'

/** An amount of a collateral that the Diamond may take from the trader's wallet. */
export interface Allowance {
  /** Symbol of the token, for instance `USDC`. */
  readonly collateral: string
  /** Amount in whole tokens, for instance `100.5`. */
  readonly amount: string
}

/** Options of `account.approve`. */
export interface ApproveOptions extends Allowance {
  /** Sender of the trader, not of the agent. It must be able to read the chain (`call`). */
  readonly sender: TransactionSender
  /** Time to wait until the chain shows the allowance. Default 90,000 ms; 0 does not wait. */
  readonly timeoutMs?: number
  /** Pause between two looks at the chain. Default 1,000 ms. */
  readonly pollMs?: number
}

const APPROVE_ABI = parseAbi(['function approve(address spender, uint256 amount) returns (bool)'])

const DEFAULT_TIMEOUT_MS = 90_000

const DEFAULT_POLL_MS = 1_000

/**
 * Returns the allowance that a refused write lacks, to show to the user and to pass to `account.approve`; `undefined`
 * when the refusal is about something else. The transaction inside the refusal is never signed: `approve` makes its
 * own.
 */
export function missingAllowance(error: unknown): Allowance | undefined {
  if (!(error instanceof BezelApiError) || error.code !== 'SIMULATION_REVERTED') return undefined
  const { collateral, needed, approvalTx } = error.details
  if (approvalTx === undefined || typeof collateral !== 'string' || typeof needed !== 'string') return undefined
  return { collateral, amount: needed }
}

/**
 * Allows the Diamond to take up to an amount of a collateral. The token is the one that the Diamond itself names, read
 * over the sender's own node; the amount is the caller's. Nothing of it comes from the service.
 */
export async function approve(
  { sender, collateral, amount, timeoutMs = DEFAULT_TIMEOUT_MS, pollMs = DEFAULT_POLL_MS }: ApproveOptions,
  { chainId, verifyingContract: diamond }: SigningDomain,
): Promise<`0x${string}`> {
  const read = readerOf(sender)
  if (read === undefined) {
    const message =
      'This sender can not read the chain, so the token can not be proven: use viemSender or privateKeySender.'
    throw new BezelConfigError('SENDER_CANNOT_READ', message)
  }
  const token = await findToken(read, diamond, collateral)
  if (token === undefined) {
    throw new BezelConfigError('UNKNOWN_COLLATERAL', `The Diamond has no collateral ${collateral} on this chain.`)
  }
  const address = token.address as `0x${string}`
  const units = unitsOf(amount, token.decimals)
  const before = await read(address, 'allowance', [sender.address, diamond])
  const data = encodeFunctionData({ abi: APPROVE_ABI, functionName: 'approve', args: [diamond, units] })
  const txHash = await sendFrom(sender, { to: address, data, chainId })
  if (timeoutMs === 0) return txHash
  const deadlineMs = performance.now() + timeoutMs
  // An order of the trader may use some of it at once, so any other allowance than before will do.
  const isAsBefore = async (): Promise<boolean> =>
    before !== units && (await read(address, 'allowance', [sender.address, diamond])) === before
  while (await isAsBefore()) {
    if (performance.now() >= deadlineMs) throw new ApprovalTimeoutError(collateral, txHash, timeoutMs)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  return txHash
}

function unitsOf(amount: string, decimals: number): bigint {
  const value = parseDecimal(amount)
  const units = value === undefined ? undefined : CollateralAmount.parse(value, decimals)
  if (units !== undefined && units >= 0n) return units
  const message = `${JSON.stringify(amount)} is no amount of this token: a decimal number with at most ${decimals} places.`
  throw new BezelConfigError('BAD_AMOUNT', message)
}
