import type { Hex } from '@bezel/protocol'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { blockCall, parseBlock, resultOf } from '../blocks.ts'
import type { RpcCall, RpcOutcome } from '../rpcClient.ts'
import type { ProviderHealth } from './health.ts'
import type { Provider } from './provider.ts'
import { ProviderError, QueueFullError } from './refusals.ts'
import type { Asker } from './unitBudget.ts'

/** A block by which two providers are compared. */
export interface ComparedBlock {
  readonly number: number
  readonly hash: Hex
}

/** A provider, its health, and its name. */
export interface Member {
  readonly name: string
  readonly provider: Provider
  readonly health: ProviderHealth
  readonly logRange: number | undefined
  hedges: number
}

/** The provider that the follower stays with. */
export interface Followed {
  member: Member
}

/** Sends calls of one asker to a provider, and judges it by what comes of them. */
export type Send = (member: Member, calls: readonly RpcCall[]) => Promise<RpcOutcome[]>

export function createSend(now: () => number, asker: Asker): Send {
  return async (member, calls) => {
    const { provider, health } = member
    const sinceMs = now()
    if (health.state() === 'limited' && sinceMs < health.restUntilMs()) throw noneOf([member])
    try {
      const outcomes = await provider.send(calls, asker)
      health.succeeded(calls.length, now() - sinceMs)
      return outcomes
    } catch (error) {
      if (error instanceof NodeUnavailableError && !(error instanceof QueueFullError)) health.failed(error)
      throw error
    }
  }
}

/** Returns the error for a batch that nobody can be asked: it names why. */
export function noneOf(members: readonly Member[]): NodeUnavailableError {
  const reasons = members.map(({ name, health }) => `${name}: ${health.reason() ?? health.state()}`)
  const isLimited = members.every(({ health }) => health.state() === 'limited')
  return new ProviderError(isLimited ? 'limited' : 'away', `no provider can be asked now; ${reasons.join('; ')}`)
}

/** Returns the hash of a provider's block; `undefined` when it has none, or does not answer. */
export async function hashAt(member: Member, number: number, send: Send): Promise<Hex | undefined> {
  try {
    return parseBlock(resultOf((await send(member, [blockCall(number, false)]))[0]))?.block.hash
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}
