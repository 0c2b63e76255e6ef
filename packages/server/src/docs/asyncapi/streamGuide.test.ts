import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { CLIENT_MESSAGES, CLOSE_CODES, CONTROL_MESSAGES, DATA_MESSAGES } from '@bezel/protocol'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { WebSocketServer, type WebSocket } from 'ws'
import { DEFAULT_BOUNDS, MAX_LOG_BEHIND_MS } from '../../stream/bounds.ts'

const GUIDE = readFileSync(new URL('../../../../../docs/stream.md', import.meta.url), 'utf8')

const SCHEMAS: readonly TSchema[] = [CLIENT_MESSAGES, CONTROL_MESSAGES, DATA_MESSAGES].flatMap((table) =>
  Object.values<TSchema>(table),
)

function blocksOf(language: string): string[] {
  return [...GUIDE.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text!)
}

describe('the guide to the stream', () => {
  it('shows messages that are messages', () => {
    const lines = blocksOf('json').flatMap((block) => block.trim().split('\n'))
    assert.ok(lines.length >= 12)
    for (const line of lines) {
      const message: unknown = JSON.parse(line)
      assert.ok(
        SCHEMAS.some((schema) => Value.Check(schema, message)),
        line,
      )
    }
  })

  it('tells every close code, and the limits as they are', () => {
    for (const code of Object.values(CLOSE_CODES)) assert.match(GUIDE, new RegExp(`^\\| ${code} \\|`, 'm'))
    const { maxSubscriptions, maxMessageBytes, maxMessagesPerSecond, maxSocketsPerIp } = DEFAULT_BOUNDS
    const limits = `${maxSubscriptions} subscriptions per socket, ${maxMessageBytes} bytes and ${maxMessagesPerSecond} messages a second from the client, ${maxSocketsPerIp} sockets per IP`
    assert.ok(GUIDE.includes(limits))
    assert.ok(GUIDE.includes(`(${DEFAULT_BOUNDS.maxQueuedLatestBytes / 1024} KB)`))
    assert.ok(GUIDE.includes(`not done so for ${MAX_LOG_BEHIND_MS / 1_000} s`))
    assert.ok(GUIDE.includes(`begin within ${DEFAULT_BOUNDS.maxWaitMs / 1_000} s`))
    assert.ok(GUIDE.includes(`closed, so answer`) && GUIDE.includes(`${DEFAULT_BOUNDS.idleMs / 1_000} s`))
  })

  it('has a program that answers pings, and resumes each channel where it was', async () => {
    const [program = ''] = blocksOf('js')
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, BASE: `http://127.0.0.1:${port}`, CHAIN: 'base', API_KEY: 'bz_key' },
    })
    try {
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const first = await openTalk(server)
      await first.say({ op: 'hello', chain: 'base', heartbeatMs: 15_000 })
      assert.deepEqual(await first.hear(), { op: 'subscribe', channel: 'trades', market: 'BTC/USD' })
      assert.deepEqual(await first.hear(), { op: 'auth', apiKey: 'bz_key' })
      await first.say({ op: 'authenticated', trader: `0x${'a1'.repeat(20)}`, via: 'apiKey' })
      for (const channel of ['orders', 'fills', 'positions', 'account']) {
        assert.deepEqual(await first.hear(), { op: 'subscribe', channel })
      }
      await first.say({ op: 'ping', timestamp: 7 })
      assert.deepEqual(await first.hear(), { op: 'pong', timestamp: 7 })
      const log = { timestamp: 1, block: null, reverted: false }
      await first.say({ channel: 'orders', snapshot: true, seq: 16, ...log, data: [] })
      assert.equal((await lines.next()).value, 'orders snapshot 16 []')
      await first.say({ channel: 'positions', snapshot: false, seq: 19, ...log, data: [] })
      assert.equal((await lines.next()).value, 'positions event 19 []')

      const again = openTalk(server)
      first.close(CLOSE_CODES.shutdown)
      const second = await again
      await second.say({ op: 'hello', chain: 'base', heartbeatMs: 15_000 })
      await second.hear()
      await second.hear()
      await second.say({ op: 'authenticated', trader: `0x${'a1'.repeat(20)}`, via: 'apiKey' })
      assert.deepEqual(await second.hear(), { op: 'subscribe', channel: 'orders', fromSeq: 17 })
      assert.deepEqual(await second.hear(), { op: 'subscribe', channel: 'fills' })
      assert.deepEqual(await second.hear(), { op: 'subscribe', channel: 'positions', fromSeq: 20 })
    } finally {
      child.kill()
      for (const socket of server.clients) socket.terminate()
      server.close()
    }
  })
})

/** Waits for the next socket and returns the service's end of it. */
async function openTalk(server: WebSocketServer) {
  const [socket] = (await once(server, 'connection')) as [WebSocket]
  const heard: unknown[] = []
  const waiting: ((message: unknown) => void)[] = []
  socket.on('message', (bytes: Buffer) => {
    const message: unknown = JSON.parse(bytes.toString('utf8'))
    const next = waiting.shift()
    if (next === undefined) heard.push(message)
    else next(message)
  })
  return {
    say: (message: object) => new Promise<void>((done) => socket.send(JSON.stringify(message), () => done())),
    hear: () => (heard.length > 0 ? heard.shift() : new Promise<unknown>((found) => waiting.push(found))),
    close: (code: number) => socket.close(code),
  }
}
