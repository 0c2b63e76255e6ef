import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeErrorResult, parseAbi } from 'viem'
import { diamondAbi } from './abi/diamondAbi.ts'
import vectors from './abi/diamondAbi.vectors.json' with { type: 'json' }
import { CONTRACT_ERRORS, explainContractError, revertReason, tokenErrorsAbi } from './contractErrors.ts'

const namesOf = (abi: readonly { readonly type: string; readonly name?: string }[]): string[] =>
  abi.filter(({ type }) => type === 'error').map(({ name }) => name ?? assert.fail('an error has a name'))

const A_TOKEN = `0x${'a1'.repeat(20)}` as const

describe('CONTRACT_ERRORS', () => {
  it('has every error of the published interface and of tokens, and nothing else', () => {
    const names = [...namesOf(diamondAbi), ...namesOf(tokenErrorsAbi)]
    assert.deepEqual(Object.keys(CONTRACT_ERRORS).toSorted(), names.toSorted())
    assert.deepEqual(
      Object.keys(vectors.errors).filter((name) => !(name in CONTRACT_ERRORS)),
      [],
    )
  })

  it('has words, a cause and a remedy for each: whole sentences, without the name of the error', () => {
    for (const [name, error] of Object.entries(CONTRACT_ERRORS)) {
      for (const sentence of [error.words, error.cause, error.remedy]) {
        assert.match(sentence, /^[A-Z][^.]*(?:\.\d[^.]*)*\.$/, `${name}: ${sentence}`)
        assert.ok(!sentence.includes(name), `${name}: ${sentence}`)
      }
    }
  })

  it('explains names that it knows, and nothing of a prototype', () => {
    assert.match(explainContractError('TradeSlInvalid')!.words, /stop loss is on the wrong side/)
    for (const unknown of [null, '', 'Error', '0x12345678', 'toString', 'constructor', '__proto__']) {
      assert.equal(explainContractError(unknown), undefined)
    }
  })
})

describe('revertReason', () => {
  it('names the errors of the Diamond, of tokens and of the language, and an unknown one by its selector', () => {
    const ofDiamond = encodeErrorResult({ abi: diamondAbi, errorName: 'ConflictingPendingOrder', args: [2] })
    assert.deepEqual(revertReason(ofDiamond), { errorName: 'ConflictingPendingOrder', text: null })
    const token = encodeErrorResult({ abi: tokenErrorsAbi, errorName: 'SafeERC20FailedOperation', args: [A_TOKEN] })
    assert.deepEqual(revertReason(token), { errorName: 'SafeERC20FailedOperation', text: null })
    const said = encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: ['No.'] })
    assert.deepEqual(revertReason(said), { errorName: 'Error', text: 'No.' })
    assert.deepEqual(revertReason('0x12345678'), { errorName: '0x12345678', text: null })
    for (const empty of [undefined, '0x', '0x1234'] as const) {
      assert.deepEqual(revertReason(empty), { errorName: null, text: null })
    }
  })
})
