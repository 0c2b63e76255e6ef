import type { AgentMode, AgentScope, AgentStatus, TransactionRequest } from '@bezel/protocol/wire'
import { BroadcastError } from '../errors/broadcastError.ts'
import { DelegationTimeoutError } from '../errors/delegationTimeoutError.ts'
import { WrongChainError } from '../errors/wrongChainError.ts'
import type { Transport } from '../http/createTransport.ts'
import type { TransactionSender } from '../senders/transactionSender.ts'
import { agentAuthorizationTypedData } from '../signing/agentAuthorizationTypedData.ts'
import { agentRevocationTypedData } from '../signing/agentRevocationTypedData.ts'
import { apiKeyIssueTypedData } from '../signing/apiKeyIssueTypedData.ts'
import { nextTimestamp } from '../signing/nextTimestamp.ts'
import { signTypedData, type Signer, type SigningDomain } from '../signing/signer.ts'
import { verifyDelegation } from './verifyDelegation.ts'

/** An agent as the service knows it. */
export interface Agent {
  readonly agent: `0x${string}`
  readonly trader: `0x${string}`
  readonly name: string
  readonly scope: AgentScope
  readonly mode: AgentMode
  readonly status: AgentStatus
  readonly createdAt: number
}

/** `delegationTx` is for the trader to send; null when the agent is the trader. */
export interface AgentAnswer {
  readonly agent: Agent
  readonly delegationTx: TransactionRequest | null
}

export interface AuthorizeOptions {
  /** The wallet with the money. */
  readonly trader: Signer
  /** The client's own agent unless named. It signs too, which proves that its key is yours. */
  readonly agent?: Signer
  /** At most 32 characters. */
  readonly name?: string
  /** What is not named is not limited. */
  readonly scope?: Partial<AgentScope>
}

export interface DelegateOptions {
  /** The trader's, not the agent's. */
  readonly sender: TransactionSender
  /** The client's own agent unless named. */
  readonly agent?: `0x${string}`
  /** How long to wait until the service sees it, 90 s. 0 does not wait. */
  readonly timeoutMs?: number
  readonly pollMs?: number
}

/** What a trader lets agents do, and read-only keys. */
export interface Agents {
  /** Registers an agent, or replaces its name and scope. Signed by the trader and by the agent. */
  authorize(options: AuthorizeOptions): Promise<AgentAnswer>
  /** The client's own agent unless an address is given. */
  get(address?: `0x${string}`): Promise<AgentAnswer>
  /** Makes the agent the trader's delegate on the chain, once, and waits until the service sees it. Null when that was so already. */
  delegate(options: DelegateOptions): Promise<`0x${string}` | null>
  /** Ends an agent here, at once. Send `revocationTx` (`undelegate`) to end it on the chain too. */
  revoke(options: {
    readonly trader: Signer
    readonly agent?: `0x${string}`
  }): Promise<{ readonly revocationTx: TransactionRequest | null }>
  /** Sends a checked `revocationTx`. */
  undelegate(options: {
    readonly sender: TransactionSender
    readonly revocationTx: TransactionRequest
  }): Promise<`0x${string}`>
  /** A read-only key, shown once. Issuing again under the same label replaces it. */
  issueApiKey(options: { readonly trader: Signer; readonly label: string }): Promise<IssuedApiKey>
}

export interface IssuedApiKey {
  readonly apiKey: string
  readonly label: string
  readonly trader: `0x${string}`
}

/** Everything, without limits. */
export const FULL_SCOPE: AgentScope = {
  markets: 'all',
  maxLeverage: null,
  dailySpendCapUsd: null,
  expiresAt: null,
  permissions: 'trade',
}

const DEFAULT_TIMEOUT_MS = 90_000
const DEFAULT_POLL_MS = 1_000

export interface AgentsContext {
  readonly domain: () => Promise<SigningDomain>
  /** Throws when the client has none. */
  readonly ownAgent: () => Signer
  readonly now: () => number
}

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
      const scope = { ...FULL_SCOPE, ...wanted }
      const timestamp = nextTimestamp(trader.address, now())
      const struct = agentAuthorizationTypedData(await domain(), { agent: agent.address, name, scope, timestamp })
      const signature = await signTypedData(trader, struct)
      const agentSignature = await signTypedData(agent, struct)
      const body = { trader: trader.address, agent: agent.address, name, scope, timestamp, signature, agentSignature }
      return signed('createAgent', 'POST', '/agents', body)
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
      const { chainId, verifyingContract } = await domain()
      verifyDelegation(revocationTx, { delegate: null, diamond: verifyingContract, chainId })
      return sendFrom(sender, revocationTx)
    },
    async issueApiKey({ trader, label }) {
      const timestamp = nextTimestamp(trader.address, now())
      const signature = await signTypedData(trader, apiKeyIssueTypedData(await domain(), { label, timestamp }))
      return signed('issueApiKey', 'POST', '/api-keys', { trader: trader.address, label, timestamp, signature })
    },
  }
  return agents
}

async function sendFrom(sender: TransactionSender, { to, data, chainId }: TransactionRequest): Promise<`0x${string}`> {
  const found = (await sender.chainId?.()) ?? chainId
  if (found !== chainId) throw new WrongChainError({ who: 'The sender', expected: chainId, found })
  try {
    return await sender.sendTransaction({ to: to as `0x${string}`, data: data as `0x${string}`, value: 0n, chainId })
  } catch (error) {
    throw new BroadcastError(error)
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
