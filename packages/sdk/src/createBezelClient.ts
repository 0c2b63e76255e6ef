import { CHAIN_SLUGS, type ChainSlug } from '@bezel/protocol/wire'
import { createAccount, type AccountReads } from './account/createAccount.ts'
import { createAgents, type Agents } from './agents/createAgents.ts'
import { BezelConfigError } from './errors/bezelConfigError.ts'
import type { ChainInfo } from './http/chainInfo.ts'
import { createHeaders } from './http/createHeaders.ts'
import { createSigning } from './http/createSigning.ts'
import { createTransport, type Transport } from './http/createTransport.ts'
import { createMarkets, type Markets } from './markets/createMarkets.ts'
import { createOrders, type Orders } from './orders/createOrders.ts'
import { gatherContext, noAgent, type VerifyOptions, type WriteContext } from './orders/executeWrite.ts'
import { createPositions, type Positions } from './positions/createPositions.ts'
import { createBroadcaster } from './senders/createBroadcaster.ts'
import type { TransactionSender } from './senders/transactionSender.ts'
import { authMessage, streamPath, type AuthMessage } from './signing/authMessage.ts'
import type { Signer, SigningDomain } from './signing/signer.ts'
import { createClientStream, type ClientStream } from './stream/clientStream.ts'
import { createFacts } from './verify/createFacts.ts'
import { readerOf } from './verify/readDiamond.ts'
import type { VerifyContext } from './verify/verifyContext.ts'
import { verifyPrepared, type PreparedWrite } from './verify/verifyPrepared.ts'
import type { WriteRequest } from './verify/writeRequest.ts'

export interface BezelClientOptions {
  /** Of the service, for instance `http://127.0.0.1:8080`. */
  readonly baseUrl: string
  readonly chain: ChainSlug
  /** Signs requests. viem's local accounts fit as they are. */
  readonly agent?: Signer
  /** For reads without an agent; also preferred for reads beside one, since it costs no signature. */
  readonly apiKey?: string
  /** Broadcasts what is prepared: the agent's own wallet. */
  readonly sender?: TransactionSender
  /** Whose account it is. Without it the service is asked once for the agent's trader; name it, and a wrong answer is found out. */
  readonly trader?: `0x${string}`
  /** The deployment that you mean. Without it the service's own word is taken at first and remembered. */
  readonly signing?: SigningDomain
  /** `X-Service-`. */
  readonly headerPrefix?: string
  readonly fetch?: typeof globalThis.fetch
  /** Of one try, 30 s. */
  readonly timeoutMs?: number
  /** Of what is safe to repeat, 2. */
  readonly maxRetries?: number
  /** Epoch milliseconds; for tests and for machines that know their clock to be wrong. */
  readonly now?: () => number
}

/** One chain of one service, used by one agent, one key, or nobody in particular. */
export interface BezelClient extends ClientStream {
  readonly chain: ChainSlug
  readonly baseUrl: string
  readonly agentAddress: `0x${string}` | undefined
  readonly markets: Markets
  readonly account: AccountReads
  readonly orders: Orders
  readonly positions: Positions
  readonly agents: Agents
  /** What the service says about the chain. */
  info(): Promise<ChainInfo>
  /** What signatures are bound to: pinned, or remembered from the first look. */
  signingDomain(): Promise<SigningDomain>
  /** Whose account this is. */
  trader(): Promise<`0x${string}`>
  /** Checks something prepared, as `create` and its like do before they sign. Throws `UnverifiedTransactionError`. */
  verify(request: WriteRequest, prepared: PreparedWrite, options?: VerifyOptions): Promise<VerifyContext>
  /** Where the stream of this chain is. */
  readonly streamUrl: string
  /** The `auth` message of the stream, with a fresh timestamp and nonce each time, or with the key. */
  streamAuth(): Promise<AuthMessage>
}

const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_MAX_RETRIES = 2

