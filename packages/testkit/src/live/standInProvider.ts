import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { createBillCounter, type BillCounter, type BilledCounts } from './providerCounts.ts'
import {
  GIANT_BYTES,
  isStruck,
  refuseItems,
  replyInstead,
  replyWith,
  spoilAnswers,
  type StandInFault,
  type StandInReply,
  type SocketFault,
} from './providerFaults.ts'
import { createLimitKeeper, type StandInLimits } from './providerLimits.ts'
import { parseStandInCalls, type JsonFields, type StandInAnswer, type StandInCall } from './providerRpc.ts'
import { serveProviderSocket } from './providerSocket.ts'
import { createStandInUpstream, type StandInUpstream } from './providerUpstream.ts'
import { createShownChain, type ShownChain } from './shownChain.ts'

/** A commercial provider in front of a real node: it counts, has limits, and fails as it is told to. */
export interface StandInProvider {
  readonly url: string
  readonly wsUrl: string
  /** Returns the counts since the start or the last reset. */
  counts(): BilledCounts
  resetCounts(): void
  /** Returns the number of connected WebSockets. */
  openSockets(): number
  /** Sets the fault of requests. Resolves when the chain that a fault shows is known. */
  setFault(fault: StandInFault): Promise<void>
  /** Sets the fault of WebSockets; `cut` ends those that are open. */
  setSocketFault(fault: SocketFault): void
  setLimits(limits: StandInLimits): void
  close(): Promise<void>
}

/** The options of a stand-in provider. */
interface StandInProviderOptions {
  /** HTTP address of the real node. */
  readonly target: string
  /** WebSocket address of the real node. Default: the HTTP address with another scheme. */
  readonly wsTarget?: string
  readonly limits?: StandInLimits
  /** The clock by which compute units come back, in ms. Default: that of the process. */
  readonly nowMs?: () => number
}

const PARSE_ERROR = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}'
const CHUNK = Buffer.alloc(1024 * 1024, ' ')

/** Starts a provider without faults. */
export async function startStandInProvider(options: StandInProviderOptions): Promise<StandInProvider> {
  const { target, wsTarget = target.replace(/^http/, 'ws') } = options
  const counter = createBillCounter()
  const replies = createReplies(options, counter)
  let socketFault: SocketFault = { kind: 'none' }

  const server = createServer((request, response) => {
    void answerRequest(request, response, replies.reply).catch(() => request.socket.destroy())
  })
  const sockets = new WebSocketServer({ server, verifyClient: () => socketFault.kind !== 'cut' })
  sockets.on('connection', (socket) =>
    serveProviderSocket(socket, {
      upstreamUrl: wsTarget,
      fault: () => socketFault,
      reply: replies.reply,
      shownHead: replies.shownHead,
      onSubscribe(method, isAnswered) {
        counter.countRequest()
        if (isAnswered) counter.countAnswered([method])
      },
      onPush: counter.countPush,
    }),
  )
  const cutSockets = (): void => sockets.clients.forEach((socket) => socket.terminate())

  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const authority = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${authority}`,
    wsUrl: `ws://${authority}`,
    counts: counter.counts,
    resetCounts: counter.reset,
    openSockets: () => sockets.clients.size,
    setFault: replies.setFault,
    setLimits: replies.setLimits,
    setSocketFault(fault) {
      socketFault = fault
      if (fault.kind === 'cut') cutSockets()
    },
    close: () =>
      new Promise((closed) => {
        cutSockets()
        sockets.close()
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

/** The part of a provider that answers requests, however they come. */
interface Replies extends Pick<StandInProvider, 'setFault' | 'setLimits'> {
  reply(text: string): Promise<StandInReply>
  /** Returns the head to push in place of a true one; `undefined` for none. */
  shownHead(header: JsonFields): JsonFields | undefined
}

/** The fault of the moment, the chain that it shows, and the number of requests since it was set. */
interface Ill {
  readonly fault: StandInFault
  readonly chain: ShownChain | undefined
  requests: number
}

function createReplies(options: StandInProviderOptions, counter: BillCounter): Replies {
  const { target, limits: firstLimits = {}, nowMs = () => performance.now() } = options
  const upstream = createStandInUpstream(target)
  let keeper = createLimitKeeper(firstLimits, nowMs)
  let ill: Ill = { fault: { kind: 'none' }, chain: undefined, requests: 0 }

  async function answerAll(
    calls: readonly StandInCall[],
    refused: ReadonlyMap<StandInCall, StandInAnswer>,
    chain: ShownChain | undefined,
  ): Promise<StandInAnswer[]> {
    const willing = calls.filter((call) => !refused.has(call))
    counter.countAnswered(willing.map(({ method }) => method))
    const answered = await (chain?.answer(willing, upstream.answer) ?? upstream.answer(willing))
    const byCall = new Map(willing.map((call, at) => [call, keeper.bounded(call, answered[at]!)]))
    return calls.map((call) => refused.get(call) ?? byCall.get(call)!)
  }

  return {
    async reply(text) {
      counter.countRequest()
      ill.requests += 1
      const { chain } = ill
      const fault: StandInFault = isStruck(ill.fault, ill.requests) ? ill.fault : { kind: 'none' }
      const instead = replyInstead(fault)
      if (instead !== undefined) return instead
      const asked = parseStandInCalls(text)
      if (asked === undefined) return { end: 'whole', status: 200, text: PARSE_ERROR }
      const { calls, isBatch } = asked
      const decision = await keeper.decide(calls, upstream.head)
      if ('whole' in decision) {
        counter.countRefused(calls.length)
        return { end: 'whole', ...decision.whole }
      }
      const refused = new Map([...decision.refused, ...refuseItems(fault, calls)])
      counter.countRefused(refused.size)
      const spoilt = spoilAnswers(fault, calls, await answerAll(calls, refused, chain))
      return replyWith(fault, JSON.stringify(isBatch ? spoilt : (spoilt[0] ?? {})))
    },
    shownHead: (header) => (ill.chain === undefined ? header : ill.chain.head(header)),
    async setFault(fault) {
      ill = { fault, chain: await shownBy(fault, upstream), requests: 0 }
    },
    setLimits: (limits) => void (keeper = createLimitKeeper(limits, nowMs)),
  }
}

async function shownBy(fault: StandInFault, upstream: StandInUpstream): Promise<ShownChain | undefined> {
  if (fault.kind === 'staleHead') {
    const lastTrue = Math.max(0, (await upstream.head()) - fault.behind)
    return createShownChain({ upstream, lastTrue, above: fault.refuses ? 'refusal' : 'nothing' })
  }
  if (fault.kind !== 'otherBranch') return undefined
  const lastTrue = Math.max(0, (await upstream.head()) - fault.depth)
  return createShownChain({ upstream, lastTrue, above: 'otherBranch' })
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  reply: (text: string) => Promise<StandInReply>,
): Promise<void> {
  let asked = ''
  for await (const chunk of request) asked += String(chunk)
  const answer = await reply(asked)
  if (answer.end === 'never') return
  if (answer.end === 'noAnswer') return void request.socket.destroy()
  if (!('text' in answer)) return sendGiant(response)
  const { status, headers = {}, text, end } = answer
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  if (end === 'whole') return void response.end(text)
  response.write(text.slice(0, Math.ceil(text.length / 2)), () => response.destroy())
}

/** Sends blanks until the client has cut the answer off, or has them all. */
function sendGiant(response: ServerResponse): void {
  let left = GIANT_BYTES
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= CHUNK.length
      if (!response.write(CHUNK)) return void response.once('drain', more)
    }
    response.end('[]')
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  more()
}
