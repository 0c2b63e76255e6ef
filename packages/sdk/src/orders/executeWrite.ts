import { BaseSize, type Order, type Position } from '@bezel/protocol/wire'
import { BezelConfigError } from '../errors/bezelError.ts'
import { BroadcastError } from '../errors/broadcastError.ts'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import type { Broadcaster } from './createBroadcaster.ts'
import type { Facts } from '../verify/createFacts.ts'
import { requireChain } from '../senders/sendFrom.ts'
import { basePrice, expectCredibleMark, type Sized } from '../verify/expectAmount.ts'
import { reducible } from '../verify/expectClosing.ts'
import { scaled } from '../verify/scales.ts'
import type { VerifyContext, WriteRequest } from '../verify/verifyContext.ts'
import { verifyPrepared, type PreparedWrite } from '../verify/verifyPrepared.ts'

/** Facts for the check of a transaction that the caller knows better than the service. */
export interface VerifyOptions {
  /** Price that the market is expected to have. Default: the service's mark price. */
  readonly expectedPrice?: string
  /** USD price of the collateral token. Default: the chain's, or 1 for dollar tokens when the chain can't be read. */
  readonly collateralPriceUsd?: string
}

/** Everything that all writes of a client share. */
export interface WriteSetup {
  readonly facts: Facts
  readonly broadcaster: Broadcaster
  /** False when the hashes of sent transactions are not reported. Default true. */
  readonly reportHashes?: boolean | undefined
  readonly agentAddress: () => `0x${string}`
  readonly traderOf: () => Promise<`0x${string}`>
  readonly domain: () => Promise<{ readonly chainId: number; readonly verifyingContract: `0x${string}` }>
  readonly positions: () => Promise<readonly Position[]>
}

/** Gathers the facts that a prepared write is checked against. They are read while the service prepares. */
export async function gatherContext(
  { facts, agentAddress, traderOf, domain, positions }: WriteSetup,
  request: WriteRequest,
  options: VerifyOptions = {},
): Promise<VerifyContext> {
  const sender = agentAddress()
  const trader = await traderOf()
  const isReduction = request.operation === 'createOrder' && request.body.reduceOnly === true
  const looked = needsTrades(request) ? facts.onChain(trader) : undefined
  const listed = isReduction ? positions() : undefined
  const [{ chainId, verifyingContract }, market, held, onChain, expectedPrice] = await Promise.all([
    domain(),
    facts.market(marketOf(request), async () => ((await looked)?.trades ?? []).map(({ pairIndex }) => pairIndex)),
    listed,
    looked,
    options.expectedPrice ?? markOf(facts, request, listed),
  ])
  const opening = openingOf(request)
  if (opening !== undefined && options.expectedPrice === undefined) expectCredibleMark(opening, expectedPrice ?? '')
  const isServicesWord = options.expectedPrice === undefined && expectedPrice !== undefined
  const [collateral, chainPrice, impactP] = await Promise.all([
    facts.collateral(market.symbol, collateralOf(request, held), options.collateralPriceUsd),
    isServicesWord ? facts.chainPrice(market.pairIndex) : undefined,
    opening &&
      facts.impactP({
        trader,
        pairIndex: market.pairIndex,
        long: opening.side === 'long',
        size: scaled('size', opening.size, BaseSize),
        price: basePrice(opening, expectedPrice),
      }),
  ])
  return {
    diamond: verifyingContract,
    chainId,
    trader,
    sender,
    market,
    collateral,
    expectedPrice,
    chainPrice,
    impactP,
    positions: held,
    onChain,
  }
}

/** A write to carry out. */
interface Write<Prepared extends PreparedWrite> {
  readonly request: WriteRequest
  readonly prepare: () => Promise<Prepared>
  readonly options: VerifyOptions | undefined
  /** Takes back what was prepared and not sent. Without it, that lapses in time. */
  readonly withdraw?: (prepared: Prepared) => Promise<unknown>
}

/** A prepared write that was checked, and the facts that it was checked against. */
export interface ProvenWrite<Prepared extends PreparedWrite> {
  readonly prepared: Prepared
  readonly facts: VerifyContext
}

