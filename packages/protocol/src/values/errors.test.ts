import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError, ERRORS, type ErrorCode } from './errors.ts'

// The interface's own table: 35 codes by status, and the two that were added.
const CODES_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR',
  401: 'UNAUTHENTICATED INVALID_SIGNATURE TIMESTAMP_OUT_OF_WINDOW NONCE_REUSED AGENT_UNKNOWN API_KEY_UNKNOWN',
  403: 'AGENT_NOT_DELEGATED AGENT_EXPIRED AGENT_REVOKED SCOPE_READ_ONLY SCOPE_MARKET_NOT_ALLOWED SCOPE_LEVERAGE_EXCEEDED SCOPE_SPEND_CAP_EXCEEDED TRADER_MISMATCH',
  404: 'CHAIN_NOT_FOUND MARKET_NOT_FOUND ORDER_NOT_FOUND POSITION_NOT_FOUND AGENT_NOT_FOUND NOT_FOUND',
  409: 'IDEMPOTENCY_CONFLICT ORDER_NOT_MODIFIABLE TOO_MANY_PREPARED_ORDERS',
  422: 'PRECISION_ERROR LEVERAGE_OUT_OF_RANGE SIZE_BELOW_MINIMUM MARKET_CLOSED COLLATERAL_NOT_SUPPORTED SIMULATION_REVERTED SUBMISSION_MISMATCH UNSUPPORTED',
  429: 'RATE_LIMITED',
  500: 'INTERNAL',
  502: 'UPSTREAM_UNAVAILABLE',
  503: 'NOT_READY CHAIN_READ_ONLY',
}

const codes = Object.keys(ERRORS) as ErrorCode[]

describe('ERRORS', () => {
  it('has the 35 codes of the interface and two more, each with its status', () => {
    assert.equal(codes.length, 35 + 2)
    for (const [status, expected] of Object.entries(CODES_BY_STATUS)) {
      const found = codes.filter((code) => ERRORS[code].status === Number(status))
      assert.deepEqual(found.toSorted(), expected.split(' ').toSorted())
    }
  })

  it('has a cause and a remedy for each: whole sentences, and not the same', () => {
    for (const code of codes) {
      const { when, remedy } = ERRORS[code]
      for (const text of [when, remedy]) assert.match(text, /^[A-Z`][^\n]+\.$/, code)
      assert.notEqual(when, remedy, code)
    }
  })

  it('lets clients repeat a request as it is only where the interface says so', () => {
    const repeatable = codes.filter((code) => ERRORS[code].retry === 'as_is')
    assert.deepEqual(repeatable.toSorted(), ['NOT_READY', 'RATE_LIMITED', 'UPSTREAM_UNAVAILABLE'])
  })

  it('says fix first where the interface does', () => {
    const fixFirst = [
      'VALIDATION_ERROR',
      'PRECISION_ERROR',
      'AGENT_NOT_DELEGATED',
      ...codes.filter((code) => code.startsWith('SCOPE_')),
    ]
    for (const code of fixFirst as ErrorCode[]) assert.equal(ERRORS[code].retry, 'fix_first', code)
  })
})

describe('ApiError', () => {
  it('knows its status and its body', () => {
    const error = new ApiError('PRECISION_ERROR', 'size has 9 decimals', { field: 'size', maxDecimals: 8 })
    assert.equal(error.status, 422)
    const { remedy } = ERRORS.PRECISION_ERROR
    assert.deepEqual(error.toBody('abc-1'), {
      code: 'PRECISION_ERROR',
      message: 'size has 9 decimals',
      details: { remedy, field: 'size', maxDecimals: 8, requestId: 'abc-1', docs: '/docs/errors#precision_error' },
    })
  })

  it('tells the remedy, the request and the documentation also where there is nothing else to tell', () => {
    const details = { remedy: ERRORS.INTERNAL.remedy, requestId: 'abc-2', docs: '/docs/errors#internal' }
    assert.deepEqual(new ApiError('INTERNAL', 'x').toBody('abc-2'), { code: 'INTERNAL', message: 'x', details })
  })

  it('tells the remedy of its own details before that of its code', () => {
    const { details } = new ApiError('TRADER_MISMATCH', 'x', { remedy: 'Ask the other one.' }).toBody('abc-3')
    assert.equal(details.remedy, 'Ask the other one.')
  })
})
