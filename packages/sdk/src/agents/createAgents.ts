import {
  type AgentAnswer,
  type AgentScope,
  type ApiKey,
  type IssuedApiKey,
  type RevokedAgent,
  type SigningDomain,
  type TransactionRequest,
  tradingInteractionsAbi,
} from '@bezel/protocol/wire'
import { BezelConfigError } from '../errors/bezelError.ts'
import { DelegationTimeoutError, UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import type { Transport } from '../http/createTransport.ts'
import { requireTraderSender, sendFrom } from '../senders/sendFrom.ts'
import type { TransactionSender } from '../senders/transactionSender.ts'
import {
  agentAuthorizationTypedData,
  signTypedData,
  type Signer,
  agentRevocationTypedData,
  apiKeyIssueTypedData,
} from '../signing/typedData.ts'
import { encodeFunctionData } from 'viem'
import { isSameAddress } from '../verify/decodeCalls.ts'

/** Options of `agents.authorize`. */
export interface AuthorizeOptions {
  /** The trader's wallet, which holds the money. */
  readonly trader: Signer
  /**
   * The agent to authorise. Default: the client's own. It signs too, which proves that its key is yours. An agent that
   * is given by its address alone does not sign, and is refused (`TRADER_MISMATCH`) when it serves another trader.
   */
  readonly agent?: Signer | Pick<Signer, 'address'>
  /** Name of the agent, at most 32 characters. */
  readonly name?: string
  /** Limits of the agent. A limit that is left out does not apply. */
  readonly scope?: Partial<AgentScope>
}

/** Options of `agents.delegate`. */
export interface DelegateOptions {
  /** Sender of the trader, not of the agent. */
  readonly sender: TransactionSender
  /** Address of the agent. Default: the client's own. */
  readonly agent?: `0x${string}`
  /** Time to wait until the service sees the delegation. Default 90,000 ms; 0 does not wait. */
  readonly timeoutMs?: number
  /** Pause between two looks at the agent's status. Default 1,000 ms. */
  readonly pollMs?: number
}

/** Authorisation of agents by a trader, and read-only keys. */
export interface Agents {
  /**
   * Registers an agent, or replaces its name and scope. The trader and, where its key is here, the agent sign. Throws
   * `WRONG_SENDER` for another wallet than that of the client's trader: the agent would leave the trader that it
   * serves. A client of its own can do that.
   */
  authorize(options: AuthorizeOptions): Promise<AgentAnswer>
  /** Reads an agent. Default: the client's own. */
  get(address?: `0x${string}`): Promise<AgentAnswer>
  /**
   * Makes the agent the trader's delegate on the chain and waits until the service sees it. Returns the transaction
   * hash, or null when it was the delegate already. Throws `WRONG_SENDER` when the sender is not the agent's trader,
   * and `AGENT_NOT_FOUND` for an agent that `authorize` has not registered.
   */
  delegate(options: DelegateOptions): Promise<`0x${string}` | null>
  /**
   * Revokes an agent at the service, at once. Send `revocationTx` with `undelegate` to end it on the chain too.
   * `mayStillBeMined` names what the service's relayer had sent for the agent and could not take back.
   */
  revoke(options: { readonly trader: Signer; readonly agent?: `0x${string}` }): Promise<RevokedAgent>
  /**
   * Checks `revocationTx`, sends it and returns its hash. Throws `WRONG_SENDER` when the sender is not the client's
   * trader.
   */
  undelegate(options: {
    readonly sender: TransactionSender
    readonly revocationTx: TransactionRequest
  }): Promise<`0x${string}`>
  /** Issues a read-only key, which is shown once. Issuing again under the same label replaces the key. */
  issueApiKey(options: { readonly trader: Signer; readonly label: string }): Promise<IssuedApiKey>
  /** Lists the trader's read-only keys. Signed by the trader's wallet if it is given, else by the client's agent. */
  listApiKeys(options?: { readonly trader?: Signer }): Promise<readonly ApiKey[]>
  /** Ends a read-only key at once. Only the trader's wallet can. */
  revokeApiKey(options: { readonly trader: Signer; readonly label: string }): Promise<void>
}

/** The scope without any limit. */
export const FULL_SCOPE: AgentScope = {
  markets: 'all',
  maxLeverage: null,
  dailySpendCapUsd: null,
  expiresAt: null,
  permissions: 'trade',
}

interface AgentsContext {
  readonly domain: () => Promise<SigningDomain>
  /** Returns the client's agent. Throws when the client has none. */
  readonly ownAgent: () => Signer
  /** Returns the client's trader; `undefined` while that is not known. */
  readonly trader: () => string | undefined
  /** Told the trader who authorised an agent. */
  readonly onAuthorized: (agent: `0x${string}`, trader: `0x${string}`) => void
  readonly now: () => number
}

const DEFAULT_TIMEOUT_MS = 90_000

const DEFAULT_POLL_MS = 1_000

/**
 * The last timestamp of each signer. A trader's structs carry no nonce, so each needs a later timestamp than the one
 * before.
 */
const lastTimestamps = new Map<string, number>()

/** Creates the agents part of a client. */
export function createAgents(transport: Transport, root: string, context: AgentsContext): Agents {
  const { domain, ownAgent, now } = context
  const signed = <Answer>(
    operationId: string,
    method: 'POST' | 'DELETE',
    path: string,
    body: unknown,
  ): Promise<Answer> => transport.call({ operationId, method, path: root + path, body, auth: 'none', retry: 'never' })

  const agents: Agents = {
    async authorize({ trader, agent = ownAgent(), name = '', scope: wanted }) {
      requireOwnTrader(trader, context.trader())
      const scope = { ...FULL_SCOPE, ...wanted }
      const timestamp = nextTimestamp(trader.address, now())
      const struct = agentAuthorizationTypedData(await domain(), { agent: agent.address, name, scope, timestamp })
      const signature = await signTypedData(trader, struct)
      // The trader as its own agent has signed already, and a wallet should ask only once.
      const isOwn = isSameAddress(agent.address, trader.address)
      const agentSignature = !isOwn && canSign(agent) ? await signTypedData(agent, struct) : undefined
      const body = { trader: trader.address, agent: agent.address, name, scope, timestamp, signature, agentSignature }
      const answer = await signed<AgentAnswer>('createAgent', 'POST', '/agents', body)
      context.onAuthorized(agent.address, trader.address)
      return answer
    },
    get: (address = ownAgent().address) =>
      transport.call({
        operationId: 'getAgent',
        method: 'GET',
        path: `${root}/agents/${address}`,
        auth: 'none',
        retry: 'read',
      }),
    async delegate({ sender, agent = ownAgent().address, timeoutMs = DEFAULT_TIMEOUT_MS, pollMs = DEFAULT_POLL_MS }) {
      const { agent: record, delegationTx } = await agents.get(agent)
      requireTraderSender(sender, record.trader)
      if (record.status !== 'pending_delegation' || delegationTx === null) return null
      const { chainId, verifyingContract } = await domain()
      verifyDelegation(delegationTx, { delegate: agent, diamond: verifyingContract, chainId })
      const txHash = await sendFrom(sender, delegationTx)
      if (timeoutMs > 0) await untilDelegated(agents, agent, { timeoutMs, pollMs, txHash })
      return txHash
    },
    async revoke({ trader, agent = ownAgent().address }) {
      const timestamp = nextTimestamp(trader.address, now())
      const signature = await signTypedData(trader, agentRevocationTypedData(await domain(), { agent, timestamp }))
      return signed('revokeAgent', 'DELETE', `/agents/${agent}`, { trader: trader.address, timestamp, signature })
    },
    async undelegate({ sender, revocationTx }) {
      const trader = context.trader()
      if (trader !== undefined) requireTraderSender(sender, trader)
      const { chainId, verifyingContract } = await domain()
      verifyDelegation(revocationTx, { delegate: null, diamond: verifyingContract, chainId })
      return sendFrom(sender, revocationTx)
    },
    ...createApiKeys(transport, root, context),
  }
  return agents
}

/** Throws `WRONG_SENDER` when the wallet is not that of the trader whom the client acts for. */
function requireOwnTrader({ address }: Signer, trader: string | undefined): void {
  if (trader === undefined || isSameAddress(address, trader)) return
  const message = `The wallet is ${address}, but this client acts for ${trader}, whom the agent would leave. Give it the trader's wallet, or make another client.`
  throw new BezelConfigError('WRONG_SENDER', message)
}

function canSign(agent: Signer | Pick<Signer, 'address'>): agent is Signer {
  return 'signTypedData' in agent
}

/** Creates the part for read-only keys. */
function createApiKeys(
  transport: Transport,
  root: string,
  { domain, now }: AgentsContext,
): Pick<Agents, 'issueApiKey' | 'listApiKeys' | 'revokeApiKey'> {
  return {
    async issueApiKey({ trader, label }) {
      const timestamp = nextTimestamp(trader.address, now())
      const signature = await signTypedData(trader, apiKeyIssueTypedData(await domain(), { label, timestamp }))
      return transport.call({
        operationId: 'issueApiKey',
        method: 'POST',
        path: `${root}/api-keys`,
        body: { trader: trader.address, label, timestamp, signature },
        auth: 'none',
        retry: 'never',
      })
    },
    async listApiKeys({ trader } = {}) {
      const { data } = await transport.call<{ readonly data: readonly ApiKey[] }>({
        operationId: 'listApiKeys',
        method: 'GET',
        path: `${root}/api-keys`,
        auth: trader === undefined ? 'agent' : { wallet: trader },
        retry: 'read',
      })
      return data
    },
    async revokeApiKey({ trader, label }) {
      await transport.call({
        operationId: 'revokeApiKey',
        method: 'DELETE',
        path: `${root}/api-keys/${encodeURIComponent(label)}`,
        auth: { wallet: trader },
        retry: 'answered',
      })
    },
  }
}

async function untilDelegated(
  agents: Agents,
  agent: `0x${string}`,
  { timeoutMs, pollMs, txHash }: { timeoutMs: number; pollMs: number; txHash: `0x${string}` },
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs
  while ((await agents.get(agent)).agent.status === 'pending_delegation') {
    if (performance.now() >= deadlineMs) throw new DelegationTimeoutError(agent, txHash, timeoutMs)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

/**
 * Returns the timestamp of a signer's next struct: epoch milliseconds, strictly increasing per signer in this process.
 */
export function nextTimestamp(signer: string, nowMs: number): number {
  const key = signer.toLowerCase()
  const timestamp = Math.max(nowMs, (lastTimestamps.get(key) ?? 0) + 1)
  lastTimestamps.set(key, timestamp)
  return timestamp
}

/** The delegation that a transaction must make. A null `delegate` removes the delegate. */
export interface Delegation {
  /** Address that may trade; null to end the delegation. */
  readonly delegate: `0x${string}` | null
  /** Address of the Diamond. */
  readonly diamond: string
  /** Id of the chain. */
  readonly chainId: number
}

/**
 * Throws unless the transaction makes exactly this delegation. The trader's own wallet signs it, so every byte must
 * match.
 */
export function verifyDelegation(transaction: TransactionRequest, { delegate, diamond, chainId }: Delegation): void {
  const { to, data } = transaction
  if (!isSameAddress(to, diamond)) throw new UnverifiedTransactionError('to', diamond, to)
  if (transaction.chainId !== chainId) {
    throw new UnverifiedTransactionError('chainId', String(chainId), String(transaction.chainId))
  }
  const expected =
    delegate === null
      ? encodeFunctionData({ abi: tradingInteractionsAbi, functionName: 'removeTradingDelegate' })
      : encodeFunctionData({ abi: tradingInteractionsAbi, functionName: 'setTradingDelegate', args: [delegate] })
  if (data.toLowerCase() !== expected.toLowerCase()) throw new UnverifiedTransactionError('data', expected, data)
}
