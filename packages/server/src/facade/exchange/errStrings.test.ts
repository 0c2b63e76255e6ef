import { ApiError, ERRORS, type ErrorCode } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RelayRefusedError } from '../relayer/gasBudget.ts'
import { anyText, reasonText, refusalText, ExchangeErr } from './errStrings.ts'
import { SIGNER } from './testing/exchangeWorld.ts'

const of = { agent: SIGNER }

const text = (code: ErrorCode, details?: Record<string, unknown>, message = 'why.'): string | undefined =>
  refusalText(new ApiError(code, message, details), of)

describe('the texts of refusals', () => {
  it('are there for every code below 500, and for no other', () => {
    for (const [code, { status }] of Object.entries(ERRORS)) {
      assert.equal(text(code as ErrorCode) === undefined, status >= 500, code)
    }
    assert.equal(refusalText(new Error('a bug'), of), undefined)
  })

  it('start as clients match them', () => {
    const expected: readonly (readonly [ErrorCode, Record<string, unknown> | undefined, string])[] = [
      ['PRECISION_ERROR', { field: 'price' }, 'Price must be divisible by tick size.'],
      ['PRECISION_ERROR', { field: 'tp' }, 'Price must be divisible by tick size.'],
      ['PRECISION_ERROR', { field: 'size' }, 'Order has invalid size'],
      [
        'SIZE_BELOW_MINIMUM',
        { minPositionUsd: '1500', minCollateralUsd: '15' },
        'Order must have minimum value of $10: here it is 1500 USD',
      ],
      ['POSITION_NOT_FOUND', undefined, 'Reduce only order would increase position.'],
      ['MARKET_CLOSED', undefined, 'No liquidity available for market order.'],
      ['ORDER_NOT_FOUND', undefined, 'Order was never placed, already canceled, or filled.'],
      ['ORDER_NOT_MODIFIABLE', { status: 'pending' }, 'Order is being executed and cannot be canceled.'],
      ['ORDER_NOT_MODIFIABLE', { status: 'filled' }, 'Order was never placed, already canceled, or filled.'],
      ['ORDER_NOT_MODIFIABLE', { status: 'open' }, 'Order changed a moment ago'],
      ['SIMULATION_REVERTED', { needed: '600' }, 'Insufficient margin to place order.'],
      ['SIMULATION_REVERTED', { errorName: 'TradeSlInvalid' }, 'Invalid TP/SL price.'],
      ['SIMULATION_REVERTED', { errorName: 'PriceImpactTooHigh' }, 'No liquidity available for market order.'],
      [
        'SIMULATION_REVERTED',
        { errorName: 'ConflictingPendingOrder' },
        'Order is being executed and cannot be canceled.',
      ],
      ['SIMULATION_REVERTED', { errorName: 'Unheard' }, 'why.'],
      ['SIMULATION_REVERTED', { errorName: null }, 'why.'],
      ['RATE_LIMITED', undefined, 'Too many cumulative requests sent'],
      ['IDEMPOTENCY_CONFLICT', undefined, 'Duplicate cloid'],
      ['AGENT_UNKNOWN', undefined, `User or API Wallet ${SIGNER.toLowerCase()} does not exist.`],
      [
        'AGENT_NOT_DELEGATED',
        undefined,
        `L1 error: API Wallet ${SIGNER.toLowerCase()} is not yet the on-chain delegate of its user. `,
      ],
    ]
    for (const [code, details, start] of expected) {
      const said = text(code, details)
      assert.ok(said?.startsWith(start), `${code}: ${said}`)
    }
    assert.match(text('VALIDATION_ERROR', undefined, 'body.size must be above 0.')!, /^Order has invalid size/)
    assert.match(text('VALIDATION_ERROR', undefined, 'body.price must be above 0.')!, /^Order has invalid price\./)
  })

  it('carry the approval that is missing', () => {
    const approvalTx = { to: SIGNER, data: '0x095ea7b3', chainId: 1 }
    assert.equal(
      text('SIMULATION_REVERTED', { errorName: null, needed: '600', approvalTx }),
      `Insufficient margin to place order. why. approvalTx: to ${SIGNER} data 0x095ea7b3`,
    )
  })

  it('are those of the facade and of the relayer as they are', () => {
    assert.equal(refusalText(new ExchangeErr('no'), of), 'no')
    assert.equal(refusalText(new RelayRefusedError('busy', 'later'), of), 'later')
  })

  it('say something of everything where something must be said', () => {
    assert.equal(anyText(new ApiError('NOT_READY', 'The service is starting.'), of), 'The service is starting.')
    assert.equal(anyText(new Error('a bug'), of), 'The service could not take this now. Retry.')
  })

  it('say why the chain refused', () => {
    assert.equal(reasonText('SLIPPAGE'), 'Order could not immediately match against any resting orders.')
    assert.equal(reasonText(null), 'Order was rejected by the contracts.')
  })
})
