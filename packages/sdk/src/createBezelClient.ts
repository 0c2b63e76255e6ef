import { CHAIN_SLUGS, type ChainInfo, type ChainSlug, type SigningDomain } from '@bezel/protocol/wire'
import { createApprovals, type Approvals } from './account/approve.ts'
import { createAccount, type AccountReads } from './account/createAccount.ts'
import { createAgents, type Agents } from './agents/createAgents.ts'
import { BezelConfigError } from './errors/bezelError.ts'
import { createSigning, type Signing } from './http/createSigning.ts'
import { createHeaders, DEFAULT_HEADER_PREFIX } from './http/createHeaders.ts'
import { createTransport, isHttpUrl, type Transport } from './http/createTransport.ts'
import { createMarkets, type Markets } from './markets/createMarkets.ts'
import { createNotifications, type Notifications } from './notifications/createNotifications.ts'
import type { Batches } from './orders/createBatches.ts'
import { createOrders, type Orders } from './orders/createOrders.ts'
import { gatherContext, noAgent, type VerifyOptions, type WriteSetup } from './orders/executeWrite.ts'
import { createPositions, type Positions } from './positions/createPositions.ts'
import { createPreview, type Preview } from './preview/createPreview.ts'
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
  /** Address of the service without the path of the interface, for instance `http://127.0.0.1:8080`. */
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
   * Address of the Diamond that you trade on. Default: the live one of the chain. For a local chain it is in
   * `var/devnet.json`, as `chains["arbitrum-sepolia"].diamond`. A service that names another one is refused
   * (`WrongDiamondError`).
   */
  readonly diamond?: `0x${string}`
  /** Signing domain of the deployment you trust. By default the first answer of the service is taken and remembered. */
  readonly signing?: SigningDomain
  /**
   * False when hashes of sent transactions are not reported to the service, which costs one more signature each: a
   * wallet that asks its owner for every signature asks less. The service finds the transactions on the chain by
   * itself. Until it has, a repeat under a `clientId` by another process would send again: look the order up first
   * (`orders.getByClientId`). Default true.
   */
  readonly reportHashes?: boolean
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
  /** Chain that the client trades on. */
  readonly chain: ChainSlug
  /** Address of the service. */
  readonly baseUrl: string
  /** Address of the client's agent, if it has one. */
  readonly agentAddress: `0x${string}` | undefined
  /** Reads of public market data. */
  readonly markets: Markets
  /** Reads of the trader's account, and its allowances. */
  readonly account: AccountReads & Approvals
  /** Orders of the trader. */
  readonly orders: Orders
  /** Open positions of the trader. */
  readonly positions: Positions
  /** Says what an order, a close or a change of a position would cost and do. */
  readonly preview: Preview
  /** Agents and read-only keys of the trader. */
  readonly agents: Agents
  /** Notifications to the trader's wallet. */
  readonly notifications: Notifications
  /** Prepares one page of `flatten` and sends nothing. `next` leads to the following page. */
  prepareFlatten: Batches['prepareFlatten']
  /**
   * Ends everything, or everything of a market: all orders as `orders.cancelAll`, then all positions as
   * `positions.closeAll`. Whatever can't be ended is left out and named.
   */
  flatten: Batches['flatten']
  /** Reads what the service says about the chain. */
  info(): Promise<ChainInfo>
  /** Reads the time of the service in epoch milliseconds, which timestamps of signed requests must be near. */
  time(): Promise<number>
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
  const core = createCore(options)
  const { chain, baseUrl, root, transport, signing, trader, info, ownAgent } = core
  const { agent, sender } = options
  const traderOf = async (): Promise<`0x${string}`> => trader.get()
  const markets = createMarkets(transport, root)
  const account = createAccount(transport, root, traderOf)
  const notifications = createNotifications(transport, trader.get)
  const context = createWriteSetup(options, core, { markets, account })
  const { execute, batches, ...orders } = createOrders(transport, root, context)
  return {
    chain,
    baseUrl,
    agentAddress: agent?.address,
    markets,
    account: {
      ...account,
      ...createApprovals({ domain: signing.domain, own: sender, ownAgent, trader: trader.known }),
    },
    orders,
    positions: createPositions(transport, root, { context, account, notifications, execute, batches }),
    preview: createPreview(transport, root, { traderOf: trader.get, ownAgent: agent?.address }),
    agents: createAgents(transport, root, {
      domain: signing.domain,
      ownAgent,
      trader: trader.known,
      onAuthorized: trader.learn,
      now: core.now,
    }),
    notifications,
    prepareFlatten: batches.prepareFlatten,
    flatten: batches.flatten,
    info,
    time: () => timeOf(transport),
    signingDomain: signing.domain,
    trader: traderOf,
    async verify(request, prepared, verifyOptions) {
      const gathered = await gatherContext(context, request, verifyOptions)
      verifyPrepared(request, prepared, gathered)
      return gathered
    },
    ...createLive(options, core, { checkMarket: markets.get, readPage: account.events }),
  }
}

