import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

// The client of bench/chain.ts, in a process of its own. It writes ready-made HTTP bytes to bare keep-alive sockets and looks in an answer
// only for its length and for errors, so that what is measured is the server's cost and not the client's.

/** What the benchmark asks for: bodies to POST, spread over some connections, one request at a time on each. */
export interface ClientJob {
  port: number
  path: string
  bodies: string[]
  connections: number
}

export interface ClientResult {
  ms: number
  /** The first error answer seen, if any. */
  error: string | undefined
}

const HEADER_END = Buffer.from('\r\n\r\n')

process.on('message', async (job: ClientJob) => {
  process.send?.(await runJob(job))
})

async function runJob({ port, path, bodies, connections }: ClientJob): Promise<ClientResult> {
  const requests = bodies.map((body) => toHttp(path, body))
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  let next = 0
  let error: string | undefined
  const started = performance.now()
  await Promise.all(
    sockets.map(async (socket) => {
      for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
        const answer = await exchange(socket, request)
        if (answer.includes('"error"')) error ??= answer.toString('utf8').slice(0, 300)
      }
    }),
  )
  const ms = performance.now() - started
  for (const socket of sockets) socket.destroy()
  return { ms, error }
}

function toHttp(path: string, body: string): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.from(head + body)
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

function exchange(socket: Socket, request: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0)
    const onData = (chunk: Buffer): void => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      if (!isComplete(received)) return
      socket.off('data', onData)
      resolve(received)
    }
    socket.on('data', onData)
    socket.write(request)
  })
}

function isComplete(received: Buffer): boolean {
  const headEnd = received.indexOf(HEADER_END)
  if (headEnd < 0) return false
  const length = /content-length: (\d+)/i.exec(received.toString('latin1', 0, headEnd))?.[1]
  return received.length >= headEnd + HEADER_END.length + Number(length)
}
