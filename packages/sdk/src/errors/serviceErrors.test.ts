import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ERRORS } from '@bezel/protocol/wire'
import { BezelApiError } from './serviceErrors.ts'

const told = (code: string, message: string, remedy?: string): string =>
  new BezelApiError({ code, message, status: 400, ...(remedy === undefined ? {} : { details: { remedy } }) }).message

describe('the message of a refusal', () => {
  it('names the method that helps, else what the service says to do', () => {
    const usual = ERRORS.SCOPE_LEVERAGE_EXCEEDED.remedy
    assert.match(told('SCOPE_LEVERAGE_EXCEEDED', 'It is above.', usual), /^It is above\. .*\(agents\.authorize\)\.$/)
    assert.equal(told('PRECISION_ERROR', 'Too many.', 'Round it.'), 'Too many. Round it.')
    assert.equal(told('PRECISION_ERROR', 'Too many.'), 'Too many. Change the request before you send it again.')
  })

  it('says what is special about this one rather than what helps usually', () => {
    assert.equal(told('TRADER_MISMATCH', 'It is taken.', 'Send agentSignature.'), 'It is taken. Send agentSignature.')
  })

  it('says nothing twice', () => {
    const message = 'The contracts would revert. Order less.'
    assert.equal(told('SIMULATION_REVERTED', message, 'Order less.'), message)
  })

  it('has advice for a code of a newer service too', () => {
    assert.equal(told('NEW_CODE', 'No.', 'Wait.'), 'No. Wait.')
    assert.equal(told('NEW_CODE', 'No.'), 'No. This code is unknown to this version of the client.')
  })
})
