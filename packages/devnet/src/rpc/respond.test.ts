import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { resultAnswer, RpcError } from '../chain/jsonRpc.ts'
import { respond, type Responder } from './respond.ts'
import type { RpcReply } from './testing/testServer.ts'

const ECHO: Responder = {
  isWrite: (method) => method === 'write',
  run: async (method, params) => {
    if (method === 'fail') throw new RpcError(-32099, 'failed', '0x12')
    return resultAnswer([method, ...params])
  },
}

async function reply<Reply = RpcReply>(text: string): Promise<Reply> {
  return JSON.parse((await respond(ECHO, text)) ?? 'null') as Reply
}

const HOSTILE: [string, number, unknown][] = [
  ['', -32700, null],
  ['nonsense', -32700, null],
  ['{"jsonrpc":"2.0","id":1,"method":"x"', -32700, null],
  ['\u0000', -32700, null],
  ['[', -32700, null],
  ['{"a":'.repeat(50_000), -32700, null],
  ['null', -32600, null],
  ['true', -32600, null],
  ['1', -32600, null],
  ['"text"', -32600, null],
  ['{}', -32600, null],
  ['[]', -32600, null],
  ['{"id":7}', -32600, 7],
  ['{"jsonrpc":"1.0","id":7,"method":"x"}', -32600, 7],
  ['{"jsonrpc":2,"id":7,"method":"x"}', -32600, 7],
  ['{"id":7,"method":"x"}', -32600, 7],
  ['{"jsonrpc":"2.0","id":7}', -32600, 7],
  ['{"jsonrpc":"2.0","id":7,"method":null}', -32600, 7],
  ['{"jsonrpc":"2.0","id":7,"method":["x"]}', -32600, 7],
  ['{"jsonrpc":"2.0","id":{},"method":"x"}', -32600, null],
  ['{"jsonrpc":"2.0","id":[1],"method":"x"}', -32600, null],
  ['{"jsonrpc":"2.0","id":true,"method":"x"}', -32600, null],
  ['{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":1}}', -32602, 7],
  ['{"jsonrpc":"2.0","id":7,"method":"x","params":"a"}', -32602, 7],
  ['{"jsonrpc":"2.0","id":7,"method":"x","params":5}', -32602, 7],
  ['{"__proto__":{"method":"x"},"jsonrpc":"2.0","id":7}', -32600, 7],
  [`[${'1,'.repeat(1_000)}1]`, -32600, null],
  ['{"jsonrpc":"2.0","id":7,"method":"fail"}', -32099, 7],
]

for (const [text, code, id] of HOSTILE) {
  test(`${JSON.stringify(text.slice(0, 60))} is answered with ${code}`, async () => {
    const { jsonrpc, error, ...rest } = await reply(text)
    assert.equal(jsonrpc, '2.0')
    assert.equal(error?.code, code)
    assert.ok((error?.message.length ?? 0) > 5)
    assert.equal(rest.id, id)
  })
}

test('ids come back as they were', async () => {
  for (const id of [0, 1, -5, 1.5, '', 'a"b', null, '\u2028', 9_007_199_254_740_991]) {
    const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'x', params: [] })
    assert.deepEqual(await reply(text), { jsonrpc: '2.0', id, result: ['x'] })
  }
})

test('params may be left out or null', async () => {
  assert.deepEqual((await reply('{"jsonrpc":"2.0","id":1,"method":"x"}')).result, ['x'])
  assert.deepEqual((await reply('{"jsonrpc":"2.0","id":1,"method":"x","params":null}')).result, ['x'])
})

test('a notification is run and not answered, whether it works or not', async () => {
  const ran: string[] = []
  const responder: Responder = { isWrite: () => false, run: async (method) => (ran.push(method), resultAnswer(0)) }
  assert.equal(await respond(responder, '{"jsonrpc":"2.0","method":"one"}'), undefined)
  assert.equal(
    await respond(responder, '[{"jsonrpc":"2.0","method":"two"},{"jsonrpc":"2.0","method":"three"}]'),
    undefined,
  )
  assert.deepEqual(ran, ['one', 'two', 'three'])
  assert.equal(await respond(ECHO, '{"jsonrpc":"2.0","method":"fail"}'), undefined)
})

test('a batch is answered in order, without its notifications, errors in their places', async () => {
  const batch = [
    { jsonrpc: '2.0', id: 3, method: 'a' },
    { jsonrpc: '2.0', method: 'silent' },
    { jsonrpc: '2.0', id: 1, method: 'fail' },
    5,
    { jsonrpc: '2.0', id: 2, method: 'write', params: [1] },
  ]
  const replies = await reply<RpcReply[]>(JSON.stringify(batch))
  assert.deepEqual(
    replies.map(({ id, result, error }) => [id, result ?? error?.code]),
    [
      [3, ['a']],
      [1, -32099],
      [null, -32600],
      [2, ['write', 1]],
    ],
  )
})

test('in a batch, a write waits for the reads before it and the reads after wait for the write', async () => {
  const log: string[] = []
  const responder: Responder = {
    isWrite: (method) => method === 'write',
    async run(method) {
      log.push(`${method} starts`)
      await new Promise(setImmediate)
      log.push(`${method} ends`)
      return resultAnswer(0)
    },
  }
  const batch = ['a', 'b', 'write', 'c'].map((method, id) => ({ jsonrpc: '2.0', id, method }))
  await respond(responder, JSON.stringify(batch))
  assert.deepEqual(log, [
    'a starts',
    'b starts',
    'a ends',
    'b ends',
    'write starts',
    'write ends',
    'c starts',
    'c ends',
  ])
})

test('whatever JSON comes in, a well-formed answer or nothing goes out', async () => {
  const likely = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '1.0', 2),
      id: fc.jsonValue(),
      method: fc.oneof(fc.constantFrom('x', 'fail', 'write'), fc.jsonValue()),
      params: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  const message = fc.oneof(likely, fc.array(likely, { maxLength: 5 }), fc.jsonValue())
  await fc.assert(
    fc.asyncProperty(message, async (value) => {
      const text = await respond(ECHO, JSON.stringify(value))
      const replies = [JSON.parse(text ?? '[]') as RpcReply | RpcReply[]].flat()
      for (const { jsonrpc, id, result, error } of replies) {
        assert.equal(jsonrpc, '2.0')
        assert.ok(id === null || typeof id === 'string' || typeof id === 'number')
        assert.notEqual(result === undefined, error === undefined)
      }
    }),
  )
})

test('text that is no JSON is a parse error, whatever it is', async () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary' }).filter((text) => !isJson(text)),
      async (text) => {
        assert.equal((await reply(text)).error?.code, -32700)
      },
    ),
  )
})

test('a batch whose answers grow too long gets errors for the rest, and runs no more of it', async () => {
  let ran = 0
  const long: Responder = {
    isWrite: () => false,
    run: async () => {
      ran += 1
      return resultAnswer('x'.repeat(1_000_000))
    },
  }
  const batch = Array.from({ length: 1_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_getLogs', params: [] }))
  const text = (await respond(long, JSON.stringify(batch))) ?? ''
  const replies = JSON.parse(text) as RpcReply[]
  assert.deepEqual(
    replies.map(({ id }) => id),
    batch.map(({ id }) => id),
  )
  assert.ok(text.length < 30_000_000)
  assert.ok(ran <= 100, `${ran} requests were run`)
  assert.equal(replies.at(-1)?.error?.code, -32005)
})
