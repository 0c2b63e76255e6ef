import { createRequire } from 'node:module'
import type { Address, SigningDomain } from '@bezel/protocol'
import { authorization, call, send } from '@bezel/testkit/agentClient.ts'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { keccak256 } from '../../packages/server/src/signatures/typedData.ts'
import { requestDigest, type SignedOperation } from '../../packages/server/src/signatures/verifyRequest.ts'
import { exchange, openSocket } from './socket.ts'

/** A request of an agent. `path` is the part after the chain. */
export interface AgentRequest {
  readonly operation: SignedOperation
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

export interface TimedAnswer {
  /** Time from the first byte sent to the last one received. Signing is not included. */
  readonly ms: number
  // oxlint-disable-next-line typescript/no-explicit-any -- a benchmark reads whatever the service sent
  readonly body: any
}

/**
 * A delegated agent of a trader on the local chain. It sends one request at a time on a bare connection and times it.
 */
export interface BenchAgent {
  readonly trader: Address
  readonly agent: Address
  /** Sends a request. Throws when it is refused. */
  ask(request: AgentRequest): Promise<TimedAnswer>
  close(): void
}

interface Secp256k1 {
  readonly ecdsaSign: (digest: Uint8Array, key: Uint8Array) => { signature: Uint8Array; recid: number }
}

const { ecdsaSign } = createRequire(import.meta.url)('secp256k1') as Secp256k1

const CHAIN_PATH = '/v1/arbitrum-sepolia'

let lastNonce = 0

/** Registers `agent-n` for `trader-n` with the service, and makes it the delegate on the chain. */
export async function openBenchAgent(
  of: { readonly devnet: RunningDevnet; readonly chain: ChainClient; readonly url: string },
  n: number,
): Promise<BenchAgent> {
  const { chain, url, devnet } = of
  const [trader, agent] = [chain.account(`trader-${n}`), chain.account(`agent-${n}`)]
  const { domain } = (await call(url, CHAIN_PATH)).body.signing as { domain: SigningDomain }
  const registered = await send(url, 'POST', `${CHAIN_PATH}/agents`, await authorization(domain, trader, agent))
  if (registered.status !== 201) throw new Error(`agent-${n} was refused: ${JSON.stringify(registered.body)}`)
  await chain.send(trader, 'setTradingDelegate', [agent.address])
  let socket = await openSocket(Number(new URL(url).port))
  const key = Buffer.from(devnet.file.accounts.find(({ name }) => name === `agent-${n}`)!.privateKey.slice(2), 'hex')

  return {
    trader: trader.address as Address,
    agent: agent.address as Address,
    async ask(request) {
      // The service closes a connection that nobody has used for some time.
      if (socket.readyState !== 'open') socket = await openSocket(Number(new URL(url).port))
      const bytes = signed(request, { agent: agent.address, key, domain })
      const started = performance.now()
      const answer = (await exchange(socket, bytes)).toString('utf8')
      const ms = performance.now() - started
      if (!/^HTTP\/1\.1 20[01]/.test(answer))
        throw new Error(`${request.operation} was refused: ${answer.slice(0, 900)}`)
      return { ms, body: JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as unknown }
    },
    close: () => void socket.destroy(),
  }
}

/** Returns the bytes of a signed request with a fresh nonce. */
function signed(
  { operation, method, path, body }: AgentRequest,
  by: { readonly agent: string; readonly key: Uint8Array; readonly domain: SigningDomain },
): Buffer {
  lastNonce = Math.max(Date.now() * 1_000, lastNonce + 1)
  const [timestamp, nonce] = [String(Date.now()), String(lastNonce)]
  const text = body === undefined ? '' : JSON.stringify(body)
  const bodyHash = keccak256(Buffer.from(text))
  const full = CHAIN_PATH + path
  const struct = { domain: by.domain, operationId: operation, method, path: full, bodyHash, timestamp, nonce }
  const { signature, recid } = ecdsaSign(requestDigest(struct)!, by.key)
  const content = [`content-type: application/json`, `content-length: ${Buffer.byteLength(text)}`]
  const lines = [
    `${method} ${full} HTTP/1.1`,
    'host: bench',
    `x-service-agent: ${by.agent}`,
    `x-service-timestamp: ${timestamp}`,
    `x-service-nonce: ${nonce}`,
    `x-service-signature: 0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`,
    ...(body === undefined ? [] : content),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`)
}
