import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError, type AgentScope } from '@bezel/protocol'
import { refuseBadScope } from './createAgent.ts'
import { sampleAgent } from './testing/sampleAgent.ts'

const NOW_MS = 1_700_000_000_000

const LISTED = new Map([
  ['BTC/USD', 0],
  ['ETH/USD', 1],
])

function judge(scope: Partial<AgentScope>): void {
  refuseBadScope({ ...sampleAgent().scope, ...scope }, () => LISTED, NOW_MS)
}

/** Returns the message of a refusal, after a check that its issues say the same. */
function messageOf(scope: Partial<AgentScope>): string {
  try {
    judge(scope)
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'VALIDATION_ERROR')
    const { issues } = error.details as { issues: { path: string; message: string }[] }
    for (const { path, message } of issues) assert.ok(error.message.includes(`${path.slice(5)} ${message}`), path)
    return error.message
  }
  return assert.fail('the scope was taken')
}

describe('a scope', () => {
  it('is taken when the agent can do something with it', () => {
    judge({})
    judge({ markets: ['ETH/USD', 'BTC/USD'], maxLeverage: '0.5', dailySpendCapUsd: '0', expiresAt: NOW_MS + 1 })
  })

  it('names the market that was probably meant', () => {
    assert.equal(
      messageOf({ markets: ['BTC/USDX'] }),
      'The scope is not valid: scope.markets names BTC/USDX, which is not listed on this chain (did you mean BTC/USD?).',
    )
    assert.match(messageOf({ markets: ['QQQQQQ/USD'] }), /not listed .* \(GET \/v1\/\{chain\}\/markets lists/)
  })

  it('says when its expiry has passed, and when it looks like seconds', () => {
    assert.equal(
      messageOf({ expiresAt: NOW_MS }),
      `The scope is not valid: scope.expiresAt must be after server time, ${NOW_MS} (2023-11-14T22:13:20.000Z).`,
    )
    assert.match(messageOf({ expiresAt: NOW_MS / 1_000 + 60 }), /; it looks like seconds: send and sign epoch mill/)
    for (const expiresAt of [0, 1, NOW_MS - 86_400_000]) {
      assert.doesNotMatch(messageOf({ expiresAt }), /seconds:/)
    }
  })

  it('tells all that is wrong with it in one sentence', () => {
    const message = messageOf({ markets: [], maxLeverage: '0.00', dailySpendCapUsd: '-1', expiresAt: 5 })
    const fields = [...message.matchAll(/scope\.(\w+)/g)].map(([, field]) => field)
    assert.deepEqual(fields, ['maxLeverage', 'dailySpendCapUsd', 'expiresAt', 'markets'])
  })
})
