import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Hex } from '@bezel/protocol'
import { sendOutcomeOf, type SendOutcome } from './nodeAnswers.ts'

const HASH = `0x${'ab'.repeat(32)}` as Hex

// Error messages of geth, its descendants, roll-up nodes and the local chain.
const SENTENCES: readonly (readonly [string, SendOutcome])[] = [
  ['already known', 'taken'],
  ['ALREADY_EXISTS: already known', 'taken'],
  ['Known transaction: 0xabab', 'taken'],
  ['Transaction with the same hash was already imported.', 'taken'],
  ['nonce too low', 'nonce_used'],
  ['nonce too low: next nonce 12, tx nonce 11', 'nonce_used'],
  ['Transaction nonce is too low. Try incrementing the nonce.', 'nonce_used'],
  ['insufficient funds for gas * price + value: balance 1, tx cost 2', 'no_funds'],
  ['replacement transaction underpriced', 'underpriced'],
  ['transaction underpriced: tip needed 25000000000, tip permitted 1', 'underpriced'],
  ['max fee per gas less than block base fee: address 0x, maxFeePerGas: 1 baseFee: 2', 'underpriced'],
  ['FeeTooLow, EffectivePriorityFeePerGas too low', 'underpriced'],
  ['nonce too high', 'refused'],
  ['txpool is full', 'refused'],
  ['intrinsic gas too low: gas 1, minimum needed 2', 'hopeless'],
  ['exceeds block gas limit', 'hopeless'],
  ['internal error', 'refused'],
]

it('what nodes say to a transaction is understood', () => {
  for (const [message, expected] of SENTENCES) {
    assert.equal(sendOutcomeOf({ ok: false, code: -32000, message, data: undefined }, HASH), expected, message)
  }
  assert.equal(sendOutcomeOf({ ok: true, result: HASH.toUpperCase().replace('0X', '0x') }, HASH), 'taken')
  for (const result of [null, '0x', `0x${'00'.repeat(32)}`, true]) {
    assert.equal(sendOutcomeOf({ ok: true, result }, HASH), 'refused')
  }
})
