import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress, type Hex } from '@bezel/protocol'
import { NO_CONTROLS } from '../../access/testing/noControls.ts'
import type { ActionToRelay } from './enqueueAction.ts'
import { RelayRefusedError, type RelayRefusal } from './gasBudget.ts'
import { guardRelayer } from './guardRelayer.ts'
import type { Relayer } from './startRelayer.ts'

const TRADER = parseAddress(`0x${'1'.repeat(40)}`)!

const AGENT = parseAddress(`0x${'2'.repeat(40)}`)!

const ACTION = { trader: TRADER, agent: AGENT, origin: { requestId: 'abc' } } as ActionToRelay

function relayerThat(enqueue: Relayer['enqueue']): Relayer {
  return { enqueue } as Relayer
}

function guarded(of: { refusal?: RelayRefusal; paused?: 'relayer' | 'writes' }) {
  const noted: string[] = []
  let taken = 0
  const relayer = relayerThat(async () => {
    if (of.refusal !== undefined) throw new RelayRefusedError(of.refusal, 'no')
    taken += 1
    return { hash: '0x01' as Hex }
  })
  const pause = { reason: 'key rotation' }
  const { enqueue } = guardRelayer(relayer, {
    chain: 'base',
    controls: {
      relayerPaused: (chain) => (of.paused === 'relayer' ? pause : NO_CONTROLS.relayerPaused(chain)),
      writesPaused: (chain) => (of.paused === 'writes' ? pause : NO_CONTROLS.writesPaused(chain)),
    },
    refusals: {
      note: ({ chain, trader, agent, origin, reason }) =>
        noted.push(`${chain} ${trader} ${agent} ${origin?.requestId} ${reason}`),
    },
  })
  return { enqueue: () => enqueue({} as never, ACTION), noted, taken: () => taken }
}

describe('a relayer behind the controls', () => {
  it('takes actions while nothing is paused', async () => {
    const { enqueue, noted } = guarded({})
    assert.deepEqual(await enqueue(), { hash: '0x01' })
    assert.deepEqual(noted, [])
  })

  it('takes none while it or the chain is paused, and says why', async () => {
    for (const paused of ['relayer', 'writes'] as const) {
      const { enqueue, taken } = guarded({ paused })
      await assert.rejects(enqueue(), {
        name: 'RelayRefusedError',
        reason: 'paused',
        message: 'The operator has paused the relayer on base: key rotation',
      })
      assert.equal(taken(), 0)
    }
  })

  it('tells the audit log of refusals for lack of gas, and of no others', async () => {
    for (const refusal of ['trader_budget', 'deployment_budget', 'low_balance', 'busy'] as const) {
      const { enqueue, noted } = guarded({ refusal })
      await assert.rejects(enqueue(), { reason: refusal })
      assert.deepEqual(noted, refusal === 'busy' ? [] : [`base ${TRADER} ${AGENT} abc ${refusal}`])
    }
  })
})
