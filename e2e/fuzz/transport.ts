import { Agent, request as ask, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Header } from './credentials.ts'

/** An answer before any check. */
export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Transport {
  send(of: {
    readonly method: string
    readonly target: string
    readonly headers: readonly Header[]
    readonly body: Uint8Array | undefined
  }): Promise<RawAnswer>
  /** Sends bytes unchanged on a connection of their own. `undefined` when it was closed without an answer. */
  sendBytes(bytes: Uint8Array | string): Promise<RawAnswer | undefined>
  close(): void
}

const TIMEOUT_MS = 120_000

/** Creates a transport over real, kept-alive connections, at most `connections` of them. */
export function createTransport(url: string, connections: number): Transport {
  const { hostname, port, host } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  return {
    send: ({ method, target, headers, body }) =>
      new Promise((resolve, reject) => {
        // The headers are a flat list, because an object can't hold a header twice; node adds none to a list.
        const isChunked = headers.some(([name]) => name === 'Transfer-Encoding')
        // The length is set even without a body: otherwise node sends a POST as an empty chunked body.
        const length: Header[] = isChunked ? [] : [['Content-Length', String(body?.length ?? 0)]]
        const all: Header[] = [['Host', host], ...headers, ...length]
        const options = { agent, hostname, port, method, path: target, headers: all.flat(), timeout: TIMEOUT_MS }
        const sent = ask(options, (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('error', reject)
          answer.on('end', () =>
            resolve({
              status: answer.statusCode!,
              headers: answer.headers,
              body: decoded(answer, Buffer.concat(chunks)),
            }),
          )
        })
        sent.on('error', reject)
        sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
        sent.end(body)
      }),
    sendBytes: (bytes) =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = []
        const socket = connect(Number(port), hostname)
        socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer in time')))
        socket.on('data', (chunk: Buffer) => chunks.push(chunk))
        socket.on('error', (error: NodeJS.ErrnoException) => {
          if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(parseAnswer(Buffer.concat(chunks)))
          else reject(error)
        })
        socket.on('close', () => resolve(parseAnswer(Buffer.concat(chunks))))
        socket.write(bytes)
      }),
    close: () => agent.destroy(),
  }
}

/** Returns the text of a body, decompressed as its header says. */
function decoded({ headers }: IncomingMessage, bytes: Buffer): string {
  const coding = headers['content-encoding']
  const decompress = coding === 'br' ? brotliDecompressSync : coding === 'gzip' ? gunzipSync : undefined
  // An answer to HEAD has the header and no body.
  return (bytes.length === 0 || decompress === undefined ? bytes : decompress(bytes)).toString()
}

/** Parses the last answer on a connection that was closed after it. */
function parseAnswer(bytes: Buffer): RawAnswer | undefined {
  if (bytes.length === 0) return undefined
  const text = bytes.toString('latin1')
  const [head = '', ...rest] = text.slice(text.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const headers = lines
    .map((header) => header.split(/: ?(.*)/s))
    .map(([name = '', value = '']) => [name.toLowerCase(), value])
  return {
    status: Number(line.split(' ')[1]),
    headers: Object.fromEntries(headers) as IncomingHttpHeaders,
    body: Buffer.from(rest.join('\r\n\r\n'), 'latin1').toString(),
  }
}
