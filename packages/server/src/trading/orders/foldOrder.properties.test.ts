import { OrderSchema, type OrderStatus } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { foldOrder } from './foldOrder.ts'
import { orderAnswer, type FoldClock, type OrderState } from './orderModel.ts'
import { ORDER_TRANSITIONS, type OrderStanding } from './orderTransitions.ts'
import { stateIn, stories, type Chapter, type Story } from './testing/orderStory.ts'

const RUNS = { numRuns: 500 }

/** Statuses that the chain decided and that time alone does not change. */
const SETTLED: ReadonlySet<OrderStatus> = new Set(['filled', 'rejected', 'canceled'])

/** Checks a property at every moment of every story. */
function everywhere(check: (story: Story, chapter: Chapter, state: OrderState) => void): void {
  fc.assert(
    fc.property(stories(), (story) => {
      for (const chapter of story.chapters) {
        const state = stateIn(story, chapter)
        if (state !== undefined) check(story, chapter, state)
        else assert.ok(story.record.agent === null && chapter.events.length === 0)
      }
    }),
    RUNS,
  )
}

function later({ nowMs, headBlock, headMs, timeoutBlocks }: FoldClock, ms: number, blocks: number): FoldClock {
  return { nowMs: nowMs + ms, headBlock: headBlock + blocks, headMs: headMs + ms, timeoutBlocks }
}

