import { poll } from '../../ground/poll.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { headNumberCall, quantity, resultOf } from '../blocks.ts'
import { isRevert, type RpcCall, type RpcClient, type RpcOutcome } from '../rpcClient.ts'
import type { ProviderSettings } from '../servedChain.ts'
import { createFollowerClient, type FollowerClient } from './followerClient.ts'
import { createProviderHealth, type ProviderState } from './health.ts'
import { createSend, hashAt, noneOf, type ComparedBlock, type Member, type Send } from './member.ts'
import { createProvider, hasSender, type ProviderCounts, type ProviderOptions } from './provider.ts'

/**
 * The providers of one chain behind one client. A batch is answered by one provider alone: by the first that is well,
 * and by the next when that one fails, or takes longer than usual.
 */
export interface Providers extends RpcClient {
  /** Makes the follower's client, which stays with one provider. `head` returns the last followed block. */
  followerClient(head: () => ComparedBlock | undefined): FollowerClient
  /**
   * Resolves to true when a second provider has this final block too, or there is no second one. One that has another
   * block in its place is not asked any more until it has the same.
   */
  confirm(block: ComparedBlock): Promise<boolean>
  statuses(): readonly ProviderStatus[]
  /** Returns true while at least one provider answers. */
  isUp(): boolean
  close(): void
}

/** One provider as the operator sees it. */
export interface ProviderStatus extends ProviderCounts {
  /** Its place in the list and its host, as in `2 (node.example)`. */
  readonly name: string
  readonly state: ProviderState
  readonly reason: string | undefined
  /** The most calls of a batch, as a setting or as learnt. */
  readonly batch: number
  /** Number of requests that were also sent to the next provider, because this one took long. */
  readonly hedges: number
}

export interface ProvidersOptions extends Omit<ProviderOptions, keyof ProviderSettings> {
  readonly settings: readonly ProviderSettings[]
  /** Number of blocks behind the newest one of all from which on a provider is the last to be asked. */
  readonly maxBehind: number
  /** Pause between two looks at the newest blocks of all providers. Without a second provider nobody looks. */
  readonly watchMs?: number
  readonly onChange?: (name: string, state: ProviderState, reason: string | undefined) => void
}

const WATCH_MS = 30_000

export function createProviders(options: ProvidersOptions): Providers {
  const { settings, now = () => performance.now(), random = Math.random } = options
  const members = settings.map((of, at): Member => {
    const name = `${at + 1} (${new URL(of.url).host})`
    const onChange = (state: ProviderState, reason: string | undefined) => options.onChange?.(name, state, reason)
    return {
      name,
      provider: createProvider({ ...options, ...of }),
      health: createProviderHealth({ now, random, onChange }),
      logRange: of.logRange,
      hedges: 0,
    }
  })
  const askable = createOrder(members, now)
  const send = createSend(now)
  const watch = members.length > 1 ? poll(() => lookAtHeads(), 0) : undefined

  /** Compares the newest blocks, so that a provider that stands still is not the first to be asked. */
  async function lookAtHeads(): Promise<number> {
    const heads = await Promise.all(
      members.map(async (member) => {
        if (member.health.restUntilMs() > now()) return undefined
        try {
          return quantity(resultOf((await send(member, [headNumberCall]))[0]))
        } catch (error) {
          if (!(error instanceof NodeUnavailableError)) throw error
          return undefined
        }
      }),
    )
    const newest = Math.max(...heads.map((head) => head ?? 0))
    for (const [at, head] of heads.entries()) {
      if (head !== undefined) members[at]!.health.setBehind(newest - head > options.maxBehind)
    }
    return options.watchMs ?? WATCH_MS
  }

  return {
    async batch(calls) {
      if (calls.length === 0) return []
      const order = askable()
      if (order.length === 0) throw noneOf(members)
      if (calls.some(isBroadcast)) return sendToAll(order, calls, send)
      const first = await sendToFirst(order, calls, send)
      return isRefusal(calls, first.outcomes) ? hearAnother(order, calls, send, first) : first.outcomes
    },
    roundTrips: () => members.reduce((sum, { provider }) => sum + provider.counts().roundTrips, 0),
    followerClient: (head) => createFollowerClient({ members, askable, send, head, now }),
    confirm: (block) => confirm(members, block, send),
    statuses: () =>
      members.map(({ name, provider, health, hedges }) => ({
        name,
        state: health.state(),
        reason: health.reason(),
        batch: provider.limits().batch,
        hedges,
        ...provider.counts(),
      })),
    isUp: () => members.some(({ health }) => ANSWERING.has(health.state())),
    close: () => watch?.close(),
  }
}

function isBroadcast({ method }: RpcCall): boolean {
  return method === 'eth_sendRawTransaction'
}

/** Returns true when one of the calls simulates a write, and that would fail. */
function isRefusal(calls: readonly RpcCall[], outcomes: readonly RpcOutcome[]): boolean {
  return calls.some((call, at) => call.method === 'eth_call' && hasSender(call) && isRevert(outcomes[at]!))
}

