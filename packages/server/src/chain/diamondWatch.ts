import { diamondAbi, StartupError, type Hex } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import { toEventSelector, type AbiEvent } from 'viem'
import { poll } from '../ground/poll.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import type { ChainBlock, ChainTransaction } from './blocks.ts'
import { readDiamond, type DiamondState } from './diamondCheck.ts'
import type { RpcClient } from './rpcClient.ts'
import type { ServedChain } from './servedChain.ts'
import { SETTING_EVENTS } from './marketEvents.ts'
import { UNREAD_EVENTS } from './unreadEvents.ts'

/**
 * Watches whether the Diamond is still the one that this build knows. A cut (EIP-2535) turns writes off until the
 * functions have been checked at or after its block; a log that can't be decoded does so until a later cut has been
 * checked.
 */
export interface DiamondWatch {
  /** Returns the reason why nothing may be written; `undefined` when the Diamond is as expected. */
  reason(): 'starting' | 'diamond_changed' | undefined
  /**
   * Returns one sentence for operators about what changed, or else about the last event that is not known, which stops
   * nothing; `undefined` when there is neither.
   */
  warning(): string | undefined
  /** Takes into account which applied blocks change the Diamond, whichever node followed them. */
  noteChanges(blocks: readonly WatchedBlock[]): void
  /** Counts the logs of blocks that this node followed. */
  noteLogs(blocks: readonly ChainBlock[]): void
  /**
   * Takes into account that blocks were not told: their cuts may have ended what was found before, so the functions are
   * checked again, and a log that can't be decoded has to come again.
   */
  noteGap(): void
  /** Resolves when a change of the Diamond in the blocks so far has been checked once. */
  checked(): Promise<void>
  stats(): DiamondStats
  close(): void
}

/** The part of a block that tells of changes of the Diamond. */
export interface WatchedBlock extends Pick<ChainBlock, 'block'> {
  readonly transactions: readonly (Pick<ChainTransaction, 'topics' | 'undecoded'> & { readonly hash?: Hex })[]
}

/** Numbers of a watch since the start. */
export interface DiamondStats {
  readonly isChanged: boolean
  /** Number of changes of the Diamond in the followed blocks. */
  readonly cuts: number
  /** Number of logs that could not be decoded, by name of the event, or do not mean what they must (`OTHER_BLOCKS`). */
  readonly undecoded: ReadonlyMap<string, number>
  /** Number of logs of kinds that the published ABI does not have, by topic; `other` beyond `MAX_TOPICS`. */
  readonly unknownTopics: ReadonlyMap<string, number>
  /** Number of cuts and of kinds of logs that can't be read: each may mean that trades are told in another way. */
  readonly signsOfChange: number
  /** Time of the chain since the first request after which none was executed or refused; 0 while there is none. */
  readonly unansweredMs: number
  /** True when `unansweredMs` exceeds its limit: orders may be executed by events that this build does not know. */
  readonly isStalled: boolean
}

interface DiamondWatchOptions {
  readonly chain: Pick<ServedChain, 'slug' | 'diamond' | 'requestTimeoutBlocks'>
  readonly client: RpcClient
  /** Time without any execution after which requests count as stalled. */
  readonly unansweredMs: number
  /** Pause between two attempts of a check that the node did not answer. Default 1,000 ms. */
  readonly retryMs?: number
  readonly log: Pick<FastifyBaseLogger, 'warn' | 'error'>
}

const RETRY_MS = 1_000

/** Bounds the topics with a count of their own, because a metric keeps every value of a label for ever. */
const MAX_TOPICS = 64

/**
 * Checks the Diamond, then watches it. Throws a `StartupError` that names what the Diamond lacks. A node that does not
 * answer may come back: until then the watch is `starting`, and what it then tells only turns writes off.
 */
export async function openDiamondWatch(options: DiamondWatchOptions): Promise<DiamondWatch> {
  const first = await ifAnswered(readDiamond(options.client, options.chain, 0))
  if (first?.problem !== undefined) throw new StartupError(first.problem)
  return createDiamondWatch(options, first)
}

/** Returns the result; `undefined` when the node does not answer. */
async function ifAnswered<Result>(asked: Promise<Result>): Promise<Result | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}

