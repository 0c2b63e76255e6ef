import { deepEqual, equal } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError, CANDLE_INTERVALS, CLIENT_MESSAGES, STREAM_CHANNELS } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { parseClientMessage } from './clientMessages.ts'

const parse = (message: unknown): unknown => parseClientMessage(Buffer.from(JSON.stringify(message)))

/** Values that are right in some field, and some that are in none. */
const fieldValue = fc.oneof(
  fc.constantFrom('subscribe', 'unsubscribe', 'auth', 'ping', 'pong', 'BTC/USD', 'gk_x', '17', 17, -1, null, true, {}),
  fc.constantFrom(...STREAM_CHANNELS, ...Object.keys(CANDLE_INTERVALS)),
  fc.constantFrom(`0x${'ab'.repeat(20)}`, `0x${'ab'.repeat(65)}`),
)
const field = fc.constantFrom('op', 'channel', 'market', 'interval', 'fromSeq', 'agent', 'nonce', 'apiKey', 'x')

describe('client messages', () => {
  it('are taken exactly when one of the schemas allows them', () => {
    fc.assert(
      fc.property(fc.dictionary(field, fieldValue, { maxKeys: 5 }), (message) => {
        const isAllowed = Object.values(CLIENT_MESSAGES).some((schema) => Value.Check(schema, message))
        const parsed = parse(message)
        equal(parsed instanceof ApiError, !isAllowed, JSON.stringify(message))
        if (isAllowed) deepEqual(parsed, { ...message })
      }),
      { numRuns: 2_000 },
    )
  })

  it('can be any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const parsed = parseClientMessage(bytes)
        equal(parsed instanceof ApiError && parsed.code, 'VALIDATION_ERROR')
      }),
    )
  })
})
