import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  BezelApiError,
  BezelNetworkError,
  BroadcastError,
  ERRORS,
  OrderNotFilledError,
  WrongChainError,
} from '@bezel/sdk'
import { problemOf } from './problem.ts'

const trace = { requestId: 'req-1', docs: '/docs/errors#x' }

function refusal(code: string, message: string, details: Record<string, unknown> = {}) {
  return new BezelApiError({ code, message, status: 400, requestId: 'req-1', details: { ...trace, ...details } })
}

/** Returns an error as wallets throw it. */
function walletError(code: number, message = 'x'): Error {
  return Object.assign(new Error(message), { code })
}

describe('problemOf, of a wallet', () => {
  it('knows a refusal by its code, however deep it is', () => {
    const bare = problemOf({ code: 4001, message: 'User rejected the request.' })
    assert.equal(bare.isRefusedByUser, true)
    assert.match(bare.message, /You refused it in the wallet/)
    const nested = problemOf(new Error('outer', { cause: new Error('inner', { cause: walletError(4001) }) }))
    assert.equal(nested.isRefusedByUser, true)
    assert.equal(problemOf(new BroadcastError(walletError(4001))).isRefusedByUser, true)
  })

  it('knows a refusal by its words, for wallets without the code', () => {
    assert.equal(
      problemOf(new Error('MetaMask Tx Signature: User denied transaction signature.')).isRefusedByUser,
      true,
    )
    assert.equal(problemOf(Object.assign(new Error('x'), { code: 'ACTION_REJECTED' })).isRefusedByUser, true)
  })

  it('says what to do about each other answer', () => {
    for (const code of [-32002, 4100, 4900, 4901, 4902]) {
      const problem = problemOf(walletError(code))
      assert.equal(problem.isRefusedByUser, false)
      assert.ok(problem.remedy !== null && problem.remedy.length > 10, String(code))
    }
  })

  it('knows an account that can not pay for the gas', () => {
    const cause = new Error('insufficient funds for gas * price + value')
    for (const error of [cause, new BroadcastError(cause)]) {
      const { code, remedy } = problemOf(error)
      assert.equal(code, 'NO_GAS')
      assert.match(remedy ?? '', /native coin/)
    }
  })
})

describe('problemOf, of the service', () => {
  it('has a title, and a remedy or a sentence that is one, for every code of the service', () => {
    for (const code of Object.keys(ERRORS)) {
      const { remedy } = ERRORS[code as keyof typeof ERRORS]
      const problem = problemOf(refusal(code, 'It is so.', { remedy }))
      assert.equal(problem.code, code)
      assert.ok(problem.title.length > 3)
      assert.doesNotMatch(`${problem.message} ${problem.remedy}`, /`|details\.|agents\.\w|orders\.\w/, code)
      assert.match(problem.message, /It is so\./)
    }
  })

  it("keeps a remedy of the service that is written for people, and doesn't say it twice", () => {
    const remedy = 'Ask for less than 3.5 USDC.'
    const problem = problemOf(refusal('UNSUPPORTED', 'Too much.', { remedy }))
    assert.equal(problem.message, 'Too much.')
    assert.equal(problem.remedy, remedy)
  })

  it('quotes the numbers of the refusal', () => {
    const bounds = { minLeverage: '1.1', maxLeverage: '150', leverage: '200' }
    assert.match(problemOf(refusal('LEVERAGE_OUT_OF_RANGE', 'No.', bounds)).remedy ?? '', /from 1\.1 to 150/)
    assert.equal(problemOf(refusal('MARKET_NOT_FOUND', 'No.', { nearest: 'BTC/USD' })).remedy, 'Did you mean BTC/USD?')
    assert.match(problemOf(refusal('PRECISION_ERROR', 'No.', { field: 'size', maxDecimals: 4 })).remedy ?? '', /4 dec/)
    const issues = [{ path: '/leverage', message: 'must be a decimal' }]
    assert.match(problemOf(refusal('VALIDATION_ERROR', 'No.', { issues })).remedy ?? '', /leverage must be a decimal/)
  })

  it('names the request of a bug, so that the operator finds it', () => {
    assert.match(problemOf(refusal('INTERNAL', 'A bug.')).message, /req-1/)
  })

  it('keeps a code that is newer than the page', () => {
    const problem = problemOf(refusal('BRAND_NEW', 'It is new.', { remedy: 'Wait for it.' }))
    assert.deepEqual([problem.code, problem.remedy], ['BRAND_NEW', 'Wait for it.'])
  })
})

describe('problemOf, of the SDK and of the network', () => {
  it('leaves out sentences which tell a programmer what to call', () => {
    const error = new BezelNetworkError('TIMEOUT', { method: 'POST', url: 'http://x/v1', what: 'no answer in 10 s' })
    const problem = problemOf(error)
    assert.doesNotMatch(problem.message, /timeoutMs/)
    assert.match(problem.remedy ?? '', /Look at the account/)
    const order = { id: '7', status: 'timed_out', reason: null }
    assert.doesNotMatch(problemOf(new OrderNotFilledError(order as never)).message, /orders\.cancel/)
  })

  it('knows two sides on different chains', () => {
    const problem = problemOf(new WrongChainError({ who: 'The sender', expected: 8453, found: 1 }))
    assert.equal(problem.title, 'Wrong network')
    assert.match(problem.remedy ?? '', /Switch the wallet/)
  })

  it('knows a request of the browser without an answer', () => {
    for (const words of ['Failed to fetch', 'Load failed', 'NetworkError when attempting to fetch resource.']) {
      assert.equal(problemOf(new TypeError(words)).code, 'NETWORK_ERROR')
    }
  })
})

describe('problemOf, of anything else', () => {
  it('takes the sentence of an error of the console as it is', () => {
    const error = Object.assign(new Error('No wallet is connected. Connect one.'), { code: 'NOT_CONNECTED' })
    const problem = problemOf(error)
    assert.deepEqual([problem.message, problem.remedy], ['No wallet is connected. Connect one.', null])
    const late = problemOf(Object.assign(new Error('It took too long.'), { code: 'SIGNED_TOO_LATE' }))
    assert.match(`${late.title}. ${late.remedy}`, /^Signed too late\. Nothing was sent\. Press the button again/)
  })

  it('says something with a next step about what nobody expected', () => {
    for (const thrown of [new Error('boom\n  at x'), 'boom', null, undefined, 7, {}]) {
      const problem = problemOf(thrown)
      assert.ok(problem.message.length > 0)
      assert.match(problem.remedy ?? '', /reload/)
    }
    assert.equal(problemOf(new Error('boom\n  at x')).message, 'boom.')
  })

  it('ends for causes that form a circle', () => {
    const error = new Error('round')
    error.cause = error
    assert.equal(problemOf(error).message, 'round.')
  })
})