function createDiamondWatch(options: DiamondWatchOptions, first: DiamondState | undefined): DiamondWatch {
  const { chain, client, log, retryMs = RETRY_MS } = options
  const { slug } = chain
  const logs = createLogCounts(options)
  const layouts = createOtherLayouts(options)
  let checkedAt = first?.block
  /** Block at or after which the functions have to be checked; `undefined` when they are. */
  let dueAt = first === undefined ? 0 : undefined
  /** True when a cut may have been missed. */
  let isDoubted = false
  let problem: string | undefined
  let lastBlock = -1
  const retrying = poll(async () => {
    await checked()
    return retryMs
  }, retryMs)

  async function checked(): Promise<void> {
    if (dueAt === undefined && !isDoubted) return
    const state = await ifAnswered(readDiamond(client, chain, dueAt ?? 0))
    // Another attempt was faster, or a later cut has come meanwhile.
    if (state === undefined || (dueAt === undefined && !isDoubted) || state.block < (dueAt ?? 0)) return
    dueAt = undefined
    isDoubted = false
    checkedAt = state.block
    problem = state.problem
    const at = { chain: slug, block: state.block }
    if (problem === undefined) log.warn(at, 'the Diamond answers every function that is called')
    else log.error({ ...at, problem }, 'the Diamond is not as expected: writes are off')
  }

  function noteBlock({ block, transactions }: WatchedBlock): void {
    if (block.number <= lastBlock) noteRewind(block.number)
    lastBlock = block.number
    for (const { topics, undecoded, hash } of transactions) {
      if (topics.some(isChangeTopic)) noteCut(block, hash)
      for (const event of undecoded) layouts.note(event, block, hash)
    }
  }

  /** Handles undone blocks: what was checked or found in them may not hold on the new branch. */
  function noteRewind(number: number): void {
    layouts.undo(number)
    if (checkedAt !== undefined && checkedAt >= number) checkedAt = number - 1
    if (problem !== undefined) dueAt = Math.max(dueAt ?? 0, number)
  }

  function noteCut({ number: block }: FollowedBlock, hash: Hex | undefined): void {
    layouts.clear()
    // A cut of before the last check was seen by it: a service that catches up needs no check for each.
    if (checkedAt !== undefined && block <= checkedAt) return
    dueAt = Math.max(dueAt ?? 0, block)
    log.error({ chain: slug, block, hash }, 'the Diamond was changed: writes are off until its functions are checked')
  }

  const isChanged = (): boolean => dueAt !== undefined || problem !== undefined || layouts.warning() !== undefined

  return {
    reason() {
      if (checkedAt === undefined) return 'starting'
      return isChanged() ? 'diamond_changed' : undefined
    },
    warning() {
      const unchecked = checkedAt === undefined ? undefined : dueAt
      return problem ?? layouts.warning() ?? uncheckedWarning(unchecked) ?? logs.warning()
    },
    noteChanges: (blocks) => blocks.forEach(noteBlock),
    noteLogs: (blocks) => blocks.forEach(logs.add),
    noteGap() {
      layouts.clear()
      isDoubted = true
    },
    checked,
    stats: () => statsOf(isChanged(), logs.counts()),
    close: retrying.close,
  }
}

function statsOf(isChanged: boolean, counts: ReturnType<LogCounts['counts']>): DiamondStats {
  const signsOfChange = counts.cuts + counts.undecoded.size + counts.unknownTopics.size
  return { isChanged, ...counts, signsOfChange }
}

/** Events whose logs can't be decoded since the last cut. */
interface OtherLayouts {
  note(event: string, block: FollowedBlock, hash: Hex | undefined): void
  /** Forgets those that were first seen in the blocks from this number on. */
  undo(number: number): void
  clear(): void
  /** Returns a sentence about the first one; `undefined` when there is none. */
  warning(): string | undefined
}

