import { NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { revertData } from './revertData.ts'
import { parseRpcAnswer } from './rpcAnswer.ts'
import { type RpcOutcome } from './rpcOutcome.ts'

describe('parseRpcAnswer', () => {
  it('puts answers in the order of the calls, whatever order the node chose', () => {
    const text = '[{"id":1,"result":"b"},{"id":0,"error":{"code":3,"message":"execution reverted","data":"0x01"}}]'
    assert.deepEqual(parseRpcAnswer(text, 2), [
      { ok: false, code: 3, message: 'execution reverted', data: '0x01' },
      { ok: true, result: 'b' },
    ])
  })

  it('takes a null result for an answer', () => {
    assert.deepEqual(parseRpcAnswer('[{"id":0,"result":null}]', 1), [{ ok: true, result: null }])
  })

  it('says the node did not answer when it left out a call or talks nonsense', () => {
    const nonsense = [
      '',
      '<html>',
      '{"id":0,"result":1}',
      '[]',
      '[null]',
      '[{"id":"0","result":1}]',
      '[{"id":0}]',
      '[[]]',
      '"x"',
    ]
    for (const text of nonsense) assert.throws(() => parseRpcAnswer(text, 1), NodeUnavailableError, text)
  })
})

describe('revertData', () => {
  const failed = (data: unknown): RpcOutcome => ({ ok: false, code: 3, message: 'execution reverted', data })

  it('finds the bytes in every shape that nodes use', () => {
    assert.equal(revertData(failed('0xDEADBEEF')), '0xdeadbeef')
    assert.equal(revertData(failed({ data: '0xdeadbeef' })), '0xdeadbeef')
    assert.equal(revertData(failed('Reverted 0xdeadbeef')), '0xdeadbeef')
    assert.equal(revertData(failed('0x')), '0x')
  })

  it('is undefined where there are none', () => {
    for (const data of [undefined, null, 7, {}, { data: 1 }, 'no bytes', '0xabc']) {
      assert.equal(revertData(failed(data)), undefined)
    }
    assert.equal(revertData({ ok: true, result: '0xdeadbeef' }), undefined)
  })
})
