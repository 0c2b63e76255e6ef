import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, it } from 'node:test'
import {
  MAX_AGENT_NAME_CHARS,
  MAX_KEY_LABEL_CHARS,
  MAX_SCOPE_MARKETS,
  parseAddress,
  type Address,
} from '@bezel/protocol'
import { migrate } from '../store/openStore.ts'
import type { Store } from '../store/sql.ts'
import { openMemoryStore } from '../store/testing/memoryStore.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { registerAgent } from './registerAgent.ts'
import { openRegistry, type Registry } from './registry.ts'
import { addressOf } from './testing/sampleAgent.ts'

const CHAIN = 'arbitrum-sepolia'
const NOW_MS = 1_700_000_000_000
const CLAIMS = 1_500
/** The room that one claim may take, with its indices and everything else that is stored of it. */
const MAX_CLAIM_BYTES = 1_024
/** The room that one claim may take when others were deleted to make room, which leaves gaps. */
const MAX_CLAIM_BYTES_WITH_GAPS = 1_536

/** The longest symbols that markets can have. */
const MARKETS = Array.from({ length: MAX_SCOPE_MARKETS }, (_, at) => `LONGESTSYMBOL${10 + at}/${'Q'.repeat(10)}`)

/** A decimal of the greatest length. */
const LONG_DECIMAL = `1.${'5'.repeat(38)}`

/** A request with the longest address and the longest id. */
const ORIGIN = { callerIp: '2001:db8:1234:5678:9abc:def0:1234:5678', requestId: 'r'.repeat(64) }

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Returns addresses in no order, as those of keys are. */
const addressAt = (kind: string, at: number): Address => parseAddress(`0x${hashOf(`${kind} ${at}`).slice(0, 40)}`)!

const networkAt = (at: number): string => `2001:db8:${(at % 250).toString(16)}::/48`

const agentAt = (at: number): AgentRecord => ({
  chain: CHAIN,
  agent: addressAt('agent', at),
  trader: addressAt('trader', at),
  name: '€'.repeat(MAX_AGENT_NAME_CHARS),
  scope: {
    markets: MARKETS,
    maxLeverage: LONG_DECIMAL,
    dailySpendCapUsd: LONG_DECIMAL,
    expiresAt: NOW_MS + 1_000_000_000,
    permissions: 'trade',
  },
  mode: 'self',
  agentSigned: true,
  revoked: false,
  standing: 'claimed',
  createdAtMs: NOW_MS + at,
  signedAtMs: NOW_MS + at,
})

describe('the room of claims', () => {
  let store: Store
  let registry: Registry
  let nowMs: number

  beforeEach(async () => {
    store = openMemoryStore()
    await migrate(store)
    nowMs = NOW_MS
    registry = await openRegistry(store, { now: () => nowMs, maxClaims: CLAIMS })
  })
  afterEach(() => store.close())

  async function bytes(): Promise<number> {
    const row = await store.read.get<{ bytes: bigint }>(
      'select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()',
    )
    return Number(row!.bytes)
  }

  /** Makes claims a tenth of a second apart, and returns the bytes that the store has grown by. */
  async function grownBy(count: number, make: (at: number) => Promise<unknown>): Promise<number> {
    const before = await bytes()
    for (let at = 0; at < count; at += 1) {
      nowMs = NOW_MS + at * 100
      await make(at)
    }
    return (await bytes()) - before
  }

  function makeAgent(at: number): Promise<AgentRecord> {
    const parts = { registry, relayer: null, delegates: { look: async () => addressOf('0') } }
    return registerAgent(parts, { record: agentAt(at), network: networkAt(at), cause: { ...ORIGIN, nowMs } })
  }

  it('is below 1 KB each, for agents with 64 markets', async () => {
    const grown = await grownBy(CLAIMS, makeAgent)
    assert.ok(grown / CLAIMS < MAX_CLAIM_BYTES, `${grown / CLAIMS} bytes`)
    assert.deepEqual((await registry.findAgent(CHAIN, agentAt(7).agent))?.scope, agentAt(7).scope)
  })

  it('is below 1 KB each, for API keys with the longest label', async () => {
    const label = 'l'.repeat(MAX_KEY_LABEL_CHARS)
    const grown = await grownBy(CLAIMS, (at) =>
      registry.addKey({
        chain: CHAIN,
        trader: addressAt('trader', at),
        label,
        keyHash: hashOf(String(at)),
        createdAtMs: nowMs,
        signedAtMs: nowMs,
        network: networkAt(at),
        origin: ORIGIN,
      }),
    )
    assert.ok(grown / CLAIMS < MAX_CLAIM_BYTES, `${grown / CLAIMS} bytes`)
  })

  it('stays the same, however many are made', async () => {
    const grown = await grownBy(2 * CLAIMS, makeAgent)
    assert.ok(grown / CLAIMS < MAX_CLAIM_BYTES_WITH_GAPS, `${grown / CLAIMS} bytes`)
  })
})
