import type { Address, Hex, MayBeMined } from '@bezel/protocol'
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../../ground/backoff.ts'
import { every } from '../../ground/every.ts'
import { isLive } from '../../chain/servedChain.ts'
import { createInterruptibleSleep, type InterruptibleSleep } from '../../ground/interruptibleSleep.ts'
import { createSingleFlight } from '../../ground/singleFlight.ts'
import { inSpan } from '../../ground/spans.ts'
import { LeaseLostError, NodeUnavailableError } from '../../ground/unavailable.ts'
import { countOtherSenders, forgetRelayed } from '../../store/relayStore.ts'
import type { Store, Transaction } from '../../store/sql.ts'
import { utcDayOf } from '../../trading/scope.ts'
import { createRelaying, type Relaying } from './createRelaying.ts'
import type { ActionToRelay } from './enqueueAction.ts'
import type { OnRelayHashes, RelayContext } from './relayContext.ts'
import type { RelayerHealth } from './relayerHealth.ts'
import type { RelayerKey } from './relayerKey.ts'

/** Sends the actions of the facade's traders to one chain and pays their gas. */
export interface Relayer {
  readonly address: Address
  /**
   * Uses up the next nonce and stores the signed bytes in the transaction that makes the order, or does nothing. The
   * same attempt again gets the same answer. Throws a `RelayRefusedError` whose message is for the trader.
   */
  enqueue(sql: Transaction, of: ActionToRelay): Promise<{ readonly hash: Hex }>
  /**
   * Wakes the sender after the commit. Resolves when a node has the transaction, when it is settled in another way, or
   * at `close`; never rejects. Everything that is stored is sent, even if nobody calls this.
   */
  broadcast(hash: Hex): Promise<void>
  /**
   * Returns true until the effects of the transaction are in a followed block, or it can't have any: it failed, or its
   * nonce was burnt. Also true for one that a reorganisation dropped.
   */
  isOnItsWay(hash: Hex): Promise<boolean>
  /**
   * Calls the listener once if the transaction ends in a block without effect. Returns the function that removes the
   * listener.
   */
  onFailed(hash: Hex, listener: () => void): () => void
  /**
   * Burns all entries of agents of a trader that were revoked: those never sent are never sent, and for the others a
   * burn with a higher fee is stored and sent. Returns what may be mined all the same. Call it after the commit that
   * revokes, before its answer.
   */
  burnRevoked(trader: Address): Promise<readonly MayBeMined[]>
  health(): RelayerHealth
  /**
   * Sends from now on, with this store; `undefined`: another process sends, and this one only stores what is to be
   * sent. Resolves when the step under way has ended.
   */
  lead(store: Store | undefined): Promise<void>
  /** Returns true while this process is the one that sends. */
  isSender(): boolean
  /** Looks at once for what other processes stored, if this one sends. Without it, the sender looks every 100 ms. */
  wake(): void
  close(): Promise<void>
}

export interface RelayerOptions extends Omit<RelayContext, 'sender' | 'signer' | 'onHashes'> {
  readonly key: RelayerKey
  readonly onHashes?: OnRelayHashes
  /** True when it sends only after a call of `lead`. Default false. */
  readonly isStandby?: boolean
  /** The longest time for which a question waits for what the node has of a transaction. Default 1 s. */
  readonly seeMs?: number
}

/** Interval between two looks for entries that other processes stored. */
const QUEUE_LOOK_MS = 100

/** The shortest time between two steps. Without it, nodes behind one address that disagree would keep the loop busy. */
const MIN_REST_MS = 10

/** The longest time between two retries after failures. */
const MAX_RETRY_MS = 2_000
const FORGET_MS = 60_000

/**
 * Time between two looks at a live node, whose calls cost money, while nothing is under way: below the age at which
 * fees are of no use any more. Anything that is to be sent ends it.
 */
const IDLE_LIVE_MS = 45_000

/** The longest time that a revocation waits for a node to take the burns. They are sent until one does. */
const BURN_WAIT_MS = 2_000

const SEE_MS = 1_000

/** Days for which settled entries are kept, for inquiries. */
const KEEP_DAYS = 7
const FORGET_PER_ROUND = 500

/**
 * Starts the only sender of a chain. It continues from the state of the store after any kind of stop, and waits for a
 * node that is unavailable.
 */
export async function startRelayer({
  key,
  onHashes = async () => undefined,
  isStandby = false,
  seeMs = SEE_MS,
  ...options
}: RelayerOptions): Promise<Relayer> {
  const { chain, store, log } = options
  const signer = key.signerOf(chain)
  const sender = { chain: chain.slug, sender: key.address }
  const relaying = createRelaying({ ...options, sender, signer, onHashes })
  const waker = createInterruptibleSleep()
  const closing = new AbortController()
  const seat = createSeat(relaying, isStandby ? undefined : store)
  const others = await countOtherSenders(store.read, sender)
  if (others > 0)
    log.error(
      { ...sender, others },
      'transactions of another relayer key are not settled: start with that key until they are',
    )
  const onError = (err: unknown): void =>
    log.error({ ...sender, err }, 'what other nodes stored could not be looked for')
  const looks = options.isShared === true ? every(QUEUE_LOOK_MS, lookForNews, { onError }) : undefined
  const news = createSingleFlight({ work: lookForNews, isOver: () => closing.signal.aborted, onError })
  const steps = createSteps(relaying)
  const done = runSteps({ ...options, relaying: steps, seat, waker, sender, signal: closing.signal })

  /** Wakes the sender for what another process stored. */
  async function lookForNews(): Promise<void> {
    if (seat.store() !== undefined && (await relaying.hasNews())) waker.wake()
  }

  async function broadcast(hash: Hex): Promise<void> {
    if (closing.signal.aborted) return
    const taken = relaying.taken(hash)
    waker.wake()
    await taken
  }

  return {
    address: key.address,
    enqueue: (sql, of) => relaying.enqueue(sql, of),
    broadcast,
    async burnRevoked(trader) {
      const { mayBeMined, burns } = await relaying.burnRevoked(trader)
      const sending = Promise.all(burns.map(broadcast))
      if (burns.length > 0) await Promise.race([sending, sleep(BURN_WAIT_MS, undefined, { ref: false })])
      return mayBeMined
    },
    isOnItsWay: (hash) => isOnItsWay(hash, { relaying, steps, waker, seeMs, signal: closing.signal }),
    onFailed: (hash, listener) => relaying.onFailed(hash, listener),
    health: () => relaying.health(),
    async lead(to) {
      if (closing.signal.aborted) return
      const changed = seat.ask(to)
      waker.wake()
      await changed
    },
    isSender: () => seat.store() !== undefined,
    wake: news.ask,
    async close() {
      closing.abort()
      waker.close()
      await looks?.close()
      await done
      seat.change()
      relaying.release()
    },
  }
}

