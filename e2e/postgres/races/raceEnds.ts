import process from 'node:process'
import { ApiError } from '@bezel/protocol'
import { RelayRefusedError } from '../../../packages/server/src/facade/relayer/gasBudget.ts'
import type { RaceNode } from './raceNodes.ts'

/** Rounds of each race, by default few, because machines may be busy. */
const CAMPAIGN = process.env['CAMPAIGN']
export const ROUNDS = Number(CAMPAIGN ?? 3)
/** Requests of one round. */
export const REQUESTS = CAMPAIGN === undefined ? 20 : 100
/** Requests of a round that fit into its limit. */
export const FITTING = 7

/** Returns a problem when two values differ. */
export function unlessEqual(what: string, actual: unknown, expected: unknown): string[] {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)]
  return left === right ? [] : [`${what}: ${left} instead of ${right}`]
}

function codeOf(error: unknown): string {
  if (error instanceof ApiError) return error.code
  return error instanceof RelayRefusedError ? error.reason : String(error)
}

/** Returns the number of requests by their end: `ok`, or the code of the refusal. */
export function endsOf(ends: readonly PromiseSettledResult<unknown>[]): Record<string, number> {
  const names = ends.map((end) => (end.status === 'fulfilled' ? 'ok' : codeOf(end.reason)))
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, of]) => [name, of.length]).toSorted())
}

/** Returns the answers of the requests that were accepted. */
export function valuesOf<Value>(ends: readonly PromiseSettledResult<Value>[]): Value[] {
  return ends.filter((end) => end.status === 'fulfilled').map(({ value }) => value)
}

/** Counts the rows of a table under a condition. */
export async function countRows({ store }: RaceNode, where: string, ...params: readonly string[]): Promise<number> {
  const row = await store.read.get<{ c: bigint }>(`select count(*) as c from ${where}`, ...params)
  return Number(row!.c)
}
