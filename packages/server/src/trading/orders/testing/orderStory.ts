import { ORDER_REASONS, Price, Usd } from '@bezel/protocol'
import fc from 'fast-check'
import { foldOrder } from '../foldOrder.ts'
import type { Attempt, AttemptKind, FoldClock, OrderEvent, OrderRecord, OrderState } from '../orderModel.ts'
import {
  anAttempt,
  anOrder,
  canceled,
  decimal,
  executed,
  FOREIGN_ORDER,
  hash,
  LIMIT_ORDER,
  MARKET_ORDER,
  placed,
  reclaimed,
  refused,
  requested,
  reverted,
  START_BLOCK,
  T0,
  TIMEOUT_BLOCKS,
  timeOfBlock,
  updated,
} from './orderHistory.ts'

/** Everything that is known about an order at one moment. */
export interface Chapter {
  readonly attempts: readonly Attempt[]
  readonly events: readonly OrderEvent[]
  readonly clock: FoldClock
}

/** The history of an order from its beginning, as agent, clock, chain and oracle may produce it. */
export interface Story {
  readonly record: OrderRecord
  readonly chapters: readonly Chapter[]
}

export function stateIn({ record }: Story, { attempts, events, clock }: Chapter): OrderState | undefined {
  return foldOrder(record, attempts, events, clock)
}

const MOVES = [
  'wait',
  'mine',
  'prepare',
  'report',
  'correct',
  'see',
  'mismatch',
  'withdraw',
  'land',
  'revert',
  'update',
  'replace',
  'cancel',
  'execute',
  'refuse',
  'reclaim',
] as const

type StoryKind = 'market' | 'resting' | 'legs' | 'foreignMarket' | 'foreignResting'

interface Turn {
  readonly move: (typeof MOVES)[number]
  /** Random number that decides the rest of the move: which attempt, which leg, how long. */
  readonly choice: number
}

const RECORDS: Readonly<Record<StoryKind, OrderRecord>> = {
  market: MARKET_ORDER,
  resting: LIMIT_ORDER,
  legs: anOrder({ kind: 'close', reduceOnly: true }, { spendUsd: Usd.zero }),
  foreignMarket: FOREIGN_ORDER,
  foreignResting: FOREIGN_ORDER,
}

/** Generates stories of up to 40 moves. A move that the rules exclude at its time is skipped. */
export function stories(): fc.Arbitrary<Story> {
  const turn: fc.Arbitrary<Turn> = fc.record({ move: fc.constantFrom(...MOVES), choice: fc.nat(999) })
  const kinds = fc.constantFrom<StoryKind>('market', 'resting', 'legs', 'foreignMarket', 'foreignResting')
  return fc.tuple(kinds, fc.array(turn, { maxLength: 40, size: 'max' })).map(([kind, turns]) => {
    const author = new Author(kind)
    for (const { move, choice } of turns) author.play(move, choice)
    return { record: author.record, chapters: author.chapters }
  })
}

/**
 * Writes a story by the rules of the contracts and of the service about what can come next. It does not use the code
 * that computes an order's state.
 */
class Author {
  readonly record: OrderRecord
  readonly chapters: Chapter[] = []
  readonly #legCount: number
  readonly #isResting: boolean
  #attempts: Attempt[] = []
  #events: OrderEvent[] = []
  #block = START_BLOCK
  #nowMs = T0
  /** Ids of the attempts whose transactions were mined. */
  readonly #mined = new Set<Attempt['id']>()
  #isOnChain = false
  /** Trade index while the order rests. */
  #restingIndex: number | undefined
  #waiting: number[] = []

  constructor(kind: StoryKind) {
    this.record = RECORDS[kind]
    this.#isResting = kind === 'resting' || kind === 'foreignResting'
    this.#legCount = kind === 'legs' ? 3 : 1
    if (!this.#isForeign) this.#prepare('open')
    this.#write()
  }

  get #isForeign(): boolean {
    return this.record.agent === null
  }

  play(move: Turn['move'], choice: number): void {
    this.#make(move, choice)
    this.#write()
  }

