import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { StandInLimits } from './providerLimits.ts'
import { startStandInProvider, type StandInProvider } from './standInProvider.ts'

// `TEST_PROVIDERS=live` puts every service that a test starts behind two stand-ins for providers with limits, and slows
// the local chain down to live blocks (npm run test:live).

/** Time between blocks behind providers, at least: that of Arbitrum. */
const LIVE_BLOCK_MS = 250

/**
 * Compute units a second of the first provider's plan at live blocks. Ten times those of a free plan, because stories
 * let the service look ten times as often as a live deployment does.
 */
const UNITS_PER_SECOND = 5_000

/** The providers' plans, in order of preference: a larger one, and a small one with the refusals of another vendor. */
const PLANS: readonly StandInLimits[] = [
  {
    batch: { max: 100 },
    logRange: { max: 2_000, text: 'exceeds' },
    maxLogs: 10_000,
    units: { perSecond: UNITS_PER_SECOND },
  },
  {
    batch: { max: 10, form: 'http413' },
    logRange: { max: 10, text: 'upTo' },
    units: { perSecond: UNITS_PER_SECOND, form: 'item429' },
  },
]

/** A chains file that leads through providers. */
export interface TestProviders {
  readonly chainsFile: string
  close(): Promise<void>
}

interface ChainsFile {
  readonly chains: Readonly<Record<string, ChainEntry>>
}

interface ChainEntry {
  readonly rpcUrl?: string
  readonly wsUrl?: string
}

/** True while tests run behind providers. */
export function isBehindProviders(): boolean {
  return process.env['TEST_PROVIDERS'] === 'live'
}

/** Returns the time between blocks of a story: as it asks for, or behind providers at least that of a live chain. */
export function testBlockMs(blockMs: string): string {
  return isBehindProviders() ? String(Math.max(LIVE_BLOCK_MS, Number(blockMs))) : blockMs
}

/**
 * Starts providers in front of each node that a chains file names by `rpcUrl`, and writes a file with them. A chain
 * with `rpcUrls` has providers of its own.
 */
export async function startTestProviders(chainsFile: string): Promise<TestProviders> {
  const file = JSON.parse(readFileSync(chainsFile, 'utf8')) as ChainsFile
  const started: StandInProvider[] = []
  const chains: Record<string, object> = {}
  for (const [slug, { rpcUrl, wsUrl, ...entry }] of Object.entries(file.chains)) {
    if (rpcUrl === undefined) {
      chains[slug] = entry
      continue
    }
    const targets = { target: withoutSlash(rpcUrl), ...(wsUrl === undefined ? {} : { wsTarget: wsUrl }) }
    const providers = await Promise.all(PLANS.map((limits) => startStandInProvider({ ...targets, limits })))
    started.push(...providers)
    const wsUrls = wsUrl === undefined ? [] : providers.map((provider) => provider.wsUrl)
    chains[slug] = { ...entry, rpcUrls: providers.map(({ url }) => url), wsUrls }
  }
  const path = join(dirname(chainsFile), `providers-${randomUUID()}.json`)
  writeFileSync(path, JSON.stringify({ ...file, chains }))
  return {
    chainsFile: path,
    async close() {
      await Promise.all(started.map((provider) => provider.close()))
    },
  }
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '')
}
