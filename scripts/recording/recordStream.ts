import { signedHeaders } from '@bezel/testkit/agentClient.ts'
import { until } from '@bezel/testkit/until.ts'
import type { CLIENT_MESSAGES, SigningDomain } from '@bezel/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Recorder } from './recorder.ts'

/** The name of a client message. */
type ClientName = keyof typeof CLIENT_MESSAGES

/** A socket whose messages are recorded in both directions. */
export interface RecordedSocket {
  /** Sends a message and waits for an answer of this kind. */
  say(name: ClientName, message: object, answer?: string): Promise<void>
  /** Waits until a message of this id was received. */
  heard(id: string): Promise<void>
  close(): void
}

/** Opens a socket of the stream and records what is said on it. */
export async function openRecordedSocket(url: string, recorder: Recorder): Promise<RecordedSocket> {
  const socket = new WebSocket(url)
  const counts = new Map<string, number>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as {
      readonly op?: string
      readonly channel?: string
      readonly timestamp?: number
    }
    const id = message.op === undefined ? idOf('data', message.channel!) : idOf('control', message.op)
    counts.set(id, (counts.get(id) ?? 0) + 1)
    recorder.keepMessage(id, message)
    if (message.op === 'ping') answerPing(message)
  })
  const answerPing = ({ timestamp }: { readonly timestamp?: number }): void => {
    const pong = { op: 'pong', id: 2, timestamp }
    recorder.keepMessage('clientPong', pong)
    socket.send(JSON.stringify(pong))
  }
  const heard = async (id: string, before = 0): Promise<void> => {
    await until(`a message ${id}`, async () => (counts.get(id) ?? 0) > before)
  }
  await heard('controlHello')
  return {
    async say(name, message, answer) {
      recorder.keepMessage(idOf('client', name), message)
      const before = counts.get(answer ?? '') ?? 0
      socket.send(JSON.stringify(message))
      if (answer !== undefined) await heard(answer, before)
    },
    heard: (id) => heard(id),
    close: () => socket.close(),
  }
}

/** Creates the `auth` message of an agent. */
export async function agentAuth(
  domain: SigningDomain,
  agent: PrivateKeyAccount,
  of: { readonly path: string; readonly trader: string },
): Promise<object> {
  const headers = await signedHeaders(domain, agent, { operation: 'wsAuth', method: 'WS', path: of.path })
  return {
    op: 'auth',
    id: 1,
    agent: headers['x-service-agent'],
    timestamp: headers['x-service-timestamp'],
    nonce: headers['x-service-nonce'],
    signature: headers['x-service-signature'],
    trader: of.trader,
  }
}

function idOf(kind: string, name: string): string {
  return kind + name.charAt(0).toUpperCase() + name.slice(1)
}
