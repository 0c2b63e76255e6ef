import { isDeepStrictEqual } from 'node:util'
import { Price, type Address } from '@bezel/protocol'
import { testChain } from '@bezel/testkit/servedChain.ts'
import type { WitnessedChain } from '@bezel/testkit/tokenWitness.ts'
import { createPublicClient, custom, numberToHex, type Hex, type PublicClient } from 'viem'
import { tradingStops } from '../../../../../contracts/test/campaign/actions/hostile.ts'
import { encodeTrigger, limitTightens } from '../../../../../contracts/test/campaign/actions/surroundings.ts'
import type { Campaign } from '../../../../../contracts/test/campaign/campaign.ts'
import { encodeWrite } from '../../../../../contracts/test/campaign/codec.ts'
import { MARKETS } from '../../../../../contracts/test/campaign/market.ts'
import { createRandom } from '../../../../../contracts/test/campaign/random.ts'
import { noteRequests, prepareCampaign, takeRandomStep } from '../../../../../contracts/test/campaign/randomWalk.ts'
import { keyOf, readOpen } from '../../../../../contracts/test/campaign/snapshot.ts'
import { oracleRequestId, packAnswer } from '../../../../../contracts/test/world.ts'
import { KEEPER, ORACLES, TRADERS } from '../../../../devnet/src/deploy/accounts.ts'
import type { RpcClient, RpcOutcome } from '../../chain/rpcClient.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import { assembleMarkets } from '../../market/listing/assembleMarkets.ts'
import { readListing, type ChainListing } from '../../market/listing/readListing.ts'
import { readMoment, readState } from '../../market/listing/readState.ts'
import type { ChainMarkets } from '../../trading/market/chainMarkets.ts'

/**
 * The local Diamond in this process, without timers, an oracle or a keeper of its own: traders, oracles and a keeper
 * act at random, one after the other, so a seed replays everything.
 */
export interface WalkedChain {
  readonly served: ServedChain
  readonly client: RpcClient
  /** The same chain as the witnesses of the testkit read it. */
  readonly witness: WitnessedChain
  readonly read: Campaign['ground']['read']
  /** The first block after the set-up. */
  readonly firstBlock: number
  /** The last block that all histories have, which can't be replaced. */
  readonly lastCommonBlock: number
  /** Goes back to the common beginning of all histories, and takes all choices by this seed from then on. */
  restart(seed: number): Promise<void>
  /** Lets that many random things happen, each in a block of its own or more. */
  walk(steps: number): Promise<void>
  /**
   * Liquidates every position about which nothing is asked, just after its trader asked for its close or for more
   * leverage. Returns the number of these requests.
   */
  liquidateBeforeAnswers(): Promise<number>
  /** Replaces the last blocks: their transactions are lost, or mined again. */
  reorg(depth: number, mode: 'drop' | 'remine'): Promise<void>
  readMarkets(): Promise<ChainMarkets>
  /** Returns the price of each pair that is traded. */
  prices(): ReadonlyMap<number, Price>
  headNumber(): number
  stop(): Promise<void>
}

/** Number of steps with which all histories begin, so that each of them finds something to change. */
const COMMON_STEPS = 40

