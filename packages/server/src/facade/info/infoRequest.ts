import { parseAddress, type Address } from '@bezel/protocol'
import { MALFORMED_TEXT } from '../../access/answerError.ts'
import { coinsOf, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'

/** The body of a request, parsed from JSON and not yet checked. Fields that a type does not need are ignored. */
export type InfoBody = Readonly<Record<string, unknown>>

/** The request of a type that needs a user and nothing else. */
export interface UserRequest {
  readonly user: Address
}

/** The request of a type about a user between two times, both included. */
export interface TimesRequest extends UserRequest {
  readonly sinceMs: number
  readonly untilMs: number
}

/** The request of a type that needs a coin and nothing else. `coin` is `undefined` for an unknown name. */
export interface CoinRequest {
  readonly coin: Coin | undefined
}

/** Thrown for a request of an unknown type, or without a field that its type needs. */
export class MalformedInfoError extends Error {
  override readonly name = 'MalformedInfoError'
  constructor() {
    super(MALFORMED_TEXT)
  }
}

/** Returns true for a read of somebody's account. */
export function isOfUser(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'user' in body
}

/** Parses the request of a type that needs nothing but its name. */
export function noFields(): void {}

export function userRequest(body: InfoBody): UserRequest {
  return { user: userOf(body) }
}

/** Parses a user and two times. Default: everything. */
export function timesRequest(body: InfoBody): TimesRequest {
  const untilMs = timeOf(body, 'endTime') ?? Number.POSITIVE_INFINITY
  return { user: userOf(body), sinceMs: timeOf(body, 'startTime') ?? 0, untilMs }
}

/** Finds the coin that a request names. Throws `NOT_READY` until the markets have been read. */
export function coinRequest(body: InfoBody, reads: FacadeReads): CoinRequest {
  return { coin: coinsOf(reads.markets()).named(coinNameOf(body)) }
}

/** Parses the address of the user that a request is about, in any letter case. */
export function userOf({ user }: InfoBody): Address {
  const address = typeof user === 'string' ? parseAddress(user) : undefined
  if (address === undefined) throw new MalformedInfoError()
  return address
}

export function coinNameOf({ coin }: InfoBody): string {
  if (typeof coin !== 'string') throw new MalformedInfoError()
  return coin
}

/** Parses a time in epoch ms. `null` counts as absent. */
export function timeOf(body: InfoBody, name: string): number | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw new MalformedInfoError()
  return Math.floor(value)
}

/** Parses a time in epoch ms. Throws `MalformedInfoError` when it is absent. */
export function requiredTimeOf(body: InfoBody, name: string): number {
  const time = timeOf(body, name)
  if (time === undefined) throw new MalformedInfoError()
  return time
}

/** True when `dex` names a builder-deployed dex, of which there are none. `""` and `null` name the main one. */
export function isOtherDex({ dex }: InfoBody): boolean {
  if (dex === undefined || dex === null || dex === '') return false
  if (typeof dex !== 'string') throw new MalformedInfoError()
  return true
}

/** Returns an address in lower case, as clients of the facade see it. */
export function lower(address: Address): string {
  return address.toLowerCase()
}
