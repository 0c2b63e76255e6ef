import {
  CollateralAmount,
  formatDecimal,
  parseDecimal,
  type Missing,
  type OrderPreview,
  type SigningDomain,
  type TransactionRequest,
} from '@bezel/protocol/wire'
import { encodeFunctionData, parseAbi } from 'viem'
import { verifyDelegation } from '../agents/createAgents.ts'
import { BezelConfigError } from '../errors/bezelError.ts'
import { BezelApiError } from '../errors/serviceErrors.ts'
import { ApprovalTimeoutError, UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { requireTraderSender, sendFrom } from '../senders/sendFrom.ts'
import type { TransactionSender } from '../senders/transactionSender.ts'
import { isSameAddress } from '../verify/decodeCalls.ts'
import { findToken, listTokenSymbols, readerOf, type ReadContract } from '../verify/readDiamond.ts'

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

/** Options of `account.prepareApprove`. */
export interface PrepareApproveOptions extends Allowance {
  /** Sender whose node the token is read over (`call`). Default: the client's own. */
  readonly sender?: TransactionSender
}

/** Options of `account.remedies`. */
export interface RemedyOptions {
  /** Agent that a delegation must name. Default: the client's own. */
  readonly agent?: `0x${string}`
  /** Sender whose node tokens are read over (`call`). Default: the client's own. */
  readonly sender?: TransactionSender
}

/** The conditions that the trader's wallet must meet, and the transactions that do it. */
export interface Approvals {
  /**
   * Returns what a preview found missing, after it checked the transactions that remedy it: an allowance must be
   * exactly what is needed of the token that the Diamond names, a delegation exactly that of the agent. The trader's
   * wallet can send them as they are. Throws `UnverifiedTransactionError`.
   */
  remedies(preview: Pick<OrderPreview, 'missing'>, options?: RemedyOptions): Promise<Missing[]>
  /**
   * Makes the transaction that lets the Diamond take up to an amount of a collateral, for the trader's wallet to send.
   * Nothing of it comes from the service.
   */
  prepareApprove(options: PrepareApproveOptions): Promise<TransactionRequest>
  /**
   * Lets the Diamond take up to an amount of a collateral from the trader's wallet, and waits until the chain shows it.
   * Returns the transaction hash. The token is read from the Diamond over the sender's own node. Throws `WRONG_SENDER`
   * when the sender is not the client's trader.
   */
  approve(options: ApproveOptions): Promise<`0x${string}`>
}

const APPROVE_ABI = parseAbi(['function approve(address spender, uint256 amount) returns (bool)'])

const DEFAULT_TIMEOUT_MS = 90_000

const DEFAULT_POLL_MS = 1_000

/** Percent by which an allowance is more than what an order takes now. */
const ROOM_PERCENT = 1n

/**
 * Returns an amount to allow for an order that takes `needed` now: 1 % more, because the collateral of an order follows
 * the price, which moves until the order is sent.
 */
export function withRoom(needed: string): string {
  const [whole = '', fraction = ''] = needed.split('.')
  const more = (BigInt(whole + fraction) * (100n + ROOM_PERCENT) + 99n) / 100n
  return formatDecimal(more, fraction.length)
}

/**
 * Returns the allowance that a refused write lacks, with room for the price to move (`withRoom`), to show to the user
 * and to pass to `account.approve`; `undefined` when the refusal is about something else. The transaction inside the
 * refusal is never signed: `approve` makes its own.
 */
export function missingAllowance(error: unknown): Allowance | undefined {
  if (!(error instanceof BezelApiError) || error.code !== 'SIMULATION_REVERTED') return undefined
  const { collateral, needed, approvalTx } = error.details
  if (approvalTx === undefined || typeof collateral !== 'string' || typeof needed !== 'string') return undefined
  return { collateral, amount: withRoom(needed) }
}

/**
 * Creates the approvals of a client. `own` is its sender, `ownAgent` returns its agent or throws, `trader` returns its
 * trader, or `undefined` while that is not known.
 */
export function createApprovals(of: {
  readonly domain: () => Promise<SigningDomain>
  readonly own: TransactionSender | undefined
  readonly ownAgent: () => { readonly address: `0x${string}` }
  readonly trader: () => string | undefined
}): Approvals {
  async function remedyOf(one: Missing, { agent, sender = of.own }: RemedyOptions): Promise<Missing> {
    if (one.transaction === null) return one
    const domain = await of.domain()
    if (one.kind === 'delegation') {
      const { chainId, verifyingContract: diamond } = domain
      verifyDelegation(one.transaction, { delegate: agent ?? of.ownAgent().address, diamond, chainId })
    } else {
      const allowance = { collateral: one.collateral, amount: one.needed }
      verifyApproval(one.transaction, (await approvalOf(requireReader(sender), allowance, domain)).transaction)
    }
    return one
  }
  return {
    remedies: ({ missing }, options = {}) => Promise.all(missing.map((one) => remedyOf(one, options))),
    prepareApprove: async ({ sender = of.own, ...allowance }) =>
      (await approvalOf(requireReader(sender), allowance, await of.domain())).transaction,
    async approve(options) {
      const trader = of.trader()
      if (trader !== undefined) requireTraderSender(options.sender, trader)
      return approve(options, await of.domain())
    },
  }
}

/**
 * Allows the Diamond to take up to an amount of a collateral. The token is the one that the Diamond itself names, read
 * over the sender's own node; the amount is the caller's. Nothing of it comes from the service.
 */
export async function approve(
  { sender, collateral, amount, timeoutMs = DEFAULT_TIMEOUT_MS, pollMs = DEFAULT_POLL_MS }: ApproveOptions,
  domain: SigningDomain,
): Promise<`0x${string}`> {
  const read = requireReader(sender)
  const { transaction, units } = await approvalOf(read, { collateral, amount }, domain)
  const allowance = (): Promise<bigint> => read(transaction.to, 'allowance', [sender.address, domain.verifyingContract])
  const before = await allowance()
  const txHash = await sendFrom(sender, transaction)
  if (timeoutMs === 0 || before === units) return txHash
  const deadlineMs = performance.now() + timeoutMs
  // An order of the trader may use some of it at once, so any other allowance than before will do. A node that does not
  // answer for a moment is asked again: the transaction is sent.
  const look = (): Promise<bigint> => allowance().catch(() => before)
  for (let now = await look(); now === before; now = await look()) {
    if (performance.now() >= deadlineMs) throw new ApprovalTimeoutError(collateral, txHash, timeoutMs)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  return txHash
}

/** Makes the transaction of an allowance. The token is the one that the Diamond itself names. */
async function approvalOf(
  read: ReadContract,
  { collateral, amount }: Allowance,
  { chainId, verifyingContract: diamond }: SigningDomain,
): Promise<{ readonly transaction: TransactionRequest; readonly units: bigint }> {
  const token = await findToken(read, diamond, collateral)
  if (token === undefined) {
    const known = (await listTokenSymbols(read, diamond)).join(', ')
    const message = `The Diamond has no collateral ${collateral} on this chain; it has ${known}.`
    throw new BezelConfigError('UNKNOWN_COLLATERAL', message)
  }
  const units = unitsOf(amount, token.decimals)
  const data = encodeFunctionData({ abi: APPROVE_ABI, functionName: 'approve', args: [diamond, units] })
  return { transaction: { to: token.address, data, chainId }, units }
}

function verifyApproval(found: TransactionRequest, expected: TransactionRequest): void {
  if (!isSameAddress(found.to, expected.to)) throw new UnverifiedTransactionError('to', expected.to, found.to)
  if (found.chainId !== expected.chainId) {
    throw new UnverifiedTransactionError('chainId', String(expected.chainId), String(found.chainId))
  }
  const isSame = found.data.toLowerCase() === expected.data.toLowerCase()
  if (!isSame) throw new UnverifiedTransactionError('data', expected.data, found.data)
}

function requireReader(sender: TransactionSender | undefined): ReadContract {
  const read = readerOf(sender)
  if (read !== undefined) return read
  const message =
    'This sender can not read the chain, so the token can not be proven: use viemSender or privateKeySender.'
  throw new BezelConfigError('SENDER_CANNOT_READ', message)
}

function unitsOf(amount: string, decimals: number): bigint {
  const value = parseDecimal(amount)
  const units = value === undefined ? undefined : CollateralAmount.parse(value, decimals)
  if (units !== undefined && units >= 0n) return units
  const message = `${JSON.stringify(amount)} is no amount of this token: a decimal number with at most ${decimals} places.`
  throw new BezelConfigError('BAD_AMOUNT', message)
}
