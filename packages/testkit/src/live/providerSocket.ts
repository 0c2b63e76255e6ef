import { WebSocket } from 'ws'
import type { StandInReply, SocketFault } from './providerFaults.ts'
import { jsonFieldsOf, parseStandInCalls, refuseWith, type JsonFields } from './providerRpc.ts'

/** The provider behind a WebSocket. */
export interface SocketSide {
  /** WebSocket address of the real node, which tells of heads and logs. */
  readonly upstreamUrl: string
  fault(): SocketFault
  /** Answers a message that is no subscription. */
  reply(text: string): Promise<StandInReply>
  /** Returns the head to push in place of a true one; `undefined` for none. */
  shownHead(header: JsonFields): JsonFields | undefined
  /** Counts a message with a subscription, and the call when it is passed on. */
  onSubscribe(method: string, isAnswered: boolean): void
  onPush(): void
}

const SUBSCRIPTIONS: ReadonlySet<string> = new Set(['eth_subscribe', 'eth_unsubscribe'])

/** JSON-RPC code of a method that a plan does not include. */
const NOT_INCLUDED = -32601

/** Serves one WebSocket of a client until either side ends it. */
export function serveProviderSocket(socket: WebSocket, side: SocketSide): void {
  const upstream = new WebSocket(side.upstreamUrl)
  const early: string[] = []
  const held: string[] = []
  let pushes = 0

  function passOn(text: string): void {
    if (upstream.readyState === WebSocket.OPEN) upstream.send(text)
    else early.push(text)
  }

  async function onMessage(text: string): Promise<void> {
    const call = parseStandInCalls(text)?.calls[0]
    if (call === undefined || !SUBSCRIPTIONS.has(call.method)) return send(socket, await side.reply(text))
    const isRefused = side.fault().kind === 'refuses'
    side.onSubscribe(call.method, !isRefused)
    if (!isRefused) return passOn(text)
    socket.send(JSON.stringify(refuseWith(call, NOT_INCLUDED, `${call.method} is not available on this plan`)))
  }

  function push(text: string): void {
    side.onPush()
    socket.send(text)
  }

  function onPushed(text: string): void {
    const fault = side.fault()
    const message = shown(text, side)
    if (message === undefined || fault.kind === 'silent') return
    pushes += 1
    if (fault.kind === 'garbage') return push(pushes % 2 === 0 ? '<html></html>' : garbled(message))
    held.push(message)
    const isLate = fault.kind === 'late' && message.includes('"parentHash"')
    while (held.length > (isLate ? fault.blocks : 0)) push(held.shift()!)
  }

  socket.on('message', (data) => void onMessage(String(data)).catch(() => socket.terminate()))
  upstream.on('open', () => early.forEach((text) => upstream.send(text)))
  upstream.on('message', (data) => {
    const text = String(data)
    if (text.includes('"eth_subscription"')) onPushed(text)
    else socket.send(text)
  })
  for (const [one, other] of [
    [socket, upstream],
    [upstream, socket],
  ] as const) {
    one.on('error', () => undefined)
    one.on('close', () => other.terminate())
  }
}

/** Returns a pushed message as the provider shows it; `undefined` when it shows none. */
function shown(text: string, { shownHead }: SocketSide): string | undefined {
  const message = jsonFieldsOf(JSON.parse(text))
  const params = jsonFieldsOf(message.params)
  const header = jsonFieldsOf(params.result)
  if (header.parentHash === undefined) return text
  const head = shownHead(header)
  if (head === header) return text
  return head && JSON.stringify({ ...message, params: { ...params, result: head } })
}

/** Returns a head whose fields are not what a head has. */
function garbled(text: string): string {
  const message = jsonFieldsOf(JSON.parse(text))
  const result = { number: '0xnonsense', hash: null, parentHash: [], logsBloom: 7 }
  return JSON.stringify({ ...message, params: { ...jsonFieldsOf(message.params), result } })
}

function send(socket: WebSocket, reply: StandInReply): void {
  if (reply.end === 'whole') socket.send(reply.text)
  else if (reply.end !== 'never') socket.terminate()
}
