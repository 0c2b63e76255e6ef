import { MALFORMED_TEXT } from '../../access/answerError.ts'
import type { OverloadGuard } from '../../access/overload.ts'
import { createRowMeter } from '../../access/weights.ts'
import type { ApiError } from '@bezel/protocol'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import type { Connection } from '../../stream/channel.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { answerInfo } from '../info/infoTypes.ts'
import { isOfUser, MalformedInfoError } from '../info/infoRequest.ts'
import { type JsonObject, postText } from './facadeMessages.ts'

/** Answers an envelope like `POST /exchange`: `body` is JSON when the status is 200, and text otherwise. */
export type Exchange = (payload: JsonValue) => Promise<{ readonly status: number; readonly body: unknown }>

/** Requests sent over a socket, each with an id chosen by the client. They run concurrently. */
interface FacadePosts {
  answer(id: number, request: JsonObject): Promise<void>
}

export interface FacadePostsOptions {
  readonly connection: Pick<Connection, 'send'>
  readonly reads: FacadeReads
  /** Waits for what other nodes committed, see `FacadeChannels`. Left out: there are none. */
  readonly settle?: (() => Promise<void>) | undefined
  readonly exchange: Exchange
  /** Charges the client's IP for a request of a weight, by default 1. Rejects with `RATE_LIMITED`. */
  readonly charge: (weight?: number) => Promise<void>
  /** Sheds anonymous requests. Left out: none are. */
  readonly overload?: OverloadGuard | undefined
  readonly maxPosts: number
  readonly toApiError: (error: unknown) => ApiError
}

const OK = 200

/** Beginning of Hyperliquid's own message for a rate limit, which clients recognize. */
const RATE_LIMITED_WORDS = 'Too many cumulative requests sent'

export function createFacadePosts(options: FacadePostsOptions): FacadePosts {
  const { connection, exchange, reads, maxPosts } = options
  let pending = 0

  function refuse(id: number, text: string): void {
    connection.send(postText(id, 'error', JSON.stringify(text)))
  }

  async function info(id: number, payload: JsonValue | undefined): Promise<void> {
    options.overload?.admit()
    if (isOfUser(payload)) await options.settle?.()
    const answer = await answerInfo(payload, reads, createRowMeter(options.charge))
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
    // Some clients take an error without a status for an action that succeeded.
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
