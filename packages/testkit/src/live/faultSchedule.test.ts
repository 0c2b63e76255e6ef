import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { faultSchedule, type FaultPhase } from './faultSchedule.ts'
import type { StandInLimits } from './providerLimits.ts'

const SEEDS = Array.from({ length: 20 }, (_, at) => at + 1)

const EVERY_FAULT = [
  'away',
  'cutConnection',
  'cutJson',
  'giant',
  'hanging',
  'leftOut',
  'missingLogs',
  'none',
  'notJson',
  'otherBranch',
  'rateLimited',
  'serverError',
  'staleHead',
  'stateGone',
  'unwilling',
  'wrongChain',
  'wrongIds',
]
const EVERY_SOCKET_FAULT = ['cut', 'garbage', 'late', 'none', 'refuses', 'silent']

describe('fault schedules', () => {
  it('are the same for the same seed, and differ between seeds', () => {
    assert.deepEqual(faultSchedule(7), faultSchedule(7))
    assert.equal(new Set(SEEDS.map((seed) => JSON.stringify(faultSchedule(seed).phases))).size, SEEDS.length)
  })

  it('have every kind of fault within twenty seeds', () => {
    const phases = SEEDS.flatMap((seed) => faultSchedule(seed).phases)
    const kinds = (of: (phase: FaultPhase) => string): string[] => [...new Set(phases.map(of))].toSorted()
    assert.deepEqual(
      kinds(({ fault }) => fault.kind),
      EVERY_FAULT,
    )
    assert.deepEqual(
      kinds(({ socketFault }) => socketFault.kind),
      EVERY_SOCKET_FAULT,
    )
    assert.deepEqual(
      kinds(({ provider }) => String(provider)),
      ['0', '1'],
    )
  })

  it('give the providers plans of every kind', () => {
    const limits = SEEDS.flatMap((seed) => faultSchedule(seed).limits)
    const forms = (of: (one: StandInLimits) => string | undefined): string[] =>
      [...new Set(limits.map(of))].filter((form) => form !== undefined).toSorted()
    assert.deepEqual(
      forms(({ batch }) => batch?.form),
      ['http400', 'http413', 'item', 'object'],
    )
    assert.deepEqual(
      forms(({ logRange }) => logRange?.text),
      ['exceeds', 'limited', 'upTo', 'wide'],
    )
    assert.deepEqual(
      forms(({ units }) => units?.form),
      ['http429', 'item-32005', 'item429'],
    )
    assert.ok(limits.some(({ batch, logRange, units }) => (batch ?? logRange ?? units) === undefined))
  })

  it('have one provider ill at a time, but for one short phase in which both are away', () => {
    for (const seed of SEEDS) {
      const { phases, blocks } = faultSchedule(seed)
      const illAt = (block: number): FaultPhase[] =>
        phases.filter(({ fromBlock, toBlock }) => fromBlock <= block && block < toBlock)
      const both = Array.from({ length: blocks }, (_, block) => illAt(block)).filter(({ length }) => length > 1)
      assert.ok(both.length > 0 && both.length <= 4, `seed ${seed}: ${both.length} blocks`)
      assert.ok(both.flat().every(({ fault }) => fault.kind === 'away'))
      assert.deepEqual(illAt(blocks), [], 'both are well at the end')
    }
  })
})
