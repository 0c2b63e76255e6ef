import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { CHAINS, type Address } from '@bezel/protocol'
import { signedHeaders } from '@bezel/testkit/agentClient.ts'
import type { FastifyInstance } from 'fastify'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { admitInProcess } from '../../access/admission.ts'
import { createInProcessLimits } from '../../access/inProcessLimits.ts'
import { keyAccess } from '../../access/testing/keyAccess.ts'
import { openRegistry, type Registry } from '../../agents/registry.ts'
import { addressOf, sampleAgent } from '../../agents/testing/sampleAgent.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import { migrate } from '../../store/openStore.ts'
import type { Store } from '../../store/sql.ts'
import { openMemoryStore } from '../../store/testing/memoryStore.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { createApp } from '../createApp.ts'
import { listApiKeysRoute } from '../routes/agents/listApiKeys.ts'
import { registerHooks } from './registerHooks.ts'
import { registerRoute } from './registerRoute.ts'

const { slug, chainId, testnet, liveDiamond: diamond } = CHAINS.base
const CHAIN = { slug, chainId, testnet, diamond, writes: true } as ServedChain
const PATH = '/v1/base/api-keys'

const wallet = privateKeyToAccount(generatePrivateKey())
const WALLET = wallet.address as Address
const STRANGER = addressOf('5')

describe("a list of keys that a wallet signs, while it is a stranger's agent", () => {
  let store: Store
  let registry: Registry
  let app: FastifyInstance
  let list: (named?: Address) => Promise<unknown>

  beforeEach(async () => {
    store = openMemoryStore()
    await migrate(store)
    registry = await openRegistry(store)
    const access = keyAccess(CHAIN, new Map())
    const agents = { ...access.agentsOf('base'), registry }
    const limits = createInProcessLimits()
    const admission = admitInProcess({ limits, nonces: { claim: () => true }, now: Date.now })
    app = createApp('silent')
    registerHooks(app, { limits, limit: 600, trustedProxies: 0, now: Date.now })
    const authenticate = { ...access.authenticate, registry, admission }
    registerRoute(app, listApiKeysRoute, { ...access, agentsOf: () => agents, authenticate })
    list = async (named) => {
      const signed = await signedHeaders(agents.domain, wallet, { operation: 'listApiKeys', method: 'GET', path: PATH })
      const headers = { ...signed, ...(named !== undefined && { 'x-service-trader': named }) }
      const body = (await app.inject({ url: PATH, headers })).json()
      return body.data?.map(({ label }: { label: string }) => label) ?? body.code
    }
    for (const [trader, label] of [
      [WALLET, 'own'],
      [STRANGER, 'his'],
    ] as const) {
      await registry.addKey({
        chain: 'base',
        trader,
        label,
        keyHash: label,
        createdAtMs: 1,
        signedAtMs: 1,
        network: '',
      })
    }
  })
  afterEach(async () => {
    await app.close()
    await store.close()
  })

  const claim = (changes: Partial<AgentRecord> = {}) =>
    registry.changeAgent('base', WALLET, () =>
      sampleAgent({
        agent: WALLET,
        trader: STRANGER,
        scope: { ...sampleAgent().scope, permissions: 'read' },
        ...changes,
      }),
    )
  const standing = async () => (await registry.findAgent('base', WALLET))?.standing

  it('has its own keys, and does not put the claim to use', async () => {
    for (const changes of [{}, { standing: 'delegated' }, { revoked: true }] as const) {
      const { standing: before } = await claim(changes)
      assert.deepEqual([await list(), await list(WALLET), await standing()], [['own'], ['own'], before])
    }
  })

  it('has the keys of the trader that it serves by its own signature or acts, unless it names itself', async () => {
    for (const changes of [{ agentSigned: true }, { standing: 'seen' }, { standing: 'used' }] as const) {
      await claim(changes)
      assert.deepEqual([await list(), await list(WALLET), await list(STRANGER)], [['his'], ['own'], ['his']])
    }
  })

  it('has the keys of the trader that it names, if it is its agent', async () => {
    await claim()
    assert.deepEqual([await list(addressOf('7')), await standing()], ['TRADER_MISMATCH', 'claimed'])
    assert.deepEqual([await list(STRANGER), await standing()], [['his'], 'seen'])
  })
})
