import { parseAddress, type Address } from '@bezel/protocol'
import { MalformedInfoError } from './malformedInfo.ts'

/** The body of a request, as parsed. What a type does not need is passed over. */
export type InfoRequest = Readonly<Record<string, unknown>>

/** Whose data is asked for, in any case of letters. */
export function userOf({ user }: InfoRequest): Address {
  const address = typeof user === 'string' ? parseAddress(user) : undefined
  if (address === undefined) throw new MalformedInfoError()
  return address
}

export function coinNameOf({ coin }: InfoRequest): string {
  if (typeof coin !== 'string') throw new MalformedInfoError()
  return coin
}

/** A time in milliseconds; null is as good as absent. */
export function timeOf(request: InfoRequest, name: string): number | undefined {
  const value = request[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw new MalformedInfoError()
  return Math.floor(value)
}

/** A time that its type can't do without. */
export function requiredTimeOf(request: InfoRequest, name: string): number {
  const time = timeOf(request, name)
  if (time === undefined) throw new MalformedInfoError()
  return time
}

/** Whether another exchange within the exchange is asked about: there is none, so it is empty. `""` and null are the main one. */
export function isOtherDex({ dex }: InfoRequest): boolean {
  if (dex === undefined || dex === null || dex === '') return false
  if (typeof dex !== 'string') throw new MalformedInfoError()
  return true
}

/** Addresses are told in lower case. */
export function lower(address: Address): string {
  return address.toLowerCase()
}
