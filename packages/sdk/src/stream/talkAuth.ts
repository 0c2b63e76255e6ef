import { BezelConfigError } from '../errors/bezelError.ts'
import type { AuthMessage } from '../signing/signRequest.ts'
import type { Kept } from './topic.ts'
import { isPassing } from './streamError.ts'

/** The credentials of one socket, sent when the first private subscription needs them. */
interface TalkAuth {
  readonly isProven: boolean
  /** Holds a subscription until the credentials are accepted. */
  wait(kept: Kept): void
  forget(kept: Kept): void
  proven(): void
  refused(error: Error & { readonly code: string }): void
  /** Notes that accepted credentials are no longer valid. */
  lost(): void
  /** Returns true when an error of this code is about credentials, whatever was asked before. */
  isAboutCredentials(code: string): boolean
  close(): void
}

interface TalkAuthOptions {
  readonly authenticate: (() => Promise<AuthMessage>) | undefined
  readonly ask: (message: AuthMessage) => void
  readonly later: (action: () => void) => void
  readonly onProven: (waiting: readonly Kept[]) => void
}

const CREDENTIAL_CODES: ReadonlySet<string> = new Set([
  'INVALID_SIGNATURE',
  'TIMESTAMP_OUT_OF_WINDOW',
  'NONCE_REUSED',
  'AGENT_UNKNOWN',
  'API_KEY_UNKNOWN',
  'AGENT_NOT_DELEGATED',
  'AGENT_EXPIRED',
  'AGENT_REVOKED',
  'TRADER_MISMATCH',
])

/** Tolerated reuses of a nonce. Another program with the same key may have used one; a repetition is no accident. */
const MAX_REUSED_NONCES = 3

/** Creates the handling of credentials on one socket. */
export function createTalkAuth(options: TalkAuthOptions): TalkAuth {
  const waiting = new Set<Kept>()
  let state: 'none' | 'underway' | 'proven' | 'closed' = 'none'
  let reusedNonces = 0

  async function begin(): Promise<void> {
    if (state !== 'none' || waiting.size === 0) return
    state = 'underway'
    try {
      const message = await authMessage()
      if (state === 'underway') options.ask(message)
    } catch (error) {
      // The wallet did not sign, or the service could not be asked for its signing domain.
      failed(error)
    }
  }

  /** Creates the message asynchronously, because a caller must hold its subscription before it can fail. */
  async function authMessage(): Promise<AuthMessage> {
    if (options.authenticate === undefined) throw noCredentials()
    return options.authenticate()
  }

  function failed(error: unknown): void {
    if (state === 'closed') return
    state = 'none'
    if (isPassing(error)) options.later(() => void begin())
    else failAll(error)
  }

  function failAll(error: unknown): void {
    const all = [...waiting]
    waiting.clear()
    for (const kept of all) kept.fail(error)
  }

  return {
    get isProven() {
      return state === 'proven'
    },
    wait(kept) {
      waiting.add(kept)
      void begin()
    },
    forget: (kept) => void waiting.delete(kept),
    proven() {
      state = 'proven'
      reusedNonces = 0
      const all = [...waiting]
      waiting.clear()
      options.onProven(all)
    },
    refused(error) {
      if (error.code === 'NONCE_REUSED') reusedNonces += 1
      if (error.code !== 'NONCE_REUSED' || reusedNonces > MAX_REUSED_NONCES) return failed(error)
      state = 'none'
      options.later(() => void begin())
    },
    lost() {
      state = 'none'
    },
    isAboutCredentials: (code) => CREDENTIAL_CODES.has(code),
    close() {
      state = 'closed'
      waiting.clear()
    },
  }
}

function noCredentials(): Error {
  return new BezelConfigError(
    'NO_CREDENTIALS',
    'This channel is private, and the client has neither an agent nor an API key: create it with one of them.',
  )
}
