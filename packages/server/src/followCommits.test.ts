import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address } from '@bezel/protocol'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { PATIENCE_MS } from '@bezel/testkit/until.ts'
import { installPostgres } from '../../../scripts/installPostgres.ts'
import { ownAgent } from './facade/relayer/testing/relayWorld.ts'
import { wakeRelayer } from './followCommits.ts'
import { StoreUnavailableError } from './ground/unavailable.ts'
import { OFF_CHAIN, type Changes, type Origin } from './journal/changes.ts'
import type { CommitNews, RightsChange } from './journal/commitBody.ts'
import { createCommits, type Commits } from './journal/commits.ts'
import { migrate } from './store/openStore.ts'
import { openPostgres } from './store/postgres.ts'
import type { Store } from './store/sql.ts'
import type { OrderChange } from './trading/orders/orderModel.ts'

const CHAIN = 'arbitrum-sepolia'
const ALICE = parseAddress(`0x${'a1'.repeat(20)}`)!
const BOB = parseAddress(`0x${'b0'.repeat(20)}`)!
const AGENT = { ...ownAgent(CHAIN, ALICE), agent: parseAddress(`0x${'a9'.repeat(20)}`)! }

describe('the relayer that sends', () => {
  let server: RunningPostgres
  let stores: Store[]
  let nodes: Commits[]
  let isSender: boolean
  /** Calls of the relayer of the second node. */
  let heard: string[]

  before(async () => {
    installPostgres()
    server = await startPostgres()
    const url = await server.createDatabase('relayer')
    const open = (): Store => openPostgres({ url, connections: 4, statementMs: 60_000, idleTransactionMs: 60_000 })
    stores = [open(), open()]
    await migrate(stores[0]!)
  })
  after(async () => {
    for (const store of stores) await store.close()
    await server.remove()
  })
  beforeEach(async () => {
    isSender = true
    heard = []
    const onError = (error: unknown): void => assert.ok(error instanceof StoreUnavailableError, String(error))
    nodes = stores.map((store) => createCommits(store, { onError }))
    for (const node of nodes) node.of(CHAIN).begin(await node.of(CHAIN).readNumber())
    const relayer = {
      isSender: () => isSender,
      wake: () => void heard.push('wake'),
      burnRevoked: async (trader: Address) => (heard.push(trader), []),
    }
    wakeRelayer(nodes[1]!.of(CHAIN), relayer, assert.fail as never)
    nodes[1]!.start()
  })
  afterEach(async () => {
    for (const node of nodes) await node.close()
  })

  /** Commits at a node, and waits until the second one has applied it. */
  async function commitAt(node: number, news: CommitNews): Promise<void> {
    const commits = nodes[node]!.of(CHAIN)
    await stores[node]!.transaction({ chain: CHAIN }, async (sql) => commits.note(sql, 1_000, news))
    assert.ok(await nodes[1]!.of(CHAIN).reached(commits.written(), PATIENCE_MS))
  }

  const orderChanged = (origin: Origin): CommitNews => {
    const order = { record: { id: '7', trader: ALICE }, before: undefined, after: undefined }
    const changes: Changes = {
      chain: CHAIN,
      cause: { ...origin, nowMs: 1_000 },
      orders: [order as Pick<OrderChange, 'before' | 'after'> as OrderChange],
      positions: [],
      fills: [],
    }
    return { changes }
  }
  const rights = (change: RightsChange): CommitNews => ({ rights: [change] })

  it('is woken by an order that another node stored, and not by blocks nor by its own node', async () => {
    await commitAt(0, orderChanged({ block: 7, isReorg: false }))
    await commitAt(1, orderChanged(OFF_CHAIN))
    assert.deepEqual(heard, [])
    await commitAt(0, orderChanged(OFF_CHAIN))
    assert.deepEqual(heard, ['wake'])
  })

  it('burns for a trader whose agent was revoked, limited or taken over at another node', async () => {
    await commitAt(0, rights({ kind: 'agent', record: AGENT }))
    await commitAt(0, rights({ kind: 'agent', record: { ...AGENT, standing: 'used' }, before: AGENT }))
    assert.deepEqual(heard, [])
    await commitAt(0, rights({ kind: 'agent', record: { ...AGENT, revoked: true }, before: AGENT }))
    const readOnly = { ...AGENT, scope: { ...AGENT.scope, permissions: 'read' } } as typeof AGENT
    await commitAt(0, rights({ kind: 'agent', record: readOnly, before: AGENT }))
    await commitAt(0, rights({ kind: 'agent', record: { ...AGENT, trader: BOB }, before: AGENT }))
    await commitAt(0, rights({ kind: 'gone', gone: AGENT }))
    assert.deepEqual(heard, [ALICE, ALICE, ALICE, ALICE])
  })

  it('hears nothing while another node sends', async () => {
    isSender = false
    await commitAt(0, orderChanged(OFF_CHAIN))
    await commitAt(0, rights({ kind: 'gone', gone: AGENT }))
    assert.deepEqual(heard, [])
  })
})
