import { connect, type Socket } from 'node:net'
import { STREAM_PATH } from '../stream/streamClient.ts'
import { frameBytes, OPCODES, type FrameTerms } from './frameBytes.ts'
import { CUT_OFF, listenTo, type Hearing } from './hearing.ts'

/** A WebSocket without a library, so that nothing keeps it from misbehaving. */
export interface HostileSocket extends Omit<Hearing, 'answered'> {
  readonly tcp: Socket
  /** Sends a text message. */
  say(message: unknown): void
  frame(terms: FrameTerms): void
  /** Closes properly, and waits for the answer. */
  leave(): Promise<void>
  /** Resolves when the connection is gone, with or without a close frame. */
  gone(): Promise<void>
  destroy(): void
}

const NORMAL = Buffer.from([0x03, 0xe8])

export function upgradeRequest(url: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = {
    host: new URL(url).host,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    ...headers,
  }
  const text = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${STREAM_PATH} HTTP/1.1\r\n${text.join('')}\r\n`
}

export interface HostileOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** True to keep sending after the service has hung up. */
  readonly isStubborn?: boolean
}

/** Opens a bare connection to the service. Ignores errors of the connection. */
export async function openTcp(url: string, { isStubborn = false }: HostileOptions = {}): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const tcp = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: isStubborn })
  tcp.on('error', () => undefined)
  await new Promise<void>((resolve) => {
    tcp.once('connect', () => resolve())
    tcp.once('close', () => resolve())
  })
  return tcp
}

/** Opens a WebSocket. Resolves when the service has answered the upgrade, or broken the connection. */
export async function openHostile(url: string, options: HostileOptions = {}): Promise<HostileSocket> {
  const tcp = await openTcp(url, options)
  const { answered, ...hearing } = listenTo(tcp)
  tcp.write(upgradeRequest(url, options.headers))
  await answered
  const frame = (terms: FrameTerms): void => void tcp.write(frameBytes(terms))
  return {
    ...hearing,
    tcp,
    frame,
    say: (message) =>
      frame({ opcode: OPCODES.text, payload: typeof message === 'string' ? message : JSON.stringify(message) }),
    async leave() {
      frame({ opcode: OPCODES.close, payload: NORMAL })
      await hearing.closed
      tcp.destroy()
    },
    gone: () => endOf(tcp),
    destroy: () => void tcp.destroy(),
  }
}

/** Returns the HTTP text that a connection received before it ended. */
export async function httpAnswer(tcp: Socket): Promise<string> {
  let text = ''
  tcp.on('data', (chunk) => (text += chunk.toString('latin1')))
  await endOf(tcp)
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
  return status === undefined ? CUT_OFF : `HTTP ${status}`
}

async function endOf(tcp: Socket): Promise<void> {
  if (!tcp.destroyed) await new Promise<void>((resolve) => tcp.once('close', () => resolve()))
}
