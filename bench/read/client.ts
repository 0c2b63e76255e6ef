import { signGets, type Signer } from '../client/signGets.ts'
import { exchange, openSocket } from '../client/socket.ts'

// The client of bench/read.ts, in a process of its own. It counts the answers within a given time, one request at a
// time on each connection.

/** A job for the client. */
export interface ReadJob {
  readonly port: number
  readonly path: string
  readonly connections: number
  readonly forMs: number
  /** Signs the requests of a private read. */
  readonly signer?: Signer
  /** Body of a read by POST. */
  readonly body?: string
}

export interface ReadResult {
  readonly perSecond: number
  /** The first answer with a status other than 200, if any. */
  readonly error: string | undefined
}

/** Signed requests made per ms of a round: more than any server here answers. A round that uses them up ends early. */
const SIGNED_PER_MS = 8

process.on('message', async (job: ReadJob) => {
  process.send?.(await runJob(job))
})

async function runJob(job: ReadJob): Promise<ReadResult> {
  const { port, connections, forMs } = job
  const nextRequest = requestsOf(job)
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(port)))
  const started = performance.now()
  let answers = 0
  let error: string | undefined
  await Promise.all(
    sockets.map(async (socket) => {
      while (performance.now() - started < forMs) {
        const request = nextRequest()
        if (request === undefined) return
        const answer = await exchange(socket, request)
        answers += 1
        if (!answer.subarray(0, 12).equals(OK)) error ??= answer.toString('utf8').slice(0, 600)
      }
    }),
  )
  const perSecond = (answers / (performance.now() - started)) * 1_000
  for (const socket of sockets) socket.destroy()
  return { perSecond, error }
}

/** Returns the source of a round's requests: the same bytes each time, or signed ones made beforehand. */
function requestsOf({ path, forMs, signer, body }: ReadJob): () => Buffer | undefined {
  if (signer !== undefined) {
    const signed = signGets(signer, path, forMs * SIGNED_PER_MS)
    return () => signed.pop()
  }
  const content = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body ?? '')}\r\n`
  const [method, more] = body === undefined ? ['GET', ''] : ['POST', content]
  const request = Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: bench\r\n${more}\r\n${body ?? ''}`)
  return () => request
}

const OK = Buffer.from('HTTP/1.1 200')
