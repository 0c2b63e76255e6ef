import { createServer, request, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { until } from '../until.ts'

/** A node behind a front. */
export interface FrontNode {
  readonly url: string
  /** True for a node that serves actions of the facade. */
  readonly isRelayer: boolean
}

/** A front that sends each request to another node than the one before. */
export interface Front {
  readonly url: string
  /** Sends a node nothing new. Resolves when it has answered everything that it was sent; its sockets stay. */
  drain(node: number): Promise<void>
  /** Sends a node requests again after `drain`. */
  admit(node: number): void
  close(): Promise<void>
}

/** Actions of the facade, which only nodes with the key of the relayer serve. */
const RELAYED_PATH = /^\/hl\/[^/]+\/(?:exchange|ws)(?:\?|$)/

/**
 * Starts a front on a free port: round robin over all nodes for every request and every socket, as a load balancer that
 * knows nothing of clients. A node that refuses the connection is passed over.
 */
export async function startFront(nodes: readonly FrontNode[]): Promise<Front> {
  const sockets = new Set<Socket>()
  const drained = new Set<FrontNode>()
  /** The number of requests that each node is answering. */
  const underWay = new Map<FrontNode, number>()
  const count = (node: FrontNode, by: number): void => void underWay.set(node, (underWay.get(node) ?? 0) + by)
  let turn = 0

  /** Returns the nodes that may serve a path, the next one first. */
  function nodesFor(path: string): readonly FrontNode[] {
    const able = nodes.filter((node) => !drained.has(node) && (node.isRelayer || !RELAYED_PATH.test(path)))
    turn += 1
    return able.map((_, at) => able[(turn + at) % able.length]!)
  }

  const server = createServer((incoming, answer) => {
    const body: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => body.push(chunk))
    incoming.on('end', () => pass(incoming, Buffer.concat(body), { answer, nodes: nodesFor(incoming.url!), count }))
    incoming.on('error', () => answer.destroy())
  })
  server.on('upgrade', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    const { port } = new URL(nodesFor(incoming.url!)[0]!.url)
    const upstream = connect({ host: '127.0.0.1', port: Number(port), noDelay: true })
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    upstream.on('connect', () => {
      upstream.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${headerLines(incoming.rawHeaders)}\r\n\r\n`)
      upstream.write(head)
      client.pipe(upstream).pipe(client)
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async drain(at) {
      const node = nodes[at]!
      drained.add(node)
      await until('the node has answered everything', () => (underWay.get(node) ?? 0) === 0)
    },
    admit: (at) => void drained.delete(nodes[at]!),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function headerLines(raw: readonly string[]): string {
  return Array.from({ length: raw.length / 2 }, (_, at) => `${raw[2 * at]}: ${raw[2 * at + 1]}`).join('\r\n')
}

/** The way of a request: to whom it may be passed, and how what is under way is counted. */
interface Passing {
  readonly answer: ServerResponse
  readonly nodes: readonly FrontNode[]
  count(node: FrontNode, by: number): void
}

/** Passes a request on to the first node that takes the connection. */
function pass(incoming: IncomingMessage, body: Buffer, { answer, nodes, count }: Passing): void {
  const [node, ...others] = nodes
  if (node === undefined) {
    answer.writeHead(502).end()
    return
  }
  const headers: OutgoingHttpHeaders = { ...incoming.headers, connection: 'close' }
  count(node, 1)
  const upstream = request(node.url + incoming.url, { method: incoming.method, headers }, (found) => {
    answer.writeHead(found.statusCode!, found.headers)
    found.pipe(answer)
    found.on('error', () => answer.destroy())
  })
  upstream.on('close', () => count(node, -1))
  upstream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNREFUSED') pass(incoming, body, { answer, nodes: others, count })
    else answer.destroy()
  })
  upstream.end(body)
}
