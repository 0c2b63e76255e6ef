import { exchange, openSocket } from '../client/socket.ts'

// The client of bench/chain.ts, in a process of its own. It writes ready-made HTTP bytes to bare keep-alive sockets and
// checks only the length of an answer and whether it is an error, so that the server's cost is measured and not the
// client's.

/** A job for the client: bodies to POST, spread over the connections, one request at a time on each. */
export interface ClientJob {
  port: number
  path: string
  bodies: string[]
  connections: number
}

export interface ClientResult {
  ms: number
  /** The first error answer, if any. */
  error: string | undefined
}

process.on('message', async (job: ClientJob) => {
  process.send?.(await runJob(job))
})

async function runJob({ port, path, bodies, connections }: ClientJob): Promise<ClientResult> {
  const requests = bodies.map((body) => toHttp(path, body))
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(port)))
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
