import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { agentAuthorizationTypedData, apiKeyIssueTypedData, CHAINS, type Agent, type TypedData } from '@bezel/sdk'
import { recoverTypedDataAddress } from 'viem'

/** A service that knows chains, keys and agents, and checks the signatures of wallets as the real one does. */
export interface StandInService {
  readonly url: string
  /** Labels of the keys that are in force. */
  readonly labels: Set<string>
  /** Agents by their address. */
  readonly agents: Map<string, Agent>
  /** Methods and paths that were asked for. */
  readonly asked: string[]
  close(): Promise<void>
}

const CHAIN = 'arbitrum-sepolia'
const { chainId, liveDiamond } = CHAINS[CHAIN]
const domain = { name: 'Test', version: '1', chainId, verifyingContract: liveDiamond } as const

/** Starts the service on a free port. */
export async function startStandInService(): Promise<StandInService> {
  const labels = new Set<string>()
  const agents = new Map<string, Agent>()
  const asked: string[] = []
  let issued = 0

  async function isBy(trader: string, struct: TypedData, signature: `0x${string}`): Promise<boolean> {
    // What is no signature at all can't be recovered.
    const recovered = await recoverTypedDataAddress({ ...struct, signature } as never).catch(() => undefined)
    return recovered === trader
  }

  async function answer(method: string, path: string, body: Body): Promise<readonly [status: number, answer: object]> {
    if (path === '/v1/time') return [200, { timestamp: Date.now() }]
    if (path === `/v1/${CHAIN}`) return [200, { chain: CHAIN, chainId, diamond: liveDiamond, signing: { domain } }]
    const { trader, timestamp, signature } = body
    if (method === 'POST' && path.endsWith('/api-keys')) {
      const isGood = await isBy(trader, apiKeyIssueTypedData(domain, { label: body.label, timestamp }), signature)
      if (!isGood) return refuse(401, 'INVALID_SIGNATURE')
      labels.add(body.label)
      issued += 1
      return [200, { apiKey: `bz_${issued}`, label: body.label, trader }]
    }
    if (method === 'DELETE' && path.includes('/api-keys/')) {
      const label = decodeURIComponent(path.split('/').at(-1)!)
      labels.delete(label)
      return [200, { label, trader: null }]
    }
    if (method === 'POST' && path.endsWith('/agents')) {
      const { agent, name, scope } = body
      const struct = agentAuthorizationTypedData(domain, { agent, name, scope, timestamp })
      if (!(await isBy(trader, struct, signature))) return refuse(401, 'INVALID_SIGNATURE')
      const record: Agent = { agent, trader, name, scope, mode: 'self', status: 'active', createdAt: timestamp }
      agents.set(agent, record)
      return [201, { agent: record, delegationTx: null }]
    }
    return refuse(404, 'NOT_FOUND')
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    asked.push(`${method} ${url}`)
    let text = ''
    for await (const part of request) text += String(part)
    const [status, content] = await answer(method, url, (text === '' ? {} : JSON.parse(text)) as Body)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
  }

  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    labels,
    agents,
    asked,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Body {
  readonly trader: `0x${string}`
  readonly timestamp: number
  readonly signature: `0x${string}`
  readonly label: string
  readonly agent: `0x${string}`
  readonly name: string
  readonly scope: never
}

function refuse(status: number, code: string): readonly [number, object] {
  return [status, { code, message: 'No.' }]
}
