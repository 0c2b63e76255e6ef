import { poll } from '../../ground/poll.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { headNumberCall, quantity, resultOf } from '../blocks.ts'
import { isRevert, type RpcCall, type RpcClient, type RpcOutcome } from '../rpcClient.ts'
import type { ProviderSettings } from '../servedChain.ts'
import { createAgreement, type Agreement } from './agreement.ts'
import { createFollowerClient, type FollowerClient } from './followerClient.ts'
import { createProviderHealth, type ProviderState } from './health.ts'
import { createSend, noneOf, type ComparedBlock, type Member, type Send } from './member.ts'
import { createProvider, hasSender, type ProviderCounts, type ProviderOptions } from './provider.ts'

/**
 * The providers of one chain behind one client. A batch is answered by one provider alone: by the first that is well,
 * and by the next when that one fails, or takes longer than usual.
 */
export interface Providers extends RpcClient, Pick<Agreement, 'confirm'> {
  /** Makes the follower's client, which stays with one provider. `head` returns the last followed block. */
  followerClient(head: () => ComparedBlock | undefined): FollowerClient
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
  /** Number of blocks behind the head of the others from which on a provider is the last to be asked. */
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
  const send = createSend(now, 'reader')
  const sendOfFollower = createSend(now, 'follower')
  const followed = { member: members[0]! }
  const agreement = createAgreement(members, sendOfFollower, followed)
  const watch = members.length > 1 ? poll(() => lookAtHeads(), 0) : undefined

  /** Compares the newest blocks, so that a provider that stands still is not the first to be asked. */
  async function lookAtHeads(): Promise<number> {
    const heads = await Promise.all(
      members.map(async (member) => {
        if (member.health.restUntilMs() > now()) return undefined
        try {
          return quantity(resultOf((await sendOfFollower(member, [headNumberCall]))[0]))
        } catch (error) {
          if (!(error instanceof NodeUnavailableError)) throw error
          return undefined
        }
      }),
    )
    const newest = newestOf(heads.filter((head) => head !== undefined))
    for (const [at, head] of heads.entries()) {
      if (head !== undefined) members[at]!.health.setBehind(newest - head > options.maxBehind)
    }
    await agreement.settle()
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
    followerClient: (head) => createFollowerClient({ members, followed, askable, send: sendOfFollower, head, now }),
    confirm: agreement.confirm,
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

/**
 * Returns the head that the others are measured against: of three or more the second newest, so that a wrong one far
 * ahead makes none of the others look behind. Of two the newest one, because nobody can tell which of them is wrong.
 */
function newestOf(heads: readonly number[]): number {
  return heads.toSorted((a, b) => b - a)[heads.length > 2 ? 1 : 0] ?? 0
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

/** The longest time for which others are waited for after one provider refused a transaction. */
const LATE_MS = 1_000

/**
 * Sends to all providers that answer at the moment, so that a transaction reaches the chain by every way; to the others
 * where none does. The first success of each call counts, and a refusal when nobody else has an answer.
 */
function sendToAll(order: readonly Member[], calls: readonly RpcCall[], send: Send): Promise<RpcOutcome[]> {
  const answering = order.filter(({ health }) => ANSWERING.has(health.state()))
  const asked = answering.length > 0 ? answering : order
  return new Promise((resolve, reject) => {
    const waiting = new Set(asked)
    const answers = new Map<Member, RpcOutcome[]>()
    let failure: unknown
    let timer: NodeJS.Timeout | undefined

    const merged = () => mergeAnswers(asked.map((member) => answers.get(member)).filter((one) => one !== undefined))

    function end(): void {
      clearTimeout(timer)
      if (answers.size > 0) resolve(merged())
      else reject(failure as Error)
    }

    function late(): void {
      for (const member of waiting) member.health.lost()
      end()
    }

    async function ask(member: Member): Promise<void> {
      try {
        answers.set(member, await send(member, calls))
        timer ??= setTimeout(late, LATE_MS)
      } catch (error) {
        failure ??= error
      }
      waiting.delete(member)
      if (waiting.size === 0 || (answers.size > 0 && merged().every(({ ok }) => ok))) end()
    }

    for (const member of asked) void ask(member)
  })
}

/** Returns the first answers, with the success of another one in the place of each refusal. */
function mergeAnswers([first, ...others]: readonly RpcOutcome[][]): RpcOutcome[] {
  return first!.map((outcome, at) => (outcome.ok ? outcome : (others.find((one) => one[at]!.ok)?.[at] ?? outcome)))
}