export async function createWalkedChain(): Promise<WalkedChain> {
  const campaign = await prepareCampaign(0)
  const { ground } = campaign
  const { chain, diamond } = ground
  const served = testChain('arbitrum-sepolia', { chainId: chain.chainId, diamond: diamond as Address })
  const client = clientOf(campaign)
  const firstBlock = ground.blockNumber() + 1
  await walk(campaign, COMMON_STEPS)
  const [begun, lastCommonBlock] = [copyOf(campaign), ground.blockNumber()]
  let saved = await chain.request<Hex>('evm_snapshot')
  const commonListing = await readTraded(client, served.diamond)
  const governed = createGovernedBlocks()
  // A limit that was tightened, and whose return was dropped with a block, stays as it is.
  let isListingOld = false

  async function readMarkets(): Promise<ChainMarkets> {
    const moment = await readMoment(client)
    const at = { client, diamond: served.diamond, block: numberToHex(moment.blockNumber) }
    const listing = isListingOld ? await readTraded(client, served.diamond) : commonListing
    const references = new Map(listing.pairs.map(({ pairIndex }) => [pairIndex, Price.of(100n * Price.one)]))
    // The view that has all pairs has those that nobody trades here, too, and is slow.
    const traded = listing.pairs.map(({ pairIndex }) => pairIndex)
    return assembleMarkets(listing, await readState(at, listing, moment, traded), references, moment)
  }

  return {
    served,
    client,
    witness: {
      client: publicClientOf(campaign),
      diamond,
      collateral: (symbol) => ground.collaterals.find((token) => token.symbol === symbol)!,
    },
    read: ground.read,
    firstBlock,
    lastCommonBlock,
    async restart(seed) {
      if (!(await chain.request<boolean>('evm_revert', [saved]))) throw new Error('the chain can not go back')
      saved = await chain.request<Hex>('evm_snapshot')
      Object.assign(campaign, copyOf(begun), { random: createRandom(seed) })
      governed.forget()
      isListingOld = false
    },
    walk: (steps) => walk(campaign, steps, governed),
    liquidateBeforeAnswers: () => liquidateBeforeAnswers(campaign),
    async reorg(depth, mode) {
      if (governed.isTouched(ground.blockNumber() - depth, mode)) isListingOld = true
      await chain.reorg(depth, mode)
      await look(campaign)
      forgetOtherRequests(campaign)
    },
    readMarkets,
    prices: () => new Map([...campaign.prices].map(([pairIndex, price]) => [pairIndex, Price.of(price)])),
    headNumber: () => ground.blockNumber(),
    stop: () => ground.stop(),
  }
}

/** The part of a campaign that its steps change, besides the chain. */
type Progress = Pick<Campaign, 'snapshot' | 'prices' | 'delegates' | 'attempts' | 'requests'>

function copyOf({ snapshot, prices, delegates, attempts, requests }: Progress): Progress {
  return {
    snapshot,
    prices: new Map(prices),
    delegates: new Map(delegates),
    attempts: new Map(attempts),
    requests: structuredClone(requests),
  }
}

async function walk(campaign: Campaign, steps: number, governed?: GovernedBlocks): Promise<void> {
  for (let i = 0; i < steps; i += 1) {
    const from = campaign.ground.blockNumber()
    let isGoverned = false
    const step = await takeRandomStep(campaign, (name) => (isGoverned ||= GOVERNED.has(name)))
    if (isGoverned) governed?.note(from, campaign.ground.blockNumber())
    noteRequests(campaign, step)
    await look(campaign)
  }
}

/** Actions in which governance changes a setting and puts it back. */
const GOVERNED: ReadonlySet<string> = new Set([limitTightens.name, tradingStops.name])

/** The blocks in which governance changed settings for a moment, and after which they are as before. */
interface GovernedBlocks {
  note(before: number, last: number): void
  /**
   * True when settings may stay changed after all blocks after this one are replaced: it lies between a change and its
   * return, or both are mined again, in blocks of other numbers, which the next reorganisation may part.
   */
  isTouched(block: number, mode: 'drop' | 'remine'): boolean
  forget(): void
}

function createGovernedBlocks(): GovernedBlocks {
  let moments: { readonly before: number; readonly last: number }[] = []
  return {
    note: (before, last) => void moments.push({ before, last }),
    isTouched: (block, mode) =>
      moments.some(({ before, last }) => block < last && (mode === 'remine' || before < block)),
    forget() {
      moments = []
    },
  }
}