/** The answers to a batch, and the provider that gave them. */
interface Answered {
  readonly member: Member
  readonly outcomes: RpcOutcome[]
}

/**
 * Asks another provider before a write is refused: the first may stand still, and not know of what the trader has. Its
 * answers count when it refuses nothing. A write that is not refused needs no second one.
 */
async function hearAnother(
  order: readonly Member[],
  calls: readonly RpcCall[],
  send: Send,
  first: Answered,
): Promise<RpcOutcome[]> {
  const other = order.find((member) => member !== first.member && ANSWERING.has(member.health.state()))
  if (other === undefined) return first.outcomes
  try {
    const outcomes = await send(other, calls)
    return isRefusal(calls, outcomes) ? first.outcomes : outcomes
  } catch (error) {
    if (error instanceof NodeUnavailableError) return first.outcomes
    throw error
  }
}

/** States of providers that answer. */
const ANSWERING: ReadonlySet<ProviderState> = new Set(['ok', 'slow', 'behind', 'incomplete'])

/** The order in which states are asked; those that are left out are not. */
const RANKS: Partial<Record<ProviderState, number>> = {
  ok: 0,
  slow: 1,
  behind: 2,
  incomplete: 2,
  away: 3,
  limited: 3,
  wrong_chain: 3,
}

/**
 * Returns a function that lists the providers to ask, the best first. One that failed lately is asked only when there
 * is no other; one that is asked too often, is on another chain or has other final blocks is left alone.
 */
function createOrder(members: readonly Member[], now: () => number): () => readonly Member[] {
  const rankOf = ({ health }: Member): number | undefined => {
    const state = health.state()
    const rank = RANKS[state]
    if (rank !== 3) return rank
    // Its rest is over: the next request finds out how it is.
    if (now() >= health.restUntilMs()) return 2
    return state === 'away' ? 3 : undefined
  }
  return () => {
    const ranked = members.map((member) => ({ member, rank: rankOf(member) })).filter(({ rank }) => rank !== undefined)
    return ranked.toSorted((a, b) => a.rank! - b.rank!).map(({ member }) => member)
  }
}

/**
 * Sends to the first provider, to the next after each failure, and once to the next while one is slow. The first good
 * answer counts.
 */
function sendToFirst(order: readonly Member[], calls: readonly RpcCall[], send: Send): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const running = new Set<Member>()
    let next = 0
    let isDone = false
    let isHedged = false
    let timer: NodeJS.Timeout | undefined

    function start(): void {
      const member = order[next]!
      next += 1
      running.add(member)
      clearTimeout(timer)
      if (!isHedged && order[next]?.health.state() === 'ok') {
        timer = setTimeout(() => hedge(member), member.health.hedgeMs(calls.length))
      }
      send(member, calls).then(
        (outcomes) => win(member, outcomes),
        (error: unknown) => fail(member, error),
      )
    }

    function hedge(member: Member): void {
      isHedged = true
      member.hedges += 1
      start()
    }

    function win(member: Member, outcomes: RpcOutcome[]): void {
      running.delete(member)
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      for (const slower of running) slower.health.lost()
      resolve({ member, outcomes })
    }

    function fail(member: Member, error: unknown): void {
      running.delete(member)
      if (isDone) return
      if (next < order.length) return start()
      if (running.size > 0) return
      isDone = true
      reject(error as Error)
    }

    start()
  })
}

/** Sends to all providers at once, so that a transaction reaches the chain by every way. The first success counts. */
async function sendToAll(order: readonly Member[], calls: readonly RpcCall[], send: Send): Promise<RpcOutcome[]> {
  const sent = order.map(async (member) => {
    const outcomes = await send(member, calls)
    if (outcomes.some((outcome) => !outcome.ok)) throw new RefusedBroadcast(outcomes)
    return outcomes
  })
  try {
    return await Promise.any(sent)
  } catch (error) {
    const { errors } = error as AggregateError
    const refused = errors.find((one) => one instanceof RefusedBroadcast)
    if (refused !== undefined) return refused.outcomes
    throw errors[0]
  }
}

/** Outcomes among which a refusal is. Another provider may have taken the same transaction. */
class RefusedBroadcast extends Error {
  readonly outcomes: RpcOutcome[]
  constructor(outcomes: RpcOutcome[]) {
    super('a provider refused a call')
    this.outcomes = outcomes
  }
}

async function confirm(members: readonly Member[], block: ComparedBlock, send: Send): Promise<boolean> {
  if (members.length === 1) return true
  const hashes = await Promise.all(members.map((member) => hashAt(member, block.number, send)))
  const withHash = Map.groupBy(members.keys(), (at) => hashes[at])
  withHash.delete(undefined)
  const same = withHash.get(block.hash) ?? []
  const largest = [...withHash.values()].reduce((most, group) => (group.length > most.length ? group : most), same)
  for (const [at, hash] of hashes.entries()) {
    if (hash === undefined) continue
    const isOther = !largest.includes(at)
    members[at]!.health.setDiffers(
      isOther ? `it has another block ${block.number}, which is final on the others` : undefined,
    )
  }
  return same.length >= 2
}
