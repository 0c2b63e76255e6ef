import { CHAIN_SLUGS, type ChainSlug, type SigningDomain } from '@bezel/protocol/wire'
import { approve, type ApproveOptions } from './account/approve.ts'
import { createAccount, type AccountReads } from './account/createAccount.ts'
import { createAgents, type Agents } from './agents/createAgents.ts'
import { BezelConfigError } from './errors/bezelError.ts'
import { type ChainInfo, createSigning } from './http/createSigning.ts'
import { createHeaders } from './http/createHeaders.ts'
import { createTransport, type Transport } from './http/createTransport.ts'
import { createMarkets, type Markets } from './markets/createMarkets.ts'
import { createOrders, type Orders } from './orders/createOrders.ts'
import { gatherContext, noAgent, type VerifyOptions, type WriteSetup } from './orders/executeWrite.ts'
import { createPositions, type Positions } from './positions/createPositions.ts'
import { createBroadcaster } from './orders/createBroadcaster.ts'
import type { TransactionSender } from './senders/transactionSender.ts'
import { authMessage, streamPath, type AuthMessage } from './signing/signRequest.ts'
import type { Signer } from './signing/typedData.ts'
import { createClientStream, type ClientStream } from './stream/clientStream.ts'
import { createFacts } from './verify/createFacts.ts'
import { readerOf } from './verify/readDiamond.ts'
import type { VerifyContext, WriteRequest } from './verify/verifyContext.ts'
import { verifyPrepared, type PreparedWrite } from './verify/verifyPrepared.ts'

/** Options of `createBezelClient`. */
export interface BezelClientOptions {
  /** Address of the service, for instance `http://127.0.0.1:8080`. */
  readonly baseUrl: string
  /** Chain to trade on, for instance `base`. */
  readonly chain: ChainSlug
  /** Signer of requests. viem's local accounts fit as they are. */
  readonly agent?: Signer
  /** Read-only key. Used for reads even when there is an agent, because it costs no signature. */
  readonly apiKey?: string
  /** Sender of the prepared transactions: the agent's own wallet. */
  readonly sender?: TransactionSender
  /**
   * Address of the trader. Every private call names it, so that credentials of another trader are refused
   * (`TRADER_MISMATCH`). Needed for private calls, unless `agents.authorize` of this client names the trader.
   */
  readonly trader?: `0x${string}`
  /**
   * Address of the Diamond that you trade on. Default: the live one of the chain. On a local chain it is in
   * `var/devnet.json`. A service that names another one is refused (`WrongDiamondError`).
   */
  readonly diamond?: `0x${string}`
  /** Signing domain of the deployment you trust. By default the first answer of the service is taken and remembered. */
  readonly signing?: SigningDomain
  /** Prefix of the authentication headers. Default `X-Service-`. */
  readonly headerPrefix?: string
  /** Function that sends HTTP requests. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Timeout of one attempt. Default 30,000 ms. */
  readonly timeoutMs?: number
  /** Number of retries of calls that are safe to repeat. Default 2. */
  readonly maxRetries?: number
  /** Clock in epoch milliseconds. Default `Date.now`; useful in tests and on machines whose clock is wrong. */
  readonly now?: () => number
}

/** A client of one chain of one service, with the rights of its agent or key. Without either it reads public data. */
export interface BezelClient extends ClientStream {
  readonly chain: ChainSlug
  readonly baseUrl: string
  /** Address of the client's agent, if it has one. */
  readonly agentAddress: `0x${string}` | undefined
  readonly markets: Markets
  readonly account: AccountReads & {
    /**
     * Lets the Diamond take up to an amount of a collateral from the trader's wallet, and waits until the chain shows
     * it. Returns the transaction hash. The token is read from the Diamond over the sender's own node.
     */
    approve(options: ApproveOptions): Promise<`0x${string}`>
  }
  readonly orders: Orders
  readonly positions: Positions
  readonly agents: Agents
  /** Reads what the service says about the chain. */
  info(): Promise<ChainInfo>
  /** Returns the domain that signatures are bound to: the pinned one, or the one the service named first. */
  signingDomain(): Promise<SigningDomain>
  /** Returns the address of the trader whose account this is. Throws `NO_TRADER` as long as it is not known. */
  trader(): Promise<`0x${string}`>
  /**
   * Checks a prepared transaction as `create` and the other writes do before they sign. Throws
   * `UnverifiedTransactionError`.
   */
  verify(request: WriteRequest, prepared: PreparedWrite, options?: VerifyOptions): Promise<VerifyContext>
  /** URL of the chain's stream. */
  readonly streamUrl: string
  /** Creates an `auth` message for the stream: signed with a fresh timestamp and nonce, or with the read-only key. */
  streamAuth(): Promise<AuthMessage>
}

