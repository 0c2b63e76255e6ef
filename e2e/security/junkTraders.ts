import { createRequire } from 'node:module'
import { Agent, request } from 'node:http'
import { randomBytes } from 'node:crypto'
import type { SigningDomain } from '@bezel/protocol'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { agentAuthorization } from '../../packages/server/src/signatures/digests.ts'
import { keccak256 } from '../../packages/server/src/signatures/typedData.ts'

/** The used part of the secp256k1 package, which comes without types. */
interface NativeSigner {
  publicKeyCreate(key: Uint8Array, isCompressed: boolean): Uint8Array
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { readonly signature: Uint8Array; readonly recid: number }
}

const secp256k1 = createRequire(new URL('../../packages/server/package.json', import.meta.url))(
  'secp256k1',
) as NativeSigner

/** A trader without money, who can sign. */
export interface JunkTrader {
  readonly address: string
  readonly key: Uint8Array
}

export function junkTrader(): JunkTrader {
  const key = randomBytes(32)
  const hash = keccak256(secp256k1.publicKeyCreate(key, false).subarray(1))
  return { address: `0x${Buffer.from(hash.subarray(12)).toString('hex')}`, key }
}

/** The body of an authorisation. */
export interface JunkBody {
  readonly agent: string
}

/** Returns the body of an authorisation of an agent that nobody has the key of. */
export function junkAuthorization(domain: SigningDomain, trader: JunkTrader, markets: 'all' | string[]): JunkBody {
  const agent = `0x${randomBytes(20).toString('hex')}` as const
  const timestamp = Date.now()
  const scope = { ...UNLIMITED_SCOPE, markets }
  const digest = agentAuthorization(domain, { ...scope, agent, name: '', timestamp }).digest!
  const { signature, recid } = secp256k1.ecdsaSign(digest, trader.key)
  const text = `0x${Buffer.from(signature).toString('hex')}${recid === 0 ? '1b' : '1c'}`
  const body = { trader: trader.address, agent, scope, name: '', timestamp, signature: text }
  return body
}

/** A place that junk comes from: an address of this machine, or one that a proxy reports. */
export type Origin = { readonly localAddress: string } | { readonly forwardedFor: string }

/** Returns the n-th origin: every other one is an address of the loopback network, the others are IPv6 sites. */
export function originAt(n: number): Origin {
  const [high, low] = [(n >> 8) & 0xff, n & 0xff]
  if (n % 2 === 0) return { localAddress: `127.${1 + ((n >> 16) & 0x7f)}.${high}.${1 + (low % 250)}` }
  return { forwardedFor: `2001:db8:${n.toString(16)}::1` }
}

const agents = new Map<string, Agent>()

/** Sends a body from an origin, and returns the status of the answer. */
export async function postFrom(origin: Origin, url: string, body: object): Promise<number> {
  for (;;) {
    const status = await postOnce(origin, url, body)
    if (status !== undefined) return status
  }
}

/** Sends a body. Returns nothing when the service closed the idle connection just before it was used again. */
function postOnce(origin: Origin, url: string, body: object): Promise<number | undefined> {
  const text = JSON.stringify(body)
  const isLocal = 'localAddress' in origin
  const name = isLocal ? origin.localAddress : 'proxy'
  const agent = agents.get(name) ?? new Agent({ keepAlive: true, maxSockets: isLocal ? 1 : 8 })
  agents.set(name, agent)
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...(isLocal ? {} : { 'x-forwarded-for': origin.forwardedFor }),
  }
  return new Promise((answered, failed) => {
    const local = isLocal ? { localAddress: origin.localAddress } : {}
    const sent = request(url, { method: 'POST', agent, headers, ...local }, (answer) => {
      answer.resume()
      answer.on('end', () => answered(answer.statusCode ?? 0))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (sent.reusedSocket && error.code === 'ECONNRESET') answered(undefined)
      else failed(error)
    })
    sent.end(text)
  })
}

/** Closes all connections. */
export function closeConnections(): void {
  for (const agent of agents.values()) agent.destroy()
  agents.clear()
}