async function liquidateBeforeAnswers(campaign: Campaign): Promise<number> {
  const { ground, snapshot } = campaign
  const asked = new Set(snapshot.orders.map(({ trade }) => keyOf(trade)))
  let requests = 0
  for (const trade of snapshot.trades.filter((open) => open.tradeType === 0 && !asked.has(keyOf(open)))) {
    const { user, index, openPrice, leverage, long } = trade
    const { account } = TRADERS.find(({ account: { address } }) => address === user)!
    const ask =
      index % 2 === 0
        ? encodeWrite('closeTradeMarket', [index, openPrice])
        : encodeWrite('updateLeverage', [index, Math.floor(leverage * 1.1)])
    const request = await ground.transact(account, ground.diamond, ask)
    if (request.revertedWith === undefined) requests += 1
    const trigger = await ground.transact(KEEPER.account, ground.diamond, encodeTrigger(trade, LIQ_CLOSE))
    noteRequests(campaign, { receipts: [request, trigger] })
    const stored = trigger.events.find(({ eventName }) => eventName === 'PendingOrderStored')
    if (stored?.eventName !== 'PendingOrderStored') continue
    // The price at which all collateral is lost.
    const distance = (openPrice * 1_000n) / BigInt(leverage)
    const price = long ? (distance < openPrice ? openPrice - distance : 1n) : openPrice + distance
    const answer = packAnswer({ open: price, high: price, low: price, current: price })
    for (const { account: oracle } of ORACLES.slice(0, 2)) {
      const requestId = oracleRequestId(stored.args.pendingOrder, oracle.address)
      await ground.transact(oracle, ground.diamond, encodeWrite('fulfill', [requestId, answer]))
    }
  }
  await look(campaign)
  return requests
}

const LIQ_CLOSE = 6

/** Reads what is open on the chain, from which the next step is chosen. */
async function look(campaign: Campaign): Promise<void> {
  campaign.snapshot = { ...campaign.snapshot, ...(await readOpen(campaign.ground)) }
}

/** Forgets requests whose index now belongs to another one, as may be after a reorganisation. Nobody answers these. */
function forgetOtherRequests({ snapshot, requests }: Campaign): void {
  for (const order of snapshot.orders) {
    const known = requests.get(keyOf(order))
    if (known === undefined) continue
    const isSame = known.order.orderType === order.orderType && isDeepStrictEqual(known.order.trade, order.trade)
    if (isSame) requests.set(keyOf(order), { ...known, order })
    else requests.delete(keyOf(order))
  }
}

function publicClientOf({ ground }: Campaign): PublicClient {
  const provider: Parameters<typeof custom>[0] = {
    request: ({ method, params }: { readonly method: string; readonly params?: readonly unknown[] }) =>
      ground.chain.request(method, params),
  }
  return createPublicClient({ transport: custom(provider), cacheTime: 0 }) as PublicClient
}

/** Answers the calls of a batch one by one, as a node does. */
function clientOf({ ground }: Campaign): RpcClient {
  const answer = async (method: string, params: readonly unknown[]): Promise<RpcOutcome> => {
    try {
      return { ok: true, result: await ground.chain.request(method, params) }
    } catch (error) {
      const { code = -32_000, message, data } = error as Error & { readonly code?: number; readonly data?: unknown }
      return { ok: false, code, message, data }
    }
  }
  let roundTrips = 0
  return {
    roundTrips: () => roundTrips,
    async batch(calls) {
      roundTrips += 1
      return Promise.all(calls.map(({ method, params }) => answer(method, params)))
    },
  }
}

/** Reads the listing, of which only the pairs that are traded here are kept: reading the state of all takes long. */
async function readTraded(client: RpcClient, diamond: Address): Promise<ChainListing> {
  const { blockNumber } = await readMoment(client)
  const listing = await readListing({ client, diamond, block: numberToHex(blockNumber) })
  const isTraded = (pairIndex: number): boolean => MARKETS.some((market) => market.pairIndex === pairIndex)
  const terms = [...listing.terms].map(
    ([collateralIndex, of]) =>
      [collateralIndex, new Map([...of].filter(([pairIndex]) => isTraded(pairIndex)))] as const,
  )
  return { ...listing, pairs: listing.pairs.filter(({ pairIndex }) => isTraded(pairIndex)), terms: new Map(terms) }
}
