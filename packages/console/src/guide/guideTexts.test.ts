import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { GuideFacts } from './guideSteps.ts'
import { guideText } from './guideTexts.ts'

const FACTS: GuideFacts = { isSignedIn: true, trader: '0xa', view: 'trade', orders: [], positionIds: [], nowMs: 0 }

it('points at one thing at a time: the wallet, then the signature; the ticket, then its size, then the button', () => {
  const titles = [
    guideText(1, { ...FACTS, isSignedIn: false, trader: null }, 'closed').title,
    guideText(1, { ...FACTS, isSignedIn: false }, 'closed').title,
    guideText(3, FACTS, 'closed').title,
    guideText(3, FACTS, 'empty').title,
    guideText(3, FACTS, 'sized').title,
  ]
  assert.deepEqual(titles, ['Connect a wallet', 'Sign in', 'Open the ticket', 'Type a size', 'Send the order'])
})

it('has words and a target for every step', () => {
  for (const step of [1, 2, 3, 4, 5] as const) {
    const { title, body, targets } = guideText(step, FACTS, 'empty')
    assert.ok(title !== '' && body !== '' && targets.length > 0)
  }
})
