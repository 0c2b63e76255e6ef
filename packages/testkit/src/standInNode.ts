import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A JSON-RPC node for tests of bad nodes; `answer` returns the result for each method. */
export interface StandInNode {
  readonly url: string
  /** Methods of the calls received so far. */
  readonly calls: string[]
  answer: (method: string) => unknown
  readonly close: () => Promise<void>
}

interface Call {
  readonly id: number
  readonly method: string
}

/** Returns the answers of a healthy node of a chain, with a contract at every address. */
export function healthyAnswer(chainId: number): (method: string) => unknown {
  return (method) => (method === 'eth_chainId' ? `0x${chainId.toString(16)}` : '0x6001')
}

/** Starts a node. When `answer` throws a string, it is sent as the whole response. */
export async function startStandInNode(answer: (method: string) => unknown): Promise<StandInNode> {
  const calls: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const body = JSON.parse(text) as Call | readonly Call[]
    const answerOne = ({ id, method }: Call): object => {
      calls.push(method)
      return { jsonrpc: '2.0', id, result: node.answer(method) }
    }
    try {
      response.end(JSON.stringify(Array.isArray(body) ? body.map(answerOne) : answerOne(body as Call)))
    } catch (raw) {
      response.end(String(raw))
    }
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const node: StandInNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    answer,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
  return node
}
