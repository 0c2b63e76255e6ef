import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentScope, SigningDomain } from '@bezel/protocol'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { authorization, call, UNLIMITED_SCOPE, send, signedHeaders, type Answer } from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startFaultyProxy, type FaultyProxy } from '../outages/faultyProxy.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'

/** The chain with all functions, and one that the deployment only reads, whose node the test can take away. */
export const OPEN_CHAIN = 'arbitrum-sepolia'
export const READ_ONLY_CHAIN = 'base'

export const LIMITS = { ip: 1_500, agent: 80, 'agent-writes': 40 } as const
export const MAX_PREPARED_ORDERS = 2

/** A service in which every error can be provoked. */
export interface ErrorWorld {
  readonly devnet: RunningDevnet
  readonly chain: ChainClient
  readonly service: RunningService
  /** The node of the read-only chain. */
  readonly node: FaultyProxy
  trader(name: string): PrivateKeyAccount
  stranger(): PrivateKeyAccount
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  send(method: string, path: string, body: unknown): Promise<Answer>
  domain(chain?: string): Promise<SigningDomain>
  /** Registers an agent; the trader itself needs no delegation. */
  register(of: {
    readonly trader: PrivateKeyAccount
    readonly agent: PrivateKeyAccount
    readonly scope?: Partial<AgentScope>
    readonly chain?: string
  }): Promise<PrivateKeyAccount>
  /**
   * Sends a signed request; `path` starts after the chain. `overrides` replace the timestamp or the nonce before
   * signing.
   */
  signed(agent: PrivateKeyAccount, request: SignedRequest): Promise<Answer>
  stop(): Promise<void>
}

export interface SignedRequest {
  readonly operation: string
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly chain?: string
  readonly overrides?: { readonly timestamp?: string; readonly nonce?: string }
  /** The client's IP address, as a proxy in front would report it. */
  readonly ip?: string
}

export async function startErrorWorld(): Promise<ErrorWorld> {
  const devnet = await startDevnet({
    DEVNET_CHAINS: `${OPEN_CHAIN},${READ_ONLY_CHAIN}`,
    // Nothing is traded, so nobody waits for a block.
    DEVNET_BLOCK_MS: '500',
  })
  const chain = createChainClient(devnet.file, OPEN_CHAIN)
  const { [OPEN_CHAIN]: open, [READ_ONLY_CHAIN]: readOnly } = devnet.file.chains
  const node = await startFaultyProxy(readOnly!.rpcUrl)
  const chains = { [OPEN_CHAIN]: open, [READ_ONLY_CHAIN]: { ...readOnly, rpcUrl: node.url, writes: false } }
  const chainsFile = join(devnet.folder, 'errors.json')
  writeFileSync(chainsFile, JSON.stringify({ chains, feedUrl: devnet.file.feedUrl }))
  const service = await startService(devnet, {
    LOG_LEVEL: 'silent',
    BEZEL_CHAINS_FILE: chainsFile,
    BEZEL_TRUSTED_PROXIES: '1',
    BEZEL_IP_LIMIT: String(LIMITS.ip),
    BEZEL_AGENT_LIMIT: String(LIMITS.agent),
    BEZEL_AGENT_WRITE_LIMIT: String(LIMITS['agent-writes']),
    BEZEL_MAX_PREPARED_ORDERS: String(MAX_PREPARED_ORDERS),
    BEZEL_MARKETS_REFRESH_MS: '1000',
    BEZEL_MARKET_STATUS_MS: '250',
    BEZEL_ACCOUNT_REFRESH_MS: '200',
  })
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  const { url } = service
  const stranger = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())
  const domains = new Map<string, SigningDomain>()
  const domain = async (slug: string = OPEN_CHAIN): Promise<SigningDomain> => {
    const known = domains.get(slug) ?? ((await call(url, `/v1/${slug}`)).body.signing.domain as SigningDomain)
    domains.set(slug, known)
    return known
  }

  return {
    devnet,
    chain,
    service,
    node,
    stranger,
    domain,
    trader: (name) => chain.account(name),
    get: (path, headers = {}) => call(url, path, { headers }),
    send: (method, path, body) => send(url, method, path, body),
    async register({ trader, agent, scope, chain: slug = OPEN_CHAIN }) {
      const body = await authorization(await domain(slug), trader, agent, { scope: { ...UNLIMITED_SCOPE, ...scope } })
      const { status, body: answer } = await send(url, 'POST', `/v1/${slug}/agents`, body)
      if (status !== 201) throw new Error(JSON.stringify(answer))
      return agent
    },
    async signed(agent, request) {
      for (;;) {
        const answer = await signedCall(url, await domain(request.chain), agent, request)
        const isBehind = request.chain === undefined && answer.body.code === 'NOT_READY'
        if (!isBehind) return answer
        // On a busy machine the service can fall behind the chain for a moment, and says when to ask again.
        await sleep(1_000 * Number(answer.headers.get('retry-after')))
      }
    },
    async stop() {
      await service.stop()
      await node.close()
      await devnet.stop()
    },
  }
}

async function signedCall(
  url: string,
  domain: SigningDomain,
  agent: PrivateKeyAccount,
  { operation, method = 'GET', path, body, chain = OPEN_CHAIN, overrides = {}, ip }: SignedRequest,
): Promise<Answer> {
  const full = `/v1/${chain}${path}`
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const signature = await signedHeaders(domain, agent, { operation, method, path: full, ...text }, overrides)
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const from = ip === undefined ? {} : { 'x-forwarded-for': ip }
  return call(url, full, { method, headers: { ...signature, ...type, ...from }, ...text })
}