const DEFAULT_TIMEOUT_MS = 30_000

const DEFAULT_MAX_RETRIES = 2

/** Creates a client of one chain. Nothing is sent before the first call. */
export function createBezelClient(options: BezelClientOptions): BezelClient {
  const { chain, agent, apiKey, sender, now = Date.now } = options
  const baseUrl = requireBaseUrl(options.baseUrl)
  requireChain(chain)
  const root = `/v1/${chain}`
  const transport = transportOf(
    { ...options, baseUrl, now },
    () => signing.domain(),
    () => trader.get(),
  )
  const info = (): Promise<ChainInfo> =>
    transport.call({ operationId: 'getChainInfo', method: 'GET', path: root, auth: 'none', retry: 'read' })
  const signing = createSigning(chain, { pinned: options.signing, diamond: options.diamond }, info)
  const ownAgent = (): Signer => agent ?? fail(noAgent())
  const trader = createTrader(options)
  const agents = createAgents(transport, root, {
    domain: signing.domain,
    ownAgent,
    onAuthorized: trader.learn,
    now,
  })
  const markets = createMarkets(transport, root)
  const account = createAccount(transport, root, async () => trader.get())
  const facts = createFacts({
    read: readerOf(sender),
    diamond: async () => (await signing.domain()).verifyingContract,
    getMarket: markets.get,
    getPrices: markets.prices,
    now,
  })
  const context: WriteSetup = {
    facts,
    broadcaster: createBroadcaster(sender, now),
    agentAddress: () => ownAgent().address,
    traderOf: async () => trader.get(),
    domain: signing.domain,
    positions: account.positions,
  }
  const { execute, ...orders } = createOrders(transport, root, context)
  const streamUrl = baseUrl.replace(/^http/, 'ws') + streamPath(chain)
  const streamAuth = (): Promise<AuthMessage> => streamAuthOf(options, signing.domain, trader.get)
  const hasCredentials = agent !== undefined || apiKey !== undefined
  return {
    chain,
    baseUrl,
    agentAddress: agent?.address,
    markets,
    account: { ...account, approve: async (of) => approve(of, await signing.domain()) },
    orders,
    positions: createPositions(transport, root, { context, account, execute }),
    agents,
    info,
    signingDomain: signing.domain,
    trader: async () => trader.get(),
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
  trader: () => string,
): Transport {
  return createTransport({
    baseUrl,
    // Looked up at each call, because a page may replace it, and called as a method of the window, as browsers require.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxRetries: maxRetries ?? DEFAULT_MAX_RETRIES,
    now,
    headersOf: createHeaders({ agent, apiKey, headerPrefix, domain, trader }),
  })
}

async function streamAuthOf(
  { chain, agent, apiKey, now = Date.now }: BezelClientOptions,
  domain: () => Promise<SigningDomain>,
  trader: () => `0x${string}`,
): Promise<AuthMessage> {
  if (agent !== undefined) return authMessage({ chain, agent, domain: await domain(), trader: trader(), nowMs: now() })
  if (apiKey === undefined) throw noAgent()
  return { op: 'auth', apiKey, trader: trader() }
}

/** The trader of a client: given, or the one who authorised its agent. The service is never asked for it. */
interface Trader {
  /** Returns the trader. Throws `NO_TRADER` when it is not known. */
  get(): `0x${string}`
  /** Takes the trader that authorised an agent, if that is the client's own and no trader was given. */
  learn(agent: `0x${string}`, trader: `0x${string}`): void
}

function createTrader({ trader: given, agent: own }: BezelClientOptions): Trader {
  let trader = given
  return {
    get() {
      if (trader !== undefined) return trader
      throw new BezelConfigError(
        'NO_TRADER',
        'Whose account is meant? Give the client { trader }: the address of the wallet that holds the money.',
      )
    },
    learn(agent, by) {
      if (agent === own?.address) trader ??= by
    },
  }
}

function requireChain(chain: ChainSlug): void {
  if (CHAIN_SLUGS.includes(chain)) return
  const message = `There is no chain ${String(chain)}; the chains are ${CHAIN_SLUGS.join(', ')}.`
  throw new BezelConfigError('UNKNOWN_CHAIN', message)
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
