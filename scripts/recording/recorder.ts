import assert from 'node:assert/strict'
import { call, signedHeaders, type Answer } from '@bezel/testkit/agentClient.ts'
import type { SigningDomain } from '@bezel/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { RecordedCall, Recording } from '../../packages/server/src/docs/recorded/recording.ts'

/** The most entries of a list in the recording. */
const MAX_ENTRIES = 2

/** Lists that are kept as a whole. */
const WHOLE: ReadonlySet<string> = new Set([
  'fields',
  'AgentAuthorization',
  'AgentRevocation',
  'ApiKeyIssue',
  'issues',
  'balances',
  'collaterals',
  'notifications',
])

/** A request to record. `signer` signs its headers, `apiKey` is sent in one. */
export interface RecordedRequest {
  readonly operation: string
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly signer?: PrivateKeyAccount
  readonly apiKey?: string
  /** Status that the answer must have. Default 200. */
  readonly status?: number
}

export interface Recorder {
  /** Sends a request and keeps it with its answer. Throws when the answer has another status. */
  ask(request: RecordedRequest): Promise<Answer>
  /** Keeps a message of the WebSocket, unless enough of its kind are kept and it has no other field. */
  keepMessage(id: string, payload: object): void
  recording(): Recording
}

export function createRecorder(url: string, domain: SigningDomain): Recorder {
  const operations: Record<string, RecordedCall[]> = {}
  const messages: Record<string, object[]> = {}
  return {
    async ask({ operation, method = 'GET', path, body, signer, apiKey, status = 200 }) {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const signed = { operation, method, path, ...(text === undefined ? {} : { body: text }) }
      const headers = {
        ...(signer === undefined ? {} : await signedHeaders(domain, signer, signed)),
        ...(apiKey === undefined ? {} : { 'x-service-api-key': apiKey }),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      }
      const answer = await call(url, path, { method, headers, ...(text === undefined ? {} : { body: text }) })
      assert.equal(answer.status, status, `${operation} ${path}: ${JSON.stringify(answer.body)}`)
      const asked = body === undefined ? {} : { body }
      const recorded = { method, path, ...asked, status, answer: cutLists(answer.body) }
      operations[operation] = [...(operations[operation] ?? []), recorded]
      return answer
    },
    keepMessage(id, payload) {
      const kept = (messages[id] ??= [])
      const known = new Set(kept.flatMap(givenFields))
      const isNew = givenFields(payload).some((field) => !known.has(field))
      if (kept.length < MAX_ENTRIES || isNew) kept.push(cutLists(payload) as object)
    },
    recording: () => ({ operations: sorted(operations), messages: sorted(messages) }),
  }
}

/** Returns the fields of a message that have a value. */
function givenFields(message: object): string[] {
  return Object.entries(message).flatMap(([field, value]) => (value === null ? [] : [field]))
}

/** Cuts every list of a value to its first entries. */
function cutLists(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    return (WHOLE.has(key) ? value : value.slice(0, MAX_ENTRIES)).map((entry) => cutLists(entry))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cutLists(inner, name)]))
}

function sorted<Value>(of: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(of).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
