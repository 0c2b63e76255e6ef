import { NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { revertData, parseRpcAnswer, type RpcOutcome } from './rpcClient.ts'

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

  it('says the node did not answer when it talks nonsense', () => {
    const twice = '[{"id":0,"result":1},{"id":0,"result":2}]'
    for (const text of ['', '<html>', '{"id":0,"result":1}', '"x"', twice]) {
      assert.throws(() => parseRpcAnswer(text, 1), NodeUnavailableError, text)
    }
  })

  it('leaves a hole where a call was left out', () => {
    for (const text of ['[]', '[null]', '[{"id":"0","result":1}]', '[{"id":0}]', '[[]]', '[{"id":7,"result":1}]']) {
      assert.deepEqual(parseRpcAnswer(text, 1), [undefined], text)
    }
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
