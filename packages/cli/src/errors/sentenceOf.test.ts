import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SettingsError } from '@bezel/protocol/program'
import {
  ApprovalTimeoutError,
  BatchInterruptedError,
  BatchNotDoneError,
  BezelApiError,
  BezelConfigError,
  BezelNetworkError,
  BezelNodeError,
  BroadcastError,
  ClockSkewError,
  DelegationTimeoutError,
  ERRORS,
  FillTimeoutError,
  OrderNotChangedError,
  OrderNotFilledError,
  OrderSubmitReportError,
  PositionUpdateRefusedError,
  PositionUpdateTimedOutError,
  PositionUpdateWaitError,
  PreparationExpiredError,
  TransactionRevertedError,
  TransactionTimeoutError,
  UnverifiedTransactionError,
  WrongChainError,
  WrongDiamondError,
  type Order,
  type PendingUpdate,
  type Position,
  type TrackedOrder,
} from '@bezel/sdk'
import { spellCommands } from '../output/advice.ts'
import { errorDocument, exitCodeOf } from './errorDocument.ts'
import { KeyError, UnwatchedOrderError, UsageError } from './cliError.ts'
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

const NOTHING_TO_RECLAIM = new BezelApiError({
  code: 'ORDER_NOT_MODIFIABLE',
  message: 'No change of this position waits for the oracle.',
  details: { block: 12, timesOutAtBlock: null },
  status: 409,
})

const INTERRUPTED = new BatchInterruptedError(
  { orders: [], leftOut: [], txHashes: [HASH], warnings: [], wait: async () => [] },
  new TransactionRevertedError(HASH),
  [{ id: '7', order: order('open') } as TrackedOrder],
)

const withDetails = (code: string, details: Record<string, unknown>): BezelApiError =>
  new BezelApiError({ code, message: 'It was refused.', details, status: 403 })

/** The refusals of an agent that lacks a right, with the option that gives it. */
const RIGHTS: readonly (readonly [unknown, number, RegExp])[] = [
  [
    withDetails('SCOPE_MARKET_NOT_ALLOWED', { market: 'ETH/USD', markets: ['BTC/USD'] }),
    3,
    /may trade BTC\/USD, and not ETH\/USD\. .*: bezel agent authorise --markets BTC\/USD,ETH\/USD \.\.\.$/,
  ],
  [
    withDetails('SCOPE_LEVERAGE_EXCEEDED', { leverage: '50', maxLeverage: '20' }),
    3,
    /up to 20x, and this is 50x\. .*: bezel agent authorise --max-leverage 50 \.\.\.$/,
  ],
  [
    withDetails('SCOPE_SPEND_CAP_EXCEEDED', { notionalUsd: '1200.5', spentUsd: '800', dailySpendCapUsd: '1500' }),
    3,
    /may open 1500 USD a day \(UTC\): it has opened 800, .*: bezel agent authorise --daily-cap 2001 \.\.\.$/,
  ],
  [withDetails('SCOPE_READ_ONLY', {}), 3, /may only read\. .*: bezel agent authorise \.\.\.$/],
  [withDetails('AGENT_EXPIRED', {}), 3, /has expired\. .*: bezel agent authorise --expires 30d \.\.\.$/],
  [withDetails('AGENT_REVOKED', {}), 3, /has revoked this agent\. .*: bezel agent authorise \.\.\.$/],
]