/** The parts of a client that everything else is made of. */
interface ClientCore {
  readonly chain: ChainSlug
  readonly baseUrl: string
  /** Path of the chain. */
  readonly root: string
  readonly transport: Transport
  readonly signing: Signing
  readonly trader: Trader
  readonly info: () => Promise<ChainInfo>
  /** Returns the client's agent. Throws when it has none. */
  readonly ownAgent: () => Signer
  readonly now: () => number
}

function createCore(options: BezelClientOptions): ClientCore {
  const { chain, agent, now = Date.now } = options
  const baseUrl = requireBaseUrl(options.baseUrl)
  requireChain(chain)
  const root = `/v1/${chain}`
  const trader = createTrader(options)
  const transport = transportOf({ ...options, baseUrl, now }, () => signing.domain(), trader.get)
  const info = (): Promise<ChainInfo> =>
    transport.call({ operationId: 'getChainInfo', method: 'GET', path: root, auth: 'none', retry: 'read' })
  const signing = createSigning(chain, { pinned: options.signing, diamond: options.diamond }, info)
  const ownAgent = (): Signer => agent ?? fail(noAgent())
  return { chain, baseUrl, root, transport, signing, trader, info, ownAgent, now }
}

/** Creates what all writes of a client share. */
function createWriteSetup(
  { sender, reportHashes }: BezelClientOptions,
  { signing, trader, ownAgent, now }: ClientCore,
  { markets, account }: { readonly markets: Markets; readonly account: AccountReads },
): WriteSetup {
  const facts = createFacts({
    read: readerOf(sender),
    diamond: async () => (await signing.domain()).verifyingContract,
    getMarket: markets.get,
    getPrices: markets.prices,
    now,
  })
  return {
    facts,
    broadcaster: createBroadcaster(sender, now),
    reportHashes,
    agentAddress: () => ownAgent().address,
    traderOf: async () => trader.get(),
    domain: signing.domain,
    positions: account.positions,
  }
}

/** Creates the live part of a client. Without credentials it tells public data. */
function createLive(
  options: BezelClientOptions,
  { chain, baseUrl, signing, trader, info }: ClientCore,
  reads: { readonly checkMarket: Markets['get']; readonly readPage: AccountReads['events'] },
): Pick<BezelClient, 'streamUrl' | 'streamAuth' | keyof ClientStream> {
  const streamUrl = baseUrl.replace(/^http/, 'ws') + streamPath(chain)
  const streamAuth = (): Promise<AuthMessage> => streamAuthOf(options, signing.domain, trader.get)
  const hasCredentials = options.agent !== undefined || options.apiKey !== undefined
  const authentication = hasCredentials ? { authenticate: streamAuth } : {}
  return {
    streamUrl,
    streamAuth,
    ...createClientStream({ url: streamUrl, ...authentication, check: info, ...reads }),
  }
}

async function timeOf(transport: Transport): Promise<number> {
  const call = { operationId: 'getTime', method: 'GET', path: '/v1/time', auth: 'none', retry: 'read' } as const
  return (await transport.call<{ readonly timestamp: number }>(call)).timestamp
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
    headerPrefix: headerPrefix ?? DEFAULT_HEADER_PREFIX,
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
  /** Returns the trader; `undefined` when it is not known. */
  known(): `0x${string}` | undefined
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
    known: () => trader,
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
  if (!isHttpUrl(text)) {
    const message = `${JSON.stringify(text)} is no address of a service; it looks like https://host.`
    throw new BezelConfigError('BAD_BASE_URL', message)
  }
  const url = text.replace(/\/+$/, '')
  const root = url.replace(/(?<!\/)\/(?:v1|hl)(?:\/.*)?$/, '')
  if (root === url) return url
  const message = `${JSON.stringify(text)} has a path of the interface at its end, which the client adds by itself. Give it ${JSON.stringify(root)}.`
  throw new BezelConfigError('BAD_BASE_URL', message)
}

function fail(error: Error): never {
  throw error
}