/** Prepares and verifies a write, and sends nothing. */
export async function proveWrite<Prepared extends PreparedWrite>(
  context: WriteSetup,
  { request, prepare, options, withdraw }: Write<Prepared>,
): Promise<ProvenWrite<Prepared>> {
  const sender = context.broadcaster.requireSender(context.agentAddress())
  const [answer, facts, chain] = await Promise.allSettled([
    prepare(),
    gatherContext(context, request, options),
    context.domain().then(({ chainId }) => requireChain(sender, chainId)),
  ])
  // A refusal of the service says more than a fact that could not be read meanwhile.
  if (answer.status === 'rejected') throw answer.reason
  const prepared = answer.value
  try {
    // On another chain every fact is another one too.
    if (chain.status === 'rejected') throw chain.reason
    if (facts.status === 'rejected') throw facts.reason
    verifyPrepared(request, prepared, facts.value)
    return { prepared, facts: facts.value }
  } catch (error) {
    if (isUnsent(error)) await withdraw?.(prepared).catch(() => undefined)
    throw error
  }
}

/** Sends a write that was verified. Returns null when nothing has to reach the chain. */
export async function sendProven<Prepared extends PreparedWrite>(
  context: WriteSetup,
  { request, withdraw }: Pick<Write<Prepared>, 'request' | 'withdraw'>,
  prepared: Prepared,
): Promise<`0x${string}` | null> {
  const { transaction, order } = prepared
  // The repeat of an order that is under way: its transaction was reported before.
  if (transaction === null || isReported(request, order)) return null
  try {
    return await context.broadcaster.broadcast(transaction, order?.id)
  } catch (error) {
    if (isUnsent(error)) await withdraw?.(prepared).catch(() => undefined)
    throw error
  }
}

/**
 * Prepares, verifies and sends a write. Nothing unverified is signed. `txHash` is null when nothing has to reach the
 * chain.
 */
export async function executeWrite<Prepared extends PreparedWrite>(
  context: WriteSetup,
  write: Write<Prepared>,
): Promise<{ readonly prepared: Prepared; readonly txHash: `0x${string}` | null }> {
  const { prepared } = await proveWrite(context, write)
  return { prepared, txHash: await sendProven(context, write, prepared) }
}

/**
 * Returns true for a failure after which nothing of what was prepared was or will be sent. A service that prepared
 * something else gets no further signature.
 */
function isUnsent(error: unknown): boolean {
  if (error instanceof BroadcastError) return error.reason !== 'unknown'
  return !(error instanceof UnverifiedTransactionError)
}

function isReported({ operation }: WriteRequest, order: Order | undefined): boolean {
  return operation === 'createOrder' && order !== undefined && order.txHash !== null
}

function marketOf(request: WriteRequest): string {
  switch (request.operation) {
    case 'createOrder':
      return request.body.market
    case 'updateOrder':
    case 'cancelOrder':
      return request.order.market
    case 'closePosition':
    case 'updatePosition':
    case 'cancelPositionUpdate':
      return request.position.market
  }
}

function collateralOf(request: WriteRequest, held: readonly Position[] | undefined): string | undefined {
  switch (request.operation) {
    case 'createOrder':
      // Without a collateral, a reduction uses that of the oldest position it can close.
      return request.body.collateral ?? reducible(held ?? [], request.body)[0]?.collateralSymbol
    case 'updateOrder':
    case 'cancelOrder':
      return request.order.collateral
    case 'closePosition':
    case 'updatePosition':
    case 'cancelPositionUpdate':
      return request.position.collateralSymbol
  }
}

/** Returns true when the request names a trade on the chain; a plain new order names none. */
function needsTrades(request: WriteRequest): boolean {
  return request.operation !== 'createOrder' || request.body.reduceOnly === true
}

/** Returns the terms of what a request opens; `undefined` when it opens nothing and places nothing anew. */
function openingOf(request: WriteRequest): Omit<Sized, 'leverage'> | undefined {
  if (request.operation === 'createOrder') return request.body.reduceOnly === true ? undefined : request.body
  if (request.operation !== 'updateOrder') return undefined
  const { order, body } = request
  if (body.size === undefined && body.price === undefined) return undefined
  const { size, price, slippage } = { ...order, ...body }
  return { side: order.side, type: order.type, size, price, slippage }
}

/**
 * Returns the market's price where a request needs one. A position was read with its mark a moment ago, and unlike the
 * prices of markets it is answered while the price feed is silent.
 */
async function markOf(
  facts: Facts,
  request: WriteRequest,
  listed: Promise<readonly Position[]> | undefined,
): Promise<string | undefined> {
  if (request.operation === 'closePosition') return request.position.markPrice
  if (openingOf(request) !== undefined) return facts.markPrice(marketOf(request))
  return request.operation === 'createOrder' ? reducible((await listed) ?? [], request.body)[0]?.markPrice : undefined
}

/** Creates the error for a write of a client that has no agent. */
export function noAgent(): BezelConfigError {
  return new BezelConfigError(
    'NO_AGENT',
    'This client has no agent: give it one ({ agent }), since only an agent can write.',
  )
}
