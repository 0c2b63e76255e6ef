import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { RPC_CODES, errorAnswer, RpcError } from '../chain/jsonRpc.ts'
import { createResponder, type ExtraMethods, respond, type Responder, RPC_LIMITS, frame } from './respond.ts'
import { serveSocket } from './serveSocket.ts'

interface RpcServerOptions {
  /** Chains by the name in their path. */
  chains: ReadonlyMap<string, LocalChain>
  /** Methods beyond the chains' own, for instance bezel_setPrice. */
  methods?: ExtraMethods
}

/** A JSON-RPC server of several chains on one port: POST or WebSocket to `/<slug>`. */
export interface RpcServer {
  /** Serves something else below a prefix, over HTTP and WebSocket. */
  mount(prefix: string, mount: Mount): void
  /**
   * Starts listening and returns the port, also for port 0. Rejects with the system's error, for instance EADDRINUSE.
   */
  listen(port: number, host?: string): Promise<number>
  /** Stops listening and ends all sockets. */
  close(): Promise<void>
}

/** Something else served on the same port below a prefix, such as the price feed. */
interface Mount {
  onRequest(request: IncomingMessage, response: ServerResponse): void
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

interface Mounts {
  add(prefix: string, mount: Mount): void
  find(path: string): Mount | undefined
}

interface Served {
  chain: LocalChain
  responder: Responder
}

interface Context {
  served: ReadonlyMap<string, Served>
  mounts: Mounts
  sockets: WebSocketServer
}

// CORS is open: the console page calls the chain from another origin, and there is nothing here to protect.
const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

const CLOSE_GRACE_MS = 250

// Longer than clients keep an idle connection, so that the client closes it and no request meets a closing socket.
const KEEP_ALIVE_MS = 75_000

/** Creates the server. It does not listen yet. */
export function createRpcServer({ chains, methods = {} }: RpcServerOptions): RpcServer {
  const extra = new Map(Object.entries(methods))
  const served = new Map(
    [...chains].map(([slug, chain]) => [slug, { chain, responder: createResponder(chain, extra) }]),
  )
  const sockets = new WebSocketServer({ noServer: true, maxPayload: RPC_LIMITS.maxBodyBytes, perMessageDeflate: false })
  const context: Context = { served, mounts: createMounts(), sockets }
  const upgraded = new Set<Duplex>()
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    onRequest(context, request, response).catch((error: unknown) => sendFault(response, error))
  })
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket)
    socket.on('close', () => upgraded.delete(socket))
    socket.on('error', () => socket.destroy())
    onUpgrade(context, request, socket, head)
  })
  return {
    mount: context.mounts.add,
    listen: (port, host = '127.0.0.1') => listen(server, port, host),
    close: () => close(server, sockets, upgraded),
  }
}

async function onRequest(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = pathOf(request)
  const mount = context.mounts.find(path)
  if (mount !== undefined) return mount.onRequest(request, response)
  if (request.method === 'OPTIONS') return sendNothing(response)
  if (path === '/' && request.method === 'GET') return sendJson(response, 200, describe(context))
  const target = context.served.get(path.slice(1))
  if (target === undefined) return sendRpcError(response, 404, RPC_CODES.invalidRequest, unknownPath(context, path))
  if (request.method !== 'POST')
    return sendRpcError(response, 405, RPC_CODES.invalidRequest, `POST JSON-RPC to ${path}`)
  await onPost(target.responder, request, response)
}

async function onPost(responder: Responder, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body: string | undefined
  try {
    body = await readBody(request, RPC_LIMITS.maxBodyBytes)
  } catch {
    return // The client went away: nobody to answer.
  }
  if (body === undefined) {
    response.setHeader('connection', 'close')
    const message = `the request is longer than ${RPC_LIMITS.maxBodyBytes} bytes`
    return sendRpcError(response, 413, RPC_CODES.limitExceeded, message)
  }
  const answer = await respond(responder, body)
  if (answer === undefined) sendNothing(response)
  else sendJson(response, 200, answer)
}

function onUpgrade(context: Context, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const path = pathOf(request)
  const mount = context.mounts.find(path)
  if (mount !== undefined) return mount.onUpgrade(request, socket, head)
  const target = context.served.get(path.slice(1))
  if (target === undefined)
    return void socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
  context.sockets.handleUpgrade(request, socket, head, (webSocket) =>
    serveSocket(webSocket, target.chain, target.responder),
  )
}

/** Returns the path without query and without a slash at its end. */
function pathOf(request: IncomingMessage): string {
  const [path = '/'] = (request.url ?? '/').split('?', 1)
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

function describe({ served }: Context): string {
  const chains = [...served].map(([slug, { chain }]) => [slug, { chainId: chain.chainId, path: `/${slug}` }])
  return JSON.stringify({
    service: 'bezel devnet',
    jsonRpc: 'POST or WebSocket to the path of a chain',
    chains: Object.fromEntries(chains),
  })
}

function unknownPath({ served }: Context, path: string): string {
  return `no chain at ${path}; served are ${[...served.keys()].map((slug) => `/${slug}`).join(', ')}`
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function close(server: Server, sockets: WebSocketServer, upgraded: ReadonlySet<Duplex>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  for (const webSocket of sockets.clients) webSocket.close(1001, 'the devnet stops')
  server.closeAllConnections()
  // Gives the close frames a moment to reach their readers.
  const cutOff = setTimeout(() => upgraded.forEach((socket) => socket.destroy()), CLOSE_GRACE_MS)
  return closed.finally(() => clearTimeout(cutOff))
}

/** Sends JSON text. */
function sendJson(response: ServerResponse, status: number, json: string): void {
  // The answers are not cached, and the header costs a few percent of a small one.
  response.sendDate = false
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(json),
    'access-control-allow-origin': '*',
  })
  response.end(json)
}

/** Sends a JSON-RPC error that belongs to no request. */
function sendRpcError(response: ServerResponse, status: number, code: number, message: string): void {
  sendJson(response, status, frame(null, errorAnswer(new RpcError(code, message))))
}

/** Answers without a body: a preflight, or notifications. */
function sendNothing(response: ServerResponse): void {
  response.writeHead(204, CORS_HEADERS)
  response.end()
}

/** Ends a request whose handler threw, with the error while that is still possible. */
function sendFault(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy()
  else sendJson(response, 500, frame(null, errorAnswer(error)))
}

/** Reads a request's body as text; undefined when it is longer than allowed. Rejects when the client goes away. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) chunks.push(chunk)
      else resolve(undefined)
    })
    request.on('end', () => resolve(toText(chunks)))
    request.on('error', reject)
  })
}

function toText(chunks: readonly Buffer[]): string {
  const [first] = chunks
  return chunks.length === 1 && first !== undefined ? first.toString('utf8') : Buffer.concat(chunks).toString('utf8')
}

function createMounts(): Mounts {
  const byPrefix = new Map<string, Mount>()
  return {
    add(prefix, mount) {
      if (!/^(\/[\w-]+)+$/.test(prefix))
        throw new Error(`a mount prefix looks like /feed, not ${JSON.stringify(prefix)}`)
      byPrefix.set(prefix, mount)
    },
    find(path) {
      for (const [prefix, mount] of byPrefix) if (path === prefix || path.startsWith(`${prefix}/`)) return mount
      return undefined
    },
  }
}