/**
 * Returns true while a transaction is on its way. After a start or a failure, and for transactions of another process,
 * it waits for the steps that learn what became of it.
 */
async function isOnItsWay(
  hash: Hex,
  of: {
    readonly relaying: Pick<Relaying, 'isOnItsWay' | 'isSeen'>
    readonly steps: Steps
    readonly waker: InterruptibleSleep
    readonly seeMs: number
    readonly signal: AbortSignal
  },
): Promise<boolean> {
  const { relaying, steps, waker, seeMs, signal } = of
  const untilMs = performance.now() + seeMs
  for (;;) {
    const isIt = await relaying.isOnItsWay(hash)
    const isOver = signal.aborted || performance.now() >= untilMs
    if (!isIt || relaying.isSeen(hash) || isOver) return isIt
    waker.wake()
    await Promise.race([steps.next(), sleep(seeMs, undefined, { ref: false })])
  }
}

/** Runs steps, and forgets what is old, until `signal` is aborted. */
async function runSteps(
  of: Pick<RelayContext, 'chain' | 'sender' | 'settings' | 'now' | 'log'> & {
    readonly relaying: Pick<Relaying, 'step' | 'health'>
    readonly seat: Seat
    readonly waker: InterruptibleSleep
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { chain, relaying, seat, waker, sender, settings, now, log, signal } = of
  const idleMs = isLive(chain) ? IDLE_LIVE_MS : settings.feesMs
  let failures = 0
  let forgottenAtMs = 0
  while (!signal.aborted) {
    try {
      seat.change()
      const isMore = await inSpan('relay', { 'bezel.chain': chain.slug }, () => relaying.step())
      if (failures > 0) log.info({ ...sender, failures }, 'the relayer works again')
      failures = 0
      const store = seat.store()
      if (store !== undefined && now() - forgottenAtMs >= FORGET_MS) forgottenAtMs = await forget({ chain, store, now })
      const restMs = relaying.health().unsettled > 0 ? settings.pollMs : idleMs
      await waker.sleep(isMore ? MIN_REST_MS : restMs)
    } catch (error) {
      if (signal.aborted) return
      const level = error instanceof NodeUnavailableError || error instanceof LeaseLostError ? 'warn' : 'error'
      if (failures === 0) log[level]({ ...sender, err: error }, 'the relayer failed, and tries again')
      failures += 1
      await waker.pause(Math.min(backoffMs(failures - 1, Math.random()), MAX_RETRY_MS))
    }
  }
}

/** The steps of a relayer, whose ends others can wait for. */
interface Steps extends Pick<Relaying, 'step' | 'health'> {
  /** Resolves when the next step has ended that is not under way, or failed. */
  next(): Promise<void>
}

function createSteps({ step, health }: Pick<Relaying, 'step' | 'health'>): Steps {
  let next = Promise.withResolvers<void>()
  return {
    health,
    next: () => next.promise,
    async step() {
      const ended = next
      next = Promise.withResolvers<void>()
      try {
        return await step()
      } finally {
        ended.resolve()
      }
    },
  }
}

/** The place of the sender, which a process takes and leaves between two steps. */
interface Seat {
  /** Returns the store of the sender; `undefined` while another process sends. */
  store(): Store | undefined
  /** Asks for a change. Resolves when it was made. */
  ask(to: Store | undefined): Promise<void>
  /** Makes the changes that were asked for. */
  change(): void
}

function createSeat(relaying: Pick<Relaying, 'lead'>, first: Store | undefined): Seat {
  const asked: { readonly to: Store | undefined; readonly resolve: () => void }[] = []
  let store = first
  if (first === undefined) relaying.lead(undefined)
  return {
    store: () => store,
    ask: (to) => new Promise((resolve) => asked.push({ to, resolve })),
    change() {
      for (const { to, resolve } of asked.splice(0)) {
        store = to
        relaying.lead(to)
        resolve()
      }
    },
  }
}

/** Deletes old settled entries. Returns the current time, epoch ms. */
async function forget({ chain, store, now }: Pick<RelayerOptions, 'chain' | 'store' | 'now'>): Promise<number> {
  const beforeDay = utcDayOf(now()) - KEEP_DAYS
  const of = { beforeMs: beforeDay * 86_400_000, beforeDay, limit: FORGET_PER_ROUND }
  await store.transaction({ chain: chain.slug }, (sql) => forgetRelayed(sql, chain.slug, of))
  return now()
}