  #write(): void {
    const clock = { nowMs: this.#nowMs, headBlock: this.#block, headMs: this.#nowMs, timeoutBlocks: TIMEOUT_BLOCKS }
    this.chapters.push({ attempts: [...this.#attempts], events: [...this.#events], clock })
  }

  #make(move: Turn['move'], choice: number): void {
    switch (move) {
      case 'wait':
        this.#nowMs += choice * 200
        return
      case 'mine':
        this.#block += 1 + Math.floor(choice / 3)
        return
      case 'prepare':
        if (
          !this.#isForeign &&
          !this.#isOnChain &&
          !this.#hasFailed() &&
          !this.#attempts.some((attempt) => this.#isGood(attempt))
        ) {
          this.#prepare('open')
        }
        return
      case 'report':
        return this.#change(choice, (attempt) => {
          return attempt.submittedHash === null && this.#reportOf(hash(numberOf(attempt)), choice)
        })
      case 'correct':
        return this.#change(choice, (attempt) => {
          return attempt.submittedHash !== null && !this.#mined.has(attempt.id) && this.#reportOf(hash(choice), choice)
        })
      case 'see':
        return this.#change(choice, ({ trustedUntilMs }) => {
          if (trustedUntilMs === null) return false
          return { trustedUntilMs: null, ...(trustedUntilMs <= this.#nowMs ? { submittedAtMs: this.#nowMs } : {}) }
        })
      case 'mismatch':
        return this.#change(choice, (attempt) => {
          return attempt.submittedHash !== null && !this.#mined.has(attempt.id) && { isMismatch: true }
        })
      case 'withdraw':
        return this.#change(choice, (attempt) => {
          const isSent = attempt.submittedHash !== null && this.#nowMs < (attempt.trustedUntilMs ?? Infinity)
          return this.#isGood(attempt) && !isSent && { withdrawnAtMs: this.#nowMs }
        })
      case 'land':
      case 'revert':
        return this.#mineOpening(choice, move === 'revert')
      case 'update':
      case 'replace':
      case 'cancel':
        return this.#changeResting(move, choice)
      case 'execute':
      case 'refuse':
      case 'reclaim':
        return this.#answer(move, choice)
    }
  }

  /** Returns the report of a hash that a node knows, or of one that is trusted for 10 seconds. */
  #reportOf(submittedHash: Attempt['submittedHash'], choice: number): Partial<Attempt> {
    const trustedUntilMs = choice % 2 === 0 ? null : this.#nowMs + 10_000
    return { submittedHash, submittedAtMs: this.#nowMs, trustedUntilMs, isMismatch: false }
  }

  #hasFailed(): boolean {
    return this.#events.some(({ kind }) => kind === 'reverted')
  }

  #isGood(attempt: Attempt): boolean {
    return attempt.kind === 'open' && attempt.withdrawnAtMs === null && this.#nowMs < attempt.expiresAtMs
  }

  #prepare(kind: AttemptKind): Attempt {
    const attempt = anAttempt(this.#attempts.length + 1, { kind, createdAtMs: this.#nowMs, size: decimal('0.3') })
    this.#attempts.push(attempt)
    return attempt
  }

  #change(choice: number, changesOf: (attempt: Attempt) => Partial<Attempt> | false): void {
    const index = choice % this.#attempts.length
    const attempt = this.#attempts[index]
    if (attempt === undefined) return
    const changes = changesOf(attempt)
    if (changes !== false) this.#attempts[index] = { ...attempt, ...changes }
  }

  #mineOpening(choice: number, fails: boolean): void {
    const ready = this.#attempts.filter(({ id, kind }) => kind === 'open' && !this.#mined.has(id))
    const attempt = ready[choice % ready.length]
    if ((attempt === undefined && !(this.#isForeign && !fails)) || (this.#isOnChain && !fails)) return
    if (attempt !== undefined) this.#mined.add(attempt.id)
    const place = this.#nextPlace(attempt === undefined ? null : numberOf(attempt))
    if (fails) return void this.#events.push(reverted({ ...place, log: -1 }))
    this.#isOnChain = true
    if (this.#isResting) return this.#rest(place, 3)
    for (let log = 0; log < this.#legCount; log++) {
      this.#events.push(requested({ ...place, log }, 5 + log))
      this.#waiting.push(5 + log)
    }
  }

  #nextPlace(n: number | null) {
    this.#block += 1
    return { block: this.#block, n, timestampMs: timeOfBlock(this.#block) }
  }

  #rest(place: { readonly block: number; readonly n: number | null; readonly log?: number }, index: number): void {
    this.#restingIndex = index
    this.#events.push(placed(place, {}, index))
  }

  #changeResting(kind: 'update' | 'replace' | 'cancel', choice: number): void {
    if (this.#restingIndex === undefined) return
    const isOurs = kind === 'replace' || choice % 2 === 0
    const place = this.#nextPlace(isOurs ? numberOf(this.#prepare(kind)) : null)
    if (isOurs && choice % 7 === 0) return void this.#events.push(reverted({ ...place, log: -1 }))
    if (kind === 'update')
      return void this.#events.push(
        updated(place, { price: Price.of(BigInt(choice + 1)), sl: Price.of(BigInt(choice % 3)) }),
      )
    this.#events.push(canceled(place))
    if (kind === 'replace') this.#rest({ ...place, log: 2 }, this.#restingIndex + 1)
    else this.#restingIndex = undefined
  }

  #answer(kind: 'execute' | 'refuse' | 'reclaim', choice: number): void {
    if (this.#restingIndex !== undefined && kind === 'execute') {
      this.#restingIndex = undefined
      this.#events.push(executed(this.#nextPlace(null), null))
    }
    const leg = this.#waiting[choice % this.#waiting.length]
    const askedAt = this.#events.find((event) => event.kind === 'requested')?.blockNumber ?? 0
    if (leg === undefined || (kind === 'reclaim' && this.#block + 1 < askedAt + TIMEOUT_BLOCKS)) return
    this.#waiting = this.#waiting.filter((waiting) => waiting !== leg)
    const place = this.#nextPlace(null)
    if (kind === 'execute') this.#events.push(executed(place, leg))
    else if (kind === 'refuse') this.#events.push(refused(place, ORDER_REASONS[choice % ORDER_REASONS.length]!, leg))
    else this.#events.push(reclaimed(place, leg))
  }
}

function numberOf({ id }: Attempt): number {
  return Number(id)
}