const told = (error: unknown): string => spellCommands(sentenceOf(error))

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
    /^SIMULATION_REVERTED: The order takes 61\.8 USDC\..*take 0\. Allow that and .*: bezel approve USDC 62\.5$/,
  ],
  ...RIGHTS,
  [
    withDetails('VALIDATION_ERROR', { issues: [{ path: 'body.scope.markets', message: 'names A/B, which is none' }] }),
    3,
    /^VALIDATION_ERROR: --markets names A\/B, which is none\.$/,
  ],
  [
    withDetails('PRECISION_ERROR', { remedy: 'Round the value of `details.field`.' }),
    3,
    /^PRECISION_ERROR: It was refused\.$/,
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
  [
    new BezelNetworkError('NETWORK_ERROR', { method: 'GET', url: 'http://127.0.0.1:8080/v1', what: 'refused' }),
    6,
    /refused\. Is it running\? npm start runs .*--url \(BEZEL_URL\).*BEZEL_DATA\.$/,
  ],
  [
    new BezelNodeError('the chain id', new Error('fetch failed')),
    6,
    /^The chain's node .*--rpc \(BEZEL_RPC_URL\) is right/,
  ],
  [new BroadcastError(new Error('insufficient funds for gas * price + value')), 6, /too little of the native coin/],
  [new BroadcastError(new Error('nonce too low\nsecond line')), 6, /nonce too low/],
  [new OrderSubmitReportError('7', HASH, new Error('x')), 6, /Do not send it again/],
  [new OrderNotFilledError(order('rejected', 'SLIPPAGE')), 4, /SLIPPAGE: the price moved/],
  [new OrderNotFilledError(order('timed_out')), 4, /bezel cancel 7/],
  [new OrderNotFilledError(order('canceled')), 4, /canceled/],
  [new BatchNotDoneError([order('rejected')], [order('rejected')]), 4, /^1 of 1 orders did not end/],
  [new OrderNotChangedError(order('filled')), 4, /came too late: order 7 is filled/],
  [new FillTimeoutError('7', order('pending'), 5_000), 5, /still pending.*do not send it again.*bezel cancel 7/],
  [new FillTimeoutError('7', order('open'), 5_000), 5, /still open.*or end it with bezel cancel 7$/],
  [
    new UnwatchedOrderError(order('pending'), '0xab', 'AGENT_EXPIRED: It has expired.'),
    5,
    /^Transaction 0xab of order \d+ was sent .* do not send it again\. .* pending, .*: AGENT_EXPIRED: It has expired\.$/,
  ],
  [INTERRUPTED, 4, /^1 transaction was sent, .* reverted, .* Not done: order 7, and what follows\. Repeat it/],
  [new TransactionTimeoutError(HASH, 5_000), 5, /not mined within 5 s/],
  [NOTHING_TO_RECLAIM, 3, /^ORDER_NOT_MODIFIABLE: No change of this position waits for the oracle\. Read it again/],
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
      const sentence = told(error)
      assert.match(sentence, expected)
      assert.equal(exitCodeOf(error), exitCode, sentence)
      assert.doesNotMatch(sentence, /\n| {4}at |undefined|\[object|`bezel/)
    }
  })

  it('speak of commands, never of functions of a package', () => {
    const errors = [...CASES.map(([error]) => error), ...Object.keys(ERRORS).map(refusal)]
    for (const error of errors) {
      assert.doesNotMatch(told(error), /\b(?:agents|orders|positions|account)\.\w|\{ \w+ \}|timeoutMs/)
    }
  })

  it('name the code of a refusal first', () => {
    for (const code of Object.keys(ERRORS)) assert.ok(sentenceOf(refusal(code)).startsWith(`${code}: `))
  })
})

describe('errorDocument', () => {
  it('has the same shape for everything', () => {
    for (const [error, exitCode] of CASES) {
      const { error: said } = JSON.parse(JSON.stringify(errorDocument(error))) as ReturnType<typeof errorDocument>
      assert.equal(said.exitCode, exitCode)
      assert.equal(typeof said.retryable, 'boolean')
      assert.match(said.code, /^[A-Z_]+$/)
      assert.equal(said.message, told(error))
    }
  })

  it('spells commands as the user types them', () => {
    const typing = { program: 'npx bezel', options: ['--as trader-2'] }
    const { error } = errorDocument(refusal('AGENT_UNKNOWN'), typing)
    assert.match(error.message, /: npx bezel agent authorise --as trader-2$/)
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
    assert.deepEqual(errorDocument(INTERRUPTED).error.details, {
      orders: [],
      undone: [order('open')],
      leftOut: [],
      txHashes: [HASH],
    })
  })
})
