import { tradingInteractionsAbi } from '@bezel/protocol/wire'
import type { AgentAnswer, AgentScope, RevokedAgent, Signer, TransactionRequest } from '@bezel/sdk'
import { encodeFunctionData } from 'viem'
import { chainInfo } from '../data/chain.ts'
import { runAction } from '../session/act.ts'
import { walletSender, walletSigner } from '../session/sender.ts'
import { readDelegate, renewAgents } from './agentsFeed.ts'
import { isSame } from './agentStatus.ts'

/** Name of the action that authorises, for `isBusy` and `problemOfAction`. */
export const AUTHORISE = 'agent-authorise'

/** Returns the name of the action that delegates to an agent. */
export const delegateAction = (agent: string): string => `agent-delegate-${agent}`

/** Returns the name of the action that revokes an agent. */
export const revokeAction = (agent: string): string => `agent-revoke-${agent}`

/** Name of the action that ends the delegation. */
export const UNDELEGATE = 'agent-undelegate'

/** An agent to authorise: with its key, which signs too, or by its address alone. */
export interface AgentRequest {
  readonly agent: Signer | Pick<Signer, 'address'>
  readonly name: string
  readonly scope: AgentScope
}

/** Registers an agent, or changes its name and limits: one signature of the wallet. */
export function authoriseAgent(request: AgentRequest): Promise<AgentAnswer | undefined> {
  return runAction(
    AUTHORISE,
    async (client) => {
      const answer = await client.agents.authorize({ trader: walletSigner(), ...request })
      await renewAgents().catch(() => undefined)
      return answer
    },
    { needs: 'wallet', done: 'Agent authorised' },
  )
}

/** Sends the delegation of an agent and waits until the service sees it. Returns true when it is the delegate. */
export async function delegateTo(agent: `0x${string}`): Promise<boolean> {
  const done = await runAction(
    delegateAction(agent),
    async (client) => {
      await client.agents.delegate({ sender: walletSender(), agent, pollMs: 500 })
      await renewAgents().catch(() => undefined)
      return true
    },
    { needs: 'wallet', done: 'The agent is your delegate now' },
  )
  return done === true
}

/** Outcome of a revocation. */
export interface Revocation {
  /** Transactions that the relayer had sent for the agent, and could not take back. */
  readonly mayStillBeMined: RevokedAgent['mayStillBeMined']
  /** The transaction that ends the delegation on the chain; null when there is nothing to send. */
  readonly due: TransactionRequest | null
}

/** Revokes an agent at the service, at once: one signature. The chain is asked whether a transaction is due too. */
export function revokeAgent(agent: `0x${string}`): Promise<Revocation | undefined> {
  return runAction(
    revokeAction(agent),
    async (client) => {
      const { revocationTx, mayStillBeMined } = await client.agents.revoke({ trader: walletSigner(), agent })
      const delegate = await readDelegate()
      // The transaction ends the delegation of whoever is the delegate, which may be another agent by now.
      const isDelegate = revocationTx !== null && (delegate === undefined || isSame(agent, delegate))
      await renewAgents().catch(() => undefined)
      return { mayStillBeMined, due: isDelegate ? revocationTx : null }
    },
    { needs: 'wallet' },
  )
}

/** Ends the delegation on the chain: one transaction. Returns true once it was sent and mined. */
export async function endDelegation(transaction: TransactionRequest = removal()): Promise<boolean> {
  const done = await runAction(
    UNDELEGATE,
    async (client, guard) => {
      const sender = walletSender()
      const txHash = await client.agents.undelegate({ sender, revocationTx: transaction })
      await untilMined(() => sender.isReverted?.(txHash) ?? Promise.resolve(false), guard)
      await renewAgents().catch(() => undefined)
      return true
    },
    { needs: 'wallet', done: 'The delegation is ended' },
  )
  return done === true
}

const MINED_POLL_MS = 500

const MINED_TIMEOUT_MS = 90_000

async function untilMined(isReverted: () => Promise<boolean | undefined>, guard: () => void): Promise<void> {
  const deadlineMs = Date.now() + MINED_TIMEOUT_MS
  for (let outcome = await isReverted(); outcome !== false; outcome = await isReverted()) {
    guard()
    if (outcome === true) throw new DelegationNotEndedError('The chain refused the transaction. Send it again.')
    if (Date.now() > deadlineMs) {
      throw new DelegationNotEndedError('The transaction is sent but not mined yet. Look at it in your wallet.')
    }
    await new Promise((resolve) => setTimeout(resolve, MINED_POLL_MS))
  }
}

/** Returns the transaction that removes the delegate, whoever that is. The SDK checks it again before it is sent. */
function removal(): TransactionRequest {
  const chain = chainInfo.peek()
  if (chain === null) throw new DelegationNotEndedError('The settings of the chain are not loaded. Reload the page.')
  const data = encodeFunctionData({ abi: tradingInteractionsAbi, functionName: 'removeTradingDelegate' })
  return { to: chain.diamond, data, chainId: chain.chainId }
}

/** Thrown when the delegation may still be there. */
class DelegationNotEndedError extends Error {
  override readonly name = 'DelegationNotEndedError'
}
