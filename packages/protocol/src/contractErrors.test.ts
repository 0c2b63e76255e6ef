import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { diamondAbi } from './abi/diamondAbi.ts'
import vectors from './abi/diamondAbi.vectors.json' with { type: 'json' }
import { CONTRACT_ERRORS, explainContractError, tokenErrorsAbi } from './contractErrors.ts'

const namesOf = (abi: readonly { readonly type: string; readonly name?: string }[]): string[] =>
  abi.filter(({ type }) => type === 'error').map(({ name }) => name ?? assert.fail('an error has a name'))

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
