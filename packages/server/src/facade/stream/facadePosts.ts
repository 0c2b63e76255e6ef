import { MALFORMED_TEXT } from '../../access/malformedText.ts'
import type { ApiError } from '@bezel/protocol'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import type { Connection } from '../../stream/connection.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { answerInfo } from '../info/answerInfo.ts'
import { MalformedInfoError } from '../info/malformedInfo.ts'
import type { JsonObject } from './facadeMessage.ts'
import { postText } from './facadeTexts.ts'

/** Answers an envelope as `POST /exchange` does: `body` is JSON with status 200, and else a text. */
export type Exchange = (payload: JsonValue) => Promise<{ readonly status: number; readonly body: unknown }>

/** Requests that come over a socket, each with an id of its client. They do not wait for each other. */
export interface FacadePosts {
  answer(id: number, request: JsonObject): Promise<void>
}

export interface FacadePostsOptions {
  readonly connection: Pick<Connection, 'send'>
  readonly reads: FacadeReads
  readonly exchange: Exchange
  /** Counts one more request of the client's IP. Rejects with `RATE_LIMITED`. */
  readonly charge: () => Promise<void>
  readonly maxPosts: number
  readonly toApiError: (error: unknown) => ApiError
}

const OK = 200
/** How the exchange whose shape this is begins what it says of this; clients know the words. */
const RATE_LIMITED_WORDS = 'Too many cumulative requests sent'

export function createFacadePosts(options: FacadePostsOptions): FacadePosts {
  const { connection, exchange, reads, maxPosts } = options
  let pending = 0

  function refuse(id: number, text: string): void {
    connection.send(postText(id, 'error', JSON.stringify(text)))
  }

  async function info(id: number, payload: JsonValue | undefined): Promise<void> {
    const answer = await answerInfo(payload, reads)
    const type = JSON.stringify((payload as JsonObject).type)
    connection.send(postText(id, 'info', `{"type":${type},"data":${answer.toString('utf8')}}`))
  }

  async function action(id: number, payload: JsonValue | undefined): Promise<void> {
    const { status, body } = await exchange(payload ?? null)
    if (status !== OK) return refuse(id, typeof body === 'string' ? body : JSON.stringify(body))
    connection.send(postText(id, 'action', JSON.stringify(body)))
  }

  async function work(id: number, { type, payload }: JsonObject): Promise<void> {
    await options.charge()
    if (type === 'info') return info(id, payload)
    if (type === 'action') return action(id, payload)
    throw new MalformedInfoError()
  }

  function tell(id: number, { type }: JsonObject, error: unknown): void {
    if (error instanceof MalformedInfoError) return refuse(id, MALFORMED_TEXT)
    const { code, message } = options.toApiError(error)
    const text = code === 'RATE_LIMITED' ? `${RATE_LIMITED_WORDS}: ${message}` : message
    if (type !== 'action') return refuse(id, text)
    // Some clients take an error without a status for an action that was done.
    connection.send(postText(id, 'action', JSON.stringify({ status: 'err', response: text })))
  }

  return {
    async answer(id, request) {
      if (pending >= maxPosts) return refuse(id, `Too many pending post requests id=${id}`)
      pending += 1
      try {
        await work(id, request)
      } catch (error) {
        tell(id, request, error)
      } finally {
        pending -= 1
      }
    },
  }
}
