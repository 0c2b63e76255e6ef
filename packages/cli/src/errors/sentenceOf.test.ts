import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SettingsError } from '@bezel/protocol/program'
import {
  ApprovalTimeoutError,
  BezelApiError,
  BezelConfigError,
  BezelNetworkError,
  BroadcastError,
  ClockSkewError,
  DelegationTimeoutError,
  ERRORS,
  FillTimeoutError,
  OrderNotFilledError,
  OrderSubmitReportError,
  PositionUpdateRefusedError,
  PositionUpdateTimedOutError,
  PositionUpdateWaitError,
  PreparationExpiredError,
  UnverifiedTransactionError,
  WrongChainError,
  WrongDiamondError,
  type Order,
  type PendingUpdate,
  type Position,
} from '@bezel/sdk'
import { errorDocument, exitCodeOf } from './errorDocument.ts'
import { KeyError, UsageError } from './cliError.ts'
import { sentenceOf } from './sentenceOf.ts'

const HASH = `0x${'12'.repeat(32)}` as const

const A = '0x00000000000000000000000000000000000000A1'

const B = '0x00000000000000000000000000000000000000B2'

const order = (status: Order['status'], reason: Order['reason'] = null): Order => ({
  id: '7',
  trader: A,
  market: 'BTC/USD',
  side: 'long',
  type: 'market',
  size: '1',
  price: null,
  leverage: '10',
  collateral: 'USDC',
  sl: null,
  tp: null,
  reduceOnly: false,
  slippage: '1',
  clientId: null,
  status,
  txHash: null,
  expiresAt: null,
  fill: null,
  reason,
  createdAt: 1,
  updatedAt: 1,
})

const refusal = (code: string): BezelApiError =>
  new BezelApiError({ code, message: 'It was refused.', status: 400, requestId: 'req-1' })

const MIXED_UP = new BezelApiError({
  code: 'TRADER_MISMATCH',
  message: 'No.',
  details: { trader: A, named: B },
  status: 403,
})

const NOT_ALLOWED = new BezelApiError({
  code: 'SIMULATION_REVERTED',
  message: 'No.',
  details: { collateral: 'USDC', needed: '61.8', balance: '90', allowance: '0', approvalTx: {} },
  status: 422,
})