/** A client of one chain. Nothing is sent before the first call. */
export function createBezelClient(options: BezelClientOptions): BezelClient {
  const { chain, agent, apiKey, sender, now = Date.now } = options
  const baseUrl = requireBaseUrl(options.baseUrl)
  if (!CHAIN_SLUGS.includes(chain)) {
    throw new BezelConfigError(
      'UNKNOWN_CHAIN',
      `There is no chain ${String(chain)}; the chains are ${CHAIN_SLUGS.join(', ')}.`,
    )
  }
  const root = `/v1/${chain}`
  const transport = transportOf({ ...options, baseUrl, now }, () => signing.domain())
  const info = (): Promise<ChainInfo> =>
    transport.call({ operationId: 'getChainInfo', method: 'GET', path: root, auth: 'none', retry: 'read' })
  const signing = createSigning(chain, options.signing, info)
  const ownAgent = (): Signer => agent ?? fail(noAgent())
  const agents = createAgents(transport, root, { domain: signing.domain, ownAgent, now })
  const trader = traderOf(options, agents)
  const markets = createMarkets(transport, root)
  const account = createAccount(transport, root, trader)
  const facts = createFacts({
    read: readerOf(sender),
    diamond: async () => (await signing.domain()).verifyingContract,
    getMarket: markets.get,
    getPrices: markets.prices,
    now,
  })
  const context: WriteContext = {
    facts,
    broadcaster: createBroadcaster(sender, now),
    agentAddress: () => ownAgent().address,
    traderOf: trader,
    domain: signing.domain,
    positions: account.positions,
  }
  const { execute, ...orders } = createOrders(transport, root, context)
  const streamUrl = baseUrl.replace(/^http/, 'ws') + streamPath(chain)
  async function streamAuth(): Promise<AuthMessage> {
    if (apiKey !== undefined && agent === undefined) return { op: 'auth', apiKey }
    return authMessage({ chain, agent: ownAgent(), domain: await signing.domain(), nowMs: now() })
  }
  const hasCredentials = agent !== undefined || apiKey !== undefined
  return {
    chain,
    baseUrl,
    agentAddress: agent?.address,
    markets,
    account,
    orders,
    positions: createPositions(transport, root, { context, list: account.positions, execute }),
    agents,
    info,
    signingDomain: signing.domain,
    trader,
    async verify(request, prepared, verifyOptions) {
      const gathered = await gatherContext(context, request, verifyOptions)
      verifyPrepared(request, prepared, gathered)
      return gathered
    },
    streamUrl,
    streamAuth,
    ...createClientStream({
      url: streamUrl,
      ...(hasCredentials ? { authenticate: streamAuth } : {}),
      check: info,
      checkMarket: markets.get,
      readPage: account.events,
    }),
  }
}

function transportOf(
  {
    baseUrl,
    fetch,
    timeoutMs,
    maxRetries,
    agent,
    apiKey,
    headerPrefix,
    now,
  }: BezelClientOptions & { readonly now: () => number },
  domain: () => Promise<SigningDomain>,
): Transport {
  return createTransport({
    baseUrl,
    // Bound anew at each call: a page may replace it, and in the browser it must be called as a method of the window.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxRetries: maxRetries ?? DEFAULT_MAX_RETRIES,
    now,
    headersOf: createHeaders({ agent, apiKey, headerPrefix, domain }),
  })
}

function traderOf({ trader, agent }: BezelClientOptions, agents: Agents): () => Promise<`0x${string}`> {
  let known: Promise<`0x${string}`> | undefined = trader === undefined ? undefined : Promise.resolve(trader)
  return () => {
    if (known !== undefined) return known
    if (agent === undefined) {
      return Promise.reject(
        new BezelConfigError('NO_TRADER', 'Whose account is meant? Give the client { trader }, or an agent.'),
      )
    }
    known = agents.get(agent.address).then(
      (answer) => answer.agent.trader,
      (error: unknown) => {
        known = undefined
        throw error
      },
    )
    return known
  }
}

function requireBaseUrl(text: string): string {
  const isUrl = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
  if (isUrl) return text.replace(/\/+$/, '')
  throw new BezelConfigError(
    'BAD_BASE_URL',
    `${JSON.stringify(text)} is no address of a service; it looks like https://host.`,
  )
}

function fail(error: Error): never {
  throw error
}
