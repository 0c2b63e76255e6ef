import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { it } from 'node:test'
import { createLogStream } from './logStream.ts'

const LINE = 'x'.repeat(64 * 1024)

it('loses lines while its reader hangs, and writes again once there is one', () => {
  const taken: (() => void)[] = []
  let lines = 0
  const target = new Writable({
    write(_chunk, _encoding, done) {
      lines += 1
      taken.push(done)
    },
  })
  const stream = createLogStream(target)
  for (let n = 0; n < 1_000; n += 1) stream.write(LINE)
  assert.ok(target.writableLength < 5 * 1024 * 1024, `${target.writableLength} bytes wait`)
  const lost = stream.lost()
  assert.ok(lost > 900, `${lost} lines were lost`)
  while (taken.length > 0) taken.shift()!()
  stream.write('hello')
  assert.deepEqual([lines, stream.lost()], [1_000 - lost + 1, lost])
})

it('counts what its target refuses, and listens to its errors once', async () => {
  const target = new Writable({
    autoDestroy: false,
    write: (_chunk, _encoding, done) => done(new Error('ENOSPC')),
  })
  const streams = [createLogStream(target), createLogStream(target)]
  for (const stream of streams) stream.write('lost\n')
  await new Promise(setImmediate)
  assert.deepEqual(
    streams.map((stream) => stream.lost()),
    [1, 1],
  )
  assert.equal(target.listenerCount('error'), 1)
})