/** One error of each kind, with its exit code and a pattern that its sentence must match. */
const CASES: readonly (readonly [unknown, number, RegExp])[] = [
  [new UsageError('Wrong.'), 2, /^Wrong\.$/],
  [
    MIXED_UP,
    3,
    /^TRADER_MISMATCH: This agent or key acts for 0x0+A1, but 0x0+B2 is meant, so nothing was done\..*--as/,
  ],
  [
    NOT_ALLOWED,
    3,
    /^SIMULATION_REVERTED: The order takes 61\.8 USDC\..*take 0\. Allow it with bezel approve USDC 61\.8/,
  ],
  [new ApprovalTimeoutError('USDC', HASH, 1000), 5, /Do not send it again/],
  [new PositionUpdateRefusedError('7', undefined, null), 4, /The change of position 7 had no effect/],
  [new PositionUpdateTimedOutError({ id: '7' } as Position, {} as PendingUpdate), 4, /bezel reclaim 7/],
  [new PositionUpdateWaitError('7', 1000), 5, /goes on without you/],
  [new SettingsError('BEZEL_URL is wrong.'), 2, /BEZEL_URL/],
  [new KeyError('No key.'), 7, /No key/],
  [refusal('AGENT_UNKNOWN'), 3, /^AGENT_UNKNOWN: .*bezel agent authorise/],
  [refusal('INTERNAL'), 3, /req-1/],
  [refusal('MARKET_NOT_FOUND'), 3, /no such market on this chain\. bezel markets lists them\.$/],
  [
    new BezelApiError({ code: 'MARKET_NOT_FOUND', message: 'No.', details: { nearest: 'BTC/USD' }, status: 404 }),
    3,
    /Did you mean BTC\/USD\? bezel markets/,
  ],
  [
    new BezelApiError({ code: 'UNSUPPORTED', message: 'No.', status: 422, docs: 'http://x/docs/errors#unsupported' }),
    3,
    /^UNSUPPORTED: No\. .* See http:\/\/x\/docs\/errors#unsupported$/,
  ],
  [new ClockSkewError({ code: 'TIMESTAMP_OUT_OF_WINDOW', message: 'x', status: 401 }, 45_000), 3, /45\.0 s ahead of/],
  [
    new BezelNetworkError('NETWORK_ERROR', { method: 'GET', url: 'http://x', what: 'refused' }),
    6,
    /--url \(BEZEL_URL\)/,
  ],
  [new BezelNetworkError('TIMEOUT', { method: 'GET', url: 'http://x', what: 'no answer' }), 6, /Check the connection/],
  [new BroadcastError(new Error('insufficient funds for gas * price + value')), 6, /too little of the native coin/],
  [new BroadcastError(new Error('nonce too low\nsecond line')), 6, /nonce too low/],
  [new OrderSubmitReportError('7', HASH, new Error('x')), 6, /Do not send it again/],
  [new OrderNotFilledError(order('rejected', 'SLIPPAGE')), 4, /SLIPPAGE: the price moved/],
  [new OrderNotFilledError(order('timed_out')), 4, /bezel cancel 7/],
  [new OrderNotFilledError(order('canceled')), 4, /canceled/],
  [new FillTimeoutError('7', order('pending'), 5_000), 5, /still pending.*do not send it again.*bezel cancel 7/],
  [new DelegationTimeoutError(A, HASH, 5_000), 5, /bezel agent status/],
  [new WrongChainError({ who: 'The sender', expected: 1, found: 2 }), 7, /--rpc/],
  [new WrongChainError({ who: 'The service', expected: 1, found: 2 }), 7, /The service is on chain 2/],
  [new WrongDiamondError(A, B), 7, /--diamond/],
  [new UnverifiedTransactionError('to', A, B), 7, /was not sent: its to is/],
  [new PreparationExpiredError(1_000, 3_000), 7, /expired 2\.0 s ago/],
  [new BezelConfigError('NO_AGENT', 'x'), 7, /--keystore/],
  [new BezelConfigError('NO_SENDER', 'x'), 2, /--rpc/],
  [new BezelConfigError('NO_TRADER', 'x'), 2, /--trader/],
  [new TypeError('boom\n    at somewhere (file.ts:1:1)'), 1, /unexpected happened: boom\. If it happens again/],
  ['thrown text', 1, /thrown text/],
]

describe('sentenceOf and exitCodeOf', () => {
  it('have a sentence and a code for each kind of error', () => {
    for (const [error, exitCode, expected] of CASES) {
      const sentence = sentenceOf(error)
      assert.match(sentence, expected)
      assert.equal(exitCodeOf(error), exitCode, sentence)
      assert.doesNotMatch(sentence, /\n| {4}at |undefined|\[object/)
    }
  })

  it('speak of commands, never of functions of a package', () => {
    const errors = [...CASES.map(([error]) => error), ...Object.keys(ERRORS).map(refusal)]
    for (const error of errors) {
      assert.doesNotMatch(sentenceOf(error), /\b(?:agents|orders|positions|account)\.\w|\{ \w+ \}|timeoutMs/)
    }
  })

  it('name the code of a refusal first', () => {
    for (const code of Object.keys(ERRORS)) assert.ok(sentenceOf(refusal(code)).startsWith(`${code}: `))
  })
})

describe('errorDocument', () => {
  it('has the same shape for everything', () => {
    for (const [error, exitCode] of CASES) {
      const { error: told } = JSON.parse(JSON.stringify(errorDocument(error))) as ReturnType<typeof errorDocument>
      assert.equal(told.exitCode, exitCode)
      assert.equal(typeof told.retryable, 'boolean')
      assert.match(told.code, /^[A-Z_]+$/)
      assert.equal(told.message, sentenceOf(error))
    }
  })

  it('carries what the error knows', () => {
    assert.equal(errorDocument(refusal('INTERNAL')).error.requestId, 'req-1')
    assert.deepEqual(errorDocument(new UnverifiedTransactionError('to', A, B)).error.details, {
      field: 'to',
      expected: A,
      found: B,
    })
    assert.deepEqual(errorDocument(new OrderNotFilledError(order('rejected'))).error.details, {
      order: order('rejected'),
    })
  })
})
