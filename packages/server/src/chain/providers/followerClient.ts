import { setTimeout as sleep } from 'node:timers/promises'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import type { RpcCall, RpcClient, RpcOutcome } from '../rpcClient.ts'
import { hashAt, type ComparedBlock, type Followed, type Member, type Send } from './member.ts'

/** The client of one follower. All its batches go to one provider, which only `choose` changes. */
export interface FollowerClient extends RpcClient {
  /**
   * Goes to another provider when the present one fails or a better one is back: to one that has the last followed
   * block, and only when no provider has it to one that has not. Called where nothing is half read.
   */
  choose(): Promise<void>
  /**
   * Asks another provider, so that what the present one leaves out is found. Resolves to `undefined` when there is none
   * that answers in time. Left out where there is only one.
   */
  second?(calls: readonly RpcCall[]): Promise<RpcOutcome[] | undefined>
  /** Notes that the present provider left out logs: for a while another one is preferred. */
  leftOutLogs(): void
  /** Notes that what the present provider answers can't be used: for a while another one is preferred. */
  distrust(reason: string): void
  /** Returns the most blocks of one question for logs that the provider takes; `undefined` where it is to be learnt. */
  logRange(): number | undefined
  /** Returns the same of the provider that `second` asks. */
  secondLogRange?(): number | undefined
}

/** Time of failures after which a provider counts as gone. */
const GONE_MS = 10_000

/** The longest time for which a second provider is waited for. */
const SECOND_MS = 3_000

/** Time of failures after which nobody waits for a second provider any more, until it answers again. */
const SILENT_MS = 30_000

export function createFollowerClient(of: {
  readonly members: readonly Member[]
  readonly followed: Followed
  readonly askable: () => readonly Member[]
  readonly send: Send
  readonly head: () => ComparedBlock | undefined
  readonly now: () => number
}): FollowerClient {
  const { members, followed, askable, send } = of

  /** Returns the first provider that has the last followed block, or else one that answers. */
  async function find(order: readonly Member[], head: ComparedBlock): Promise<Member | undefined> {
    let answering: Member | undefined
    for (const member of order) {
      if (member === followed.member && member.health.state() !== 'away') return member
      const hash = await hashAt(member, head.number, send)
      if (hash === head.hash) return member
      if (hash !== undefined) answering ??= member
    }
    // A provider on another branch is followed only when the present one is really gone, not after one failure, or when
    // two others agree against a final block of it.
    const { health } = followed.member
    const isLost = health.failingMs() >= GONE_MS || health.state() === 'differs'
    return isLost ? answering : undefined
  }

  function other(): Member {
    const isOther = (member: Member): boolean => member !== followed.member
    return askable().find(isOther) ?? members.find(isOther)!
  }

  return {
    async choose() {
      const order = askable()
      if (order.length === 0 || order[0] === followed.member) return
      const head = of.head()
      followed.member = (head === undefined ? order[0] : await find(order, head)) ?? followed.member
    },
    async batch(calls) {
      if (calls.length === 0) return []
      return send(followed.member, calls)
    },
    ...(members.length > 1 && {
      second: (calls) => askBeside(other(), calls, of),
      secondLogRange: () => other().logRange,
    }),
    leftOutLogs: () => followed.member.health.distrust('it left out logs that another provider has'),
    distrust: (reason) => followed.member.health.distrust(`what it answers can't be used: ${reason}`),
    logRange: () => followed.member.logRange,
    roundTrips: () => members.reduce((sum, { provider }) => sum + provider.counts().roundTrips, 0),
  }
}

/**
 * Asks a provider, and waits as long as its word is worth waiting for. One that failed lately is asked all the same, so
 * that it is heard as soon as it is back.
 */
async function askBeside(
  member: Member,
  calls: readonly RpcCall[],
  { send, now }: { readonly send: Send; readonly now: () => number },
): Promise<RpcOutcome[] | undefined> {
  const { health } = member
  const restMs = health.restUntilMs() - now()
  const isSilent = health.failingMs() >= SILENT_MS
  const waitMs = isSilent || health.state() === 'limited' ? restMs : 0
  if (health.state() === 'differs' || waitMs > (isSilent ? 0 : SECOND_MS)) return undefined
  if (waitMs > 0) await sleep(waitMs)
  const answer = send(member, calls).catch((error: unknown) => {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  })
  if (isSilent) return undefined
  const waiting = new AbortController()
  const late = sleep(SECOND_MS, undefined, { signal: waiting.signal }).then(
    () => health.lost(),
    () => undefined,
  )
  const first = await Promise.race([answer, late])
  waiting.abort()
  return first ?? undefined
}
