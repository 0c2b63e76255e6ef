import { connect } from 'node:net'

/** An HTTP answer parsed from its bytes. */
export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

const WAIT_MS = 120_000

/**
 * Sends bytes unchanged, and reads until the server closes. With `isCut` the connection is cut as soon as they are
 * sent.
 */
export function exchange(url: string, bytes: string | Uint8Array, options: { isCut?: boolean } = {}): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) })
    let text = ''
    socket.setTimeout(WAIT_MS, () => socket.destroy(new Error(`no end of the answer after ${text}`)))
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('close', () => resolve(text))
    // The service may close before everything is sent; what it answered before counts.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error)
    })
    socket.write(bytes, () => {
      if (options.isCut === true) socket.destroy()
    })
  })
}

/** Parses the answers that a connection returned, one after the other. */
export function answersIn(bytes: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`no answer in ${JSON.stringify(rest.slice(0, 200))}`)
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = new Map(lines.map((line) => [nameOf(line), line.slice(line.indexOf(':') + 1).trim()]))
    const length = Number(headers.get('content-length') ?? 0)
    const start = end + 4
    answers.push({ status: Number(first.split(' ')[1]), headers, text: rest.slice(start, start + length) })
    rest = rest.slice(start + length)
  }
  return answers
}

/** Sends one request on its own connection, with a path and headers that no client library would allow. */
export async function rawRequest(
  url: string,
  of: { method: string; path: string; headers?: Record<string, string>; body?: string | Uint8Array },
): Promise<RawAnswer> {
  const body = typeof of.body === 'string' ? Buffer.from(of.body) : of.body
  const headers = {
    host: new URL(url).host,
    connection: 'close',
    ...(body === undefined ? {} : { 'content-length': String(body.length) }),
    ...of.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${of.method} ${of.path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  const [answer] = answersIn(await exchange(url, Buffer.concat([head, body ?? Buffer.alloc(0)])))
  if (answer === undefined) throw new Error(`${of.method} ${of.path.slice(0, 80)} was not answered`)
  return answer
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(':')).toLowerCase()
}
