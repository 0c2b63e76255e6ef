import type { SigningDomain } from '@bezel/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import { setTimeout as sleep } from 'node:timers/promises'
import { call, signedHeaders, type Answer } from '@bezel/testkit/agentClient.ts'
import type { Journal, SignedRequest } from './journal.ts'
import type { KillableService } from './killableService.ts'
import type { SeededRandom } from '@bezel/testkit/seededRandom.ts'

const CHAIN_PATH = '/v1/arbitrum-sepolia'
/** The age beyond which a request may be refused for its timestamp alone. */
export const REPLAY_AGE_MS = 25_000
/** Time between two polls while the service says that it is not ready. */
const NOT_READY_POLL_MS = 25

/** An agent's client that survives crashes of the service. */
export interface CampaignClient {
  readonly agent: PrivateKeyAccount
  readonly trader: PrivateKeyAccount
  /**
   * Sends until an answer comes, each time with a new signature, or sometimes first with the same bytes. `path` starts
   * after the chain.
   */
  ask(operation: string, method: string, path: string, body?: unknown): Promise<Answer>
  /** Returns the same client at another address of the service. */
  at(service: KillableService): CampaignClient
  /** Sends once. `undefined` when no answer came. */
  askOnce(operation: string, method: string, path: string, body?: unknown): Promise<Answer | undefined>
}

export interface CampaignClientOptions {
  readonly service: KillableService
  readonly journal: Journal
  readonly domain: SigningDomain
  readonly trader: PrivateKeyAccount
  readonly agent: PrivateKeyAccount
  readonly random: SeededRandom
}

export function createCampaignClient(options: CampaignClientOptions): CampaignClient {
  const { service, journal, domain, trader, agent, random } = options

  async function sign(operation: string, method: string, path: string, body: unknown): Promise<SignedRequest> {
    const full = CHAIN_PATH + path
    const text = body === undefined ? undefined : JSON.stringify(body)
    const signedAtMs = Date.now()
    const signed = { operation, method, path: full, ...(text === undefined ? {} : { body: text }) }
    const headers = await signedHeaders(domain, agent, signed)
    return { method, path: full, body: text, headers, signedAtMs }
  }

  /** Sends once, and records in the journal everything that is wrong in any answer. */
  async function sendOnce(request: SignedRequest, isFirstUse: boolean): Promise<Answer | undefined> {
    journal.count('requests')
    const answer = await sendSigned(service.url, request)
    if (answer === undefined) {
      journal.count('requests without an answer')
      return undefined
    }
    const { status, body } = answer
    const isNonceReused = status === 401 && body.code === 'NONCE_REUSED'
    // On a busy machine the node of the chain may be too slow, which is told.
    const isSlowNode = status === 502 && body.code === 'UPSTREAM_UNAVAILABLE'
    if (status >= 500 && status !== 503 && !isSlowNode)
      journal.problems.push(`${describe(request)} -> ${status} ${tell(body)}`)
    if (status === 401 && (isFirstUse || !isNonceReused)) {
      journal.problems.push(`${describe(request)} -> 401 ${tell(body)}, ${Date.now() - request.signedAtMs} ms old`)
    }
    if (status === 503) journal.count('not ready')
    else journal.count('answers')
    if (status !== 401 && status !== 503) journal.noteAnswered(request)
    return answer
  }

  /**
   * Sends the same bytes again after no answer came. The request may have been carried out or not; it must be at most
   * once.
   */
  async function repeatBytes(request: SignedRequest): Promise<Answer | undefined> {
    if (Date.now() - request.signedAtMs > REPLAY_AGE_MS) return undefined
    const answer = await sendOnce(request, false)
    if (answer === undefined) return undefined
    journal.count(answer.status === 401 ? 'lost requests that had arrived' : 'lost requests that had not arrived')
    return answer.status === 401 ? undefined : answer
  }

  return {
    agent,
    trader,
    at: (other) => createCampaignClient({ ...options, service: other }),
    async ask(operation, method, path, body) {
      for (;;) {
        const request = await sign(operation, method, path, body)
        let answer = await sendOnce(request, true)
        if (answer === undefined) {
          await service.once(random.chance(0.2) ? 'listening' : 'ready')
          if (random.chance(0.4)) answer = await repeatBytes(request)
        }
        if (answer !== undefined && answer.status !== 503) return answer
        await service.once('ready')
        if (answer !== undefined) await sleep(NOT_READY_POLL_MS)
      }
    },
    async askOnce(operation, method, path, body) {
      return sendOnce(await sign(operation, method, path, body), true)
    },
  }
}

/** Sends a signed request. `undefined` when the connection broke before the whole answer arrived. */
export async function sendSigned(url: string, request: SignedRequest): Promise<Answer | undefined> {
  const { method, path, body, headers } = request
  const content = body === undefined ? {} : { body }
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  return call(url, path, { method, headers: { ...headers, ...type }, ...content }).catch(() => undefined)
}

export function describe({ method, path, body, headers }: SignedRequest): string {
  return `${method} ${path} ${body ?? ''} (nonce ${headers['x-service-nonce']})`
}

function tell(body: unknown): string {
  return JSON.stringify(body)
}
