import type { ChainInfo } from '@bezel/sdk'
import { signal, type ReadonlySignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { activeChain } from '../data/chain.ts'
import { publicClient } from '../data/client.ts'
import { askReady } from '../data/live.ts'
import { apiBaseUrl } from '../data/settings.ts'
import { readRateLimit, type RateLimit } from './readiness.ts'

/** Facts about the service, from public reads. */
export interface ServiceFacts {
  /** Time of a request there and back; null when the last one failed. */
  readonly roundTripMs: number | null
  readonly limit: RateLimit | null
  /** Times of the prices of the active chain; null until they were read. */
  readonly updatedAts: readonly number[] | null
  readonly info: ChainInfo | null
}

const facts = signal<ServiceFacts>({ roundTripMs: null, limit: null, updatedAts: null, info: null })

/** The latest facts about the service. */
export const serviceFacts: ReadonlySignal<ServiceFacts> = facts

const POLL_MS = 5_000

const TIMEOUT_MS = 5_000

/** Asks the service while a component is mounted. */
export function useServiceFacts(): void {
  const chain = activeChain.value
  useEffect(() => {
    let isGone = false
    facts.value = { ...facts.peek(), updatedAts: null, info: null }
    const look = async (): Promise<void> => {
      const [trip, updatedAts, info] = await Promise.all([measureTrip(), readTimes(), readInfo(), askReady()])
      if (!isGone) facts.value = { ...trip, updatedAts, info: info ?? facts.peek().info }
    }
    void look()
    const timer = setInterval(() => document.hidden || void look(), POLL_MS)
    return () => {
      isGone = true
      clearInterval(timer)
    }
  }, [chain])
}

async function measureTrip(): Promise<Pick<ServiceFacts, 'roundTripMs' | 'limit'>> {
  const startMs = performance.now()
  try {
    const { headers } = await fetch(`${apiBaseUrl()}/v1/time`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return { roundTripMs: Math.round(performance.now() - startMs), limit: readRateLimit(headers) }
  } catch {
    return { roundTripMs: null, limit: null }
  }
}

async function readTimes(): Promise<readonly number[] | null> {
  const prices = await publicClient
    .peek()
    .markets.prices()
    .catch(() => null)
  return prices?.map(({ updatedAt }) => updatedAt) ?? null
}

async function readInfo(): Promise<ChainInfo | null> {
  // It changes only with the deployment, so once is enough for a chain.
  const known = facts.peek().info
  if (known !== null) return known
  return publicClient
    .peek()
    .info()
    .catch(() => null)
}
