import type { IncomingMessage } from 'node:http'
import type { ApiError, CLIENT_MESSAGES } from '@bezel/protocol'
import type { Static } from '@sinclair/typebox'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { Caller } from '../../access/caller.ts'

export type AuthMessage = Static<typeof CLIENT_MESSAGES.authAgent> | Static<typeof CLIENT_MESSAGES.authKey>

/** Finds out who is at the other end of a socket. Throws an `ApiError` with the codes of the REST operations. */
export interface StreamAuth {
  /** Why a caller may no longer listen, from memory; `undefined` while it may. */
  lapseOf(chain: ServedChain, caller: Caller): ApiError | undefined
  /** By the `auth` message. */
  authenticate(chain: ServedChain, message: AuthMessage): Promise<Caller>
  /** By the headers of the upgrade request; `undefined` when it carries no credentials. */
  authenticateUpgrade(chain: ServedChain, request: IncomingMessage): Promise<Caller | undefined>
}