function createOtherLayouts({ chain, log }: Pick<DiamondWatchOptions, 'chain' | 'log'>): OtherLayouts {
  /** First block of each event. */
  const since = new Map<string, number>()
  return {
    note(event, { number: block }, hash) {
      if (since.has(event)) return
      since.set(event, block)
      log.error({ chain: chain.slug, block, hash, event }, 'the layout of an event has changed: writes are off')
    },
    undo(number) {
      for (const [event, block] of since) if (block >= number) since.delete(event)
    },
    clear: () => since.clear(),
    warning() {
      const [first] = since
      if (first === undefined) return undefined
      const [event, block] = first
      return `The Diamond emits ${event} in a layout that this build does not know, since block ${block}.`
    },
  }
}

function uncheckedWarning(block: number | undefined): string | undefined {
  if (block === undefined) return undefined
  return `The Diamond was changed in block ${block}, and its functions are not checked yet.`
}

/** Counts the logs of the Diamond that matter to operators. */
interface LogCounts {
  /** Counts the logs of the next block, which may replace others of its number and above. */
  add(block: ChainBlock): void
  /** Returns a sentence about the last event that is not known; `undefined` when there is none. */
  warning(): string | undefined
  counts(): Omit<DiamondStats, 'isChanged' | 'signsOfChange'>
}

function createLogCounts({ chain, unansweredMs: limitMs, log }: DiamondWatchOptions): LogCounts {
  const undecoded = new Map<string, number>()
  const unknownTopics = new Map<string, number>()
  let lastUnknown: { readonly topic: Hex; readonly block: number } | undefined
  const requests = createUnansweredRequests(limitMs)
  let wasStalled = false
  let lastBlock = -1
  let cuts = 0

  function noteUnknown(topic: Hex, { number: block }: FollowedBlock, { hash }: ChainTransaction): void {
    lastUnknown = { topic, block }
    const isNew = !unknownTopics.has(topic)
    if (isNew && unknownTopics.size >= MAX_TOPICS) return countUp(unknownTopics, 'other')
    countUp(unknownTopics, topic)
    if (isNew) log.warn({ chain: chain.slug, block, hash, topic }, 'the Diamond emits an event that is not known')
  }

  /** Holds the Diamond to the rule of `CHAINS`: it counts the blocks of the chain's own node. */
  function noteCount(createdBlock: number, { number: block }: FollowedBlock, { hash }: ChainTransaction): void {
    if (createdBlock === block) return
    countUp(undecoded, OTHER_BLOCKS)
    if (undecoded.get(OTHER_BLOCKS) !== 1) return
    const at = { chain: chain.slug, block, hash, createdBlock }
    log.error(at, 'the Diamond counts other blocks than the node, so timeouts of requests are wrong')
  }

  function noteEvents(block: FollowedBlock, transaction: ChainTransaction): void {
    for (const event of transaction.events) {
      if (event.name === 'ChainlinkCallbackTimeout') requests.reclaim(event.args.pendingOrderId)
      if (event.name !== 'PendingOrderStored') continue
      const { pendingOrder } = event.args
      requests.add(pendingOrder)
      noteCount(pendingOrder.createdBlock, block, transaction)
    }
  }

  function addTransaction(block: FollowedBlock, transaction: ChainTransaction): void {
    if (transaction.topics.some(isChangeTopic)) cuts += 1
    for (const event of transaction.undecoded) countUp(undecoded, event)
    for (const topic of transaction.topics) {
      if (topic === REQUEST_TOPIC) requests.note(block)
      else if (ANSWER_TOPICS.has(topic)) requests.noteAnswer()
      else if (!KNOWN_TOPICS.has(topic)) noteUnknown(topic, block, transaction)
    }
    noteEvents(block, transaction)
  }

  return {
    add({ block, transactions }) {
      const { number } = block
      if (number <= lastBlock && lastUnknown !== undefined && lastUnknown.block >= number) lastUnknown = undefined
      lastBlock = number
      for (const transaction of transactions) addTransaction(block, transaction)
      requests.moveTo(block)
      const { unansweredMs, isStalled } = requests.waited()
      if (isStalled && !wasStalled) {
        log.error({ chain: chain.slug, block: number, unansweredMs }, 'no request is executed any more')
      }
      wasStalled = isStalled
    },
    warning() {
      if (lastUnknown === undefined) return undefined
      const { topic, block } = lastUnknown
      return `The Diamond emits an event that this build does not know: topic ${topic}, last in block ${block}.`
    },
    counts: () => ({ cuts, undecoded, unknownTopics, ...requests.waited() }),
  }
}