describe('the fold of an order, over random histories', () => {
  it('does not depend on the order in which events and attempts are given', () => {
    const shuffled = stories().chain((story) => {
      const { attempts, events } = story.chapters.at(-1)!
      const shuffle = <T>(of: readonly T[]) => fc.shuffledSubarray([...of], { minLength: of.length })
      return fc.tuple(fc.constant(story), shuffle(attempts), shuffle(events))
    })
    fc.assert(
      fc.property(shuffled, ([story, attempts, events]) => {
        const last = story.chapters.at(-1)!
        assert.deepEqual(foldOrder(story.record, attempts, events, last.clock), stateIn(story, last))
      }),
      RUNS,
    )
  })

  it('leaves what it is given as it is', () => {
    fc.assert(
      fc.property(stories(), (story) => {
        const last = story.chapters.at(-1)!
        const copy = structuredClone(last)
        assert.deepEqual(stateIn(story, last), stateIn(story, copy))
        assert.deepEqual(last, copy)
      }),
      RUNS,
    )
  })

  it('undoes blocks by folding without them, and gets them back by folding with them', () => {
    fc.assert(
      fc.property(stories(), fc.nat(40), (story, depth) => {
        const last = story.chapters.at(-1)!
        const whole = stateIn(story, last)
        const ancestor = last.clock.headBlock - depth
        const kept = last.events.filter(({ blockNumber }) => blockNumber <= ancestor)
        const undone = last.events.filter(({ blockNumber }) => blockNumber > ancestor)
        const before = story.chapters.findLast(({ clock }) => clock.headBlock <= ancestor)
        if (before !== undefined) {
          const clock = { ...last.clock, headBlock: ancestor }
          const shorter = { ...last, events: before.events, clock }
          assert.deepEqual(stateIn(story, { ...last, events: kept, clock }), stateIn(story, shorter))
        }
        assert.deepEqual(stateIn(story, { ...last, events: [...undone, ...kept] }), whole)
      }),
      RUNS,
    )
  })

  it('takes no way that the table does not have', () => {
    const ways = new Set(
      Object.entries(ORDER_TRANSITIONS).flatMap(([from, moves]) => Object.values(moves).map((to) => `${from} ${to}`)),
    )
    const taken = new Set<string>()
    fc.assert(
      fc.property(stories(), (story) => {
        let from: OrderStanding = 'absent'
        for (const chapter of story.chapters) {
          const to: OrderStanding = stateIn(story, chapter)?.status ?? 'absent'
          if (from !== to) {
            assert.ok(ways.has(`${from} ${to}`), `${from} -> ${to}`)
            taken.add(`${from} ${to}`)
          }
          from = to
        }
      }),
      { numRuns: 2_000 },
    )
    // Shows that the stories cover nearly every transition.
    assert.ok(taken.size >= 20, [...taken].join(', '))
  })

  it('of a settled order is the same for ever', () => {
    everywhere((story, { attempts, events, clock }, state) => {
      if (!SETTLED.has(state.status)) return
      const state2 = foldOrder(story.record, attempts, events, later(clock, 10 ** 10, 10 ** 6))
      assert.deepEqual(state2, state)
    })
  })

  it('never un-fills an order as history grows', () => {
    fc.assert(
      fc.property(stories(), (story) => {
        const statuses = story.chapters.map((chapter) => stateIn(story, chapter)?.status)
        const first = statuses.indexOf('filled')
        if (first !== -1) assert.ok(statuses.slice(first).every((status) => status === 'filled'))
      }),
      RUNS,
    )
  })

  it('stays exactly the same until it is due, and moves when it is', () => {
    everywhere((story, { attempts, events, clock }, state) => {
      const at = (moment: FoldClock) => foldOrder(story.record, attempts, events, moment)
      const { dueAtMs, dueBlock } = state
      assert.ok((dueAtMs ?? Infinity) > clock.nowMs && (dueBlock ?? Infinity) > clock.headBlock)
      const nowMs = dueAtMs === null ? clock.nowMs + 10 ** 10 : dueAtMs - 1
      const headBlock = dueBlock === null ? clock.headBlock + 10 ** 6 : dueBlock - 1
      assert.deepEqual(at({ ...clock, nowMs, headBlock }), state)
      if (dueAtMs !== null) assert.notEqual(at({ ...clock, nowMs: dueAtMs })?.status, state.status)
      if (dueBlock !== null) assert.equal(at({ ...clock, headBlock: dueBlock })?.status, 'timed_out')
    })
  })

  it('has a fill when filled, and none when nothing can have been traded', () => {
    everywhere((_, { events }, { status, fill }) => {
      if (status === 'filled') assert.ok(fill !== null)
      assert.equal(
        fill !== null,
        events.some(({ kind }) => kind === 'executed'),
      )
      if (!['filled', 'pending', 'timed_out'].includes(status)) assert.equal(fill, null)
    })
  })

  it('has a reason when rejected, and none while it was refused nothing', () => {
    everywhere((_, { events }, { status, reason }) => {
      if (status === 'rejected') assert.ok(reason !== null)
      if (!events.some(({ kind }) => kind === 'refused' || kind === 'reverted')) assert.equal(reason, null)
    })
  })

  it('is prepared or expired only while the chain knows nothing of it', () => {
    everywhere((_, { events }, { status }) => {
      if (status !== 'prepared' && status !== 'expired') return
      assert.ok(!events.some(({ kind }) => kind === 'requested' || kind === 'placed'))
      if (status === 'expired') assert.deepEqual(events, [])
    })
  })

  it('has the fields that belong to its status, and no others', () => {
    everywhere((_, { attempts, clock }, state) => {
      const { status, unanswered, dueBlock } = state
      assert.equal(state.tradeIndex !== null, status === 'open')
      assert.equal(state.expiresAtMs === null, state.dueAtMs === null)
      assert.ok((state.dueAtMs ?? 0) <= (state.expiresAtMs ?? 0))
      if (status === 'prepared') assert.ok(state.expiresAtMs !== null && state.expiresAtMs === state.dueAtMs)
      if (status === 'prepared' && state.txHash !== null) {
        const givenUp = attempts.find(({ submittedHash }) => submittedHash === state.txHash)
        assert.ok(givenUp !== undefined && !givenUp.isMismatch && givenUp.trustedUntilMs! <= clock.nowMs)
        assert.ok(state.updatedAtMs >= givenUp.trustedUntilMs!)
      }
      if (status !== 'prepared' && status !== 'pending') assert.equal(state.expiresAtMs, null)
      if (status === 'pending') {
        assert.notEqual(state.txHash, null)
        assert.equal(state.expiresAtMs === null, dueBlock !== null)
        assert.equal(dueBlock !== null, unanswered.length > 0)
      } else assert.equal(dueBlock, null)
      if (status === 'timed_out') assert.ok(unanswered.length > 0)
      else if (status !== 'pending') assert.deepEqual(unanswered, [])
    })
  })

  it('is never updated before it was made, nor on account of the clock alone', () => {
    everywhere((story, { attempts, events, clock }, state) => {
      assert.ok(state.updatedAtMs >= story.record.createdAtMs)
      const state2 = foldOrder(story.record, attempts, events, later(clock, 10 ** 9, 10 ** 6))
      if (state2!.status === state.status) assert.equal(state2!.updatedAtMs, state.updatedAtMs)
    })
  })

  it('survives the store, and is an Order on the wire', () => {
    everywhere(({ record }, _, state) => {
      assert.deepEqual(JSON.parse(JSON.stringify(state)), state)
      const answer = orderAnswer(record, state)
      assert.ok(Value.Check(OrderSchema, answer), JSON.stringify([...Value.Errors(OrderSchema, answer)]))
    })
  })
})