/** The requests since the first one after which none was executed or refused. */
interface UnansweredRequests {
  /** Takes a request into account, as the topic of its log tells. */
  note(block: FollowedBlock): void
  /** Takes into account which request it is, so that its reclaim ends it. */
  add(request: RequestId): void
  /** Ends a request that its trader reclaimed: no answer, but when nobody waits any more nothing is stalled. */
  reclaim(request: RequestId): void
  noteAnswer(): void
  /** Goes on to the end of a block, up to which requests have waited from then on. */
  moveTo(block: FollowedBlock): void
  /** Returns how long requests have waited, by the times of blocks. */
  waited(): Pick<DiamondStats, 'unansweredMs' | 'isStalled'>
}

interface RequestId {
  readonly user: `0x${string}`
  readonly index: number
}

function createUnansweredRequests(limitMs: number): UnansweredRequests {
  let sinceMs: number | undefined
  /** The requests since then that nobody has reclaimed. */
  const waiting = new Set<string>()
  let headMs = 0
  return {
    note: ({ timestampMs }) => void (sinceMs ??= timestampMs),
    add: (request) => void waiting.add(keyOf(request)),
    reclaim(request) {
      if (waiting.delete(keyOf(request)) && waiting.size === 0) sinceMs = undefined
    },
    noteAnswer() {
      sinceMs = undefined
      waiting.clear()
    },
    moveTo: ({ timestampMs }) => void (headMs = timestampMs),
    waited() {
      const unansweredMs = sinceMs === undefined ? 0 : Math.max(0, headMs - sinceMs)
      return { unansweredMs, isStalled: unansweredMs > limitMs }
    },
  }
}

function keyOf({ user, index }: RequestId): string {
  return `${user}:${index}`
}

/** Name under which requests are counted whose block is another one for the Diamond than for the node. */
const OTHER_BLOCKS = 'PendingOrderStored.createdBlock'

function countUp(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

const EVENTS: readonly AbiEvent[] = diamondAbi.filter((entry) => entry.type === 'event')

function topicOf(name: (typeof diamondAbi)[number]['name']): Hex {
  return toEventSelector(EVENTS.find((event) => event.name === name)!) as Hex
}

/**
 * Topics that tell of other code behind the Diamond's address: a cut of its facets, and a new implementation of the
 * proxy (EIP-1967) behind which the live Diamond stands.
 */
const CHANGE_TOPICS: ReadonlySet<Hex> = new Set([topicOf('DiamondCut'), toEventSelector('Upgraded(address)') as Hex])

/** True for logs that tell of other code behind the Diamond's address. */
export function isChangeTopic(topic: Hex): boolean {
  return CHANGE_TOPICS.has(topic)
}

const KNOWN_TOPICS: ReadonlySet<Hex> = new Set([
  ...EVENTS.map((event) => toEventSelector(event) as Hex),
  ...[...UNREAD_EVENTS, ...SETTING_EVENTS].map((signature) => toEventSelector(signature) as Hex),
  ...CHANGE_TOPICS,
])

const REQUEST_TOPIC = topicOf('PendingOrderStored')

/**
 * Topics that tell that the oracle's answer to a request was executed or refused. `TradingCallbackExecuted` is left
 * out: it goes on when the event that this service reads gets another topic, which is what is looked for.
 */
const ANSWER_TOPICS: ReadonlySet<Hex> = new Set([
  topicOf('MarketExecuted'),
  topicOf('LimitExecuted'),
  topicOf('MarketOpenCanceled'),
  topicOf('MarketCloseCanceled'),
  topicOf('TriggerOrderCanceled'),
  topicOf('LeverageUpdateExecuted'),
  topicOf('PositionSizeIncreaseExecuted'),
  topicOf('PositionSizeDecreaseExecuted'),
  topicOf('TradePositivePnlWithdrawn'),
  topicOf('TradeHoldingFeesManuallyRealized'),
  topicOf('TradeNegativePnlManuallyRealized'),
])
