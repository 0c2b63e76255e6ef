import { type Address } from '@bezel/protocol'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { registerAgent } from '../../../packages/server/src/agents/registerAgent.ts'
import { sampleAgent } from '../../../packages/server/src/agents/testing/sampleAgent.ts'
import { LIMIT_BODY } from '../../../packages/server/src/orders/testing/ordersWorld.ts'
import { countRows, endsOf, REQUESTS, unlessEqual, valuesOf } from './raceEnds.ts'
import { create, freshAddress, race, RACE_CHAIN, writeOf, type RaceNode, type RaceNodes } from './raceNodes.ts'

/** Registers an agent without its signature, as anybody can. */
function claim(
  { world }: RaceNode,
  agent: Address,
  trader: Address,
  at: number,
): Promise<{ readonly trader: Address }> {
  const { registry, market } = world.base
  const record = sampleAgent({
    chain: RACE_CHAIN,
    agent,
    trader,
    createdAtMs: market.nowMs,
    signedAtMs: market.nowMs + at,
  })
  const parts = { registry, relayer: null, delegates: { look: async () => agent } }
  return registerAgent(parts, { record, network: '203.0.113.0', cause: { nowMs: market.nowMs } })
}

export async function raceForRegistration(nodes: RaceNodes): Promise<string[]> {
  const agent = freshAddress()
  const traders = [freshAddress(), freshAddress()] as const
  const ends = await race(nodes, REQUESTS, (node, at) => claim(node, agent, traders[at % 2 === 0 ? 0 : 1], at))
  const served = new Set(valuesOf(ends).map(({ trader }) => trader))
  const row = await nodes.nodes[0].store.read.get<{ trader: string }>(
    'select trader from agents where agent = $1',
    agent,
  )
  const { ok = 0, TRADER_MISMATCH: refused = 0, NONCE_REUSED: late = 0 } = endsOf(ends)
  return [
    ...unlessEqual('traders', [...served], [row?.trader]),
    ...unlessEqual('answers', ok + refused + late, REQUESTS),
    ...unlessEqual('refused', refused, REQUESTS / 2),
  ]
}

export async function raceForOwnKey(nodes: RaceNodes): Promise<string[]> {
  const [own, other] = [freshAddress(), freshAddress()]
  await claim(nodes.nodes[0], own, other, 0)
  for (const { world } of nodes.nodes) world.base.node.delegate = own
  const [first] = nodes.nodes
  const claimed = (await first.world.base.registry.findAgent(RACE_CHAIN, own))!
  const nowMs = first.world.base.market.nowMs
  const itself = sampleAgent({
    chain: RACE_CHAIN,
    agent: own,
    trader: own,
    mode: 'relayed',
    agentSigned: true,
    standing: 'used',
    createdAtMs: nowMs,
    signedAtMs: nowMs,
  })
  const ends = await race(nodes, REQUESTS, async (node, at) => {
    const { registry } = node.world.base
    const write =
      at % 2 === 0
        ? writeOf(node, claimed)
        : writeOf(node, itself, { also: (sql) => registry.addOwnAgent(sql, itself, {}) })
    await create(node, write, LIMIT_BODY)
    return write.agent.trader
  })
  const row = await first.store.read.get<{ trader: string }>('select trader from agents where agent = $1', own)
  return [
    ...unlessEqual('answers', endsOf(ends), { AGENT_REVOKED: REQUESTS / 2, ok: REQUESTS / 2 }),
    ...unlessEqual('served', [...new Set(valuesOf(ends))], [row?.trader]),
    ...unlessEqual('orders', await countRows(first, 'orders where agent = $1', own), REQUESTS / 2),
  ]
}

/** Bound of the claims in the race for room among them. */
const MAX_CLAIMS = 5

export async function raceForClaims(nodes: RaceNodes): Promise<string[]> {
  const hold = async ({ world }: RaceNode, at: number): Promise<void> => {
    const [agent, trader] = [freshAddress(), freshAddress()]
    const { market, registry } = world.base
    const chain = at % 4 < 2 ? RACE_CHAIN : 'base'
    const record = sampleAgent({ chain, agent, trader, createdAtMs: market.nowMs, signedAtMs: market.nowMs })
    const parts = {
      registry: { ...registry, maxClaims: MAX_CLAIMS },
      relayer: null,
      delegates: { look: async () => agent },
    }
    const made = await registerAgent(parts, { record, network: `203.0.113.${at % 3}`, cause: { nowMs: market.nowMs } })
    // Some of them act at once, on the chain where others have to make room.
    if (at % 3 === 0) await registry.noteStanding(made, 'seen')
  }
  const ends = await race(nodes, REQUESTS, hold)
  // Where others had all claims in use the race ends with more, for which one that is alone makes room.
  await hold(nodes.nodes[0], 1)
  return [
    ...unlessEqual('answers', endsOf(ends), { ok: REQUESTS }),
    ...unlessEqual('claims', await countRows(nodes.nodes[0], 'claims'), MAX_CLAIMS),
  ]
}

let markets = 0

export async function raceForMarketNumbers(nodes: RaceNodes): Promise<string[]> {
  const known = markets
  const scopes = Array.from({ length: REQUESTS }, (_, at) => {
    if (at % 4 === 0) markets += 1
    return { ...UNLIMITED_SCOPE, markets: [`M${markets}/USD`, `M${known + 1}/USD`] }
  })
  const ends = await race(nodes, REQUESTS, async ({ world }, at) => {
    const scope = scopes[at]!
    const agent = freshAddress()
    // Traders of two chains, who are alone with nobody that the others are alone with.
    const chain = at % 4 < 2 ? RACE_CHAIN : 'base'
    await world.base.register({ chain, agent, trader: freshAddress(), scope })
    return { chain, agent, asked: scope.markets } as const
  })
  const { store, world } = nodes.nodes[1]
  const last = await store.read.get<{ last: bigint }>('select max(id) as last from scope_markets')
  const problems = unlessEqual('answers', endsOf(ends), { ok: REQUESTS })
  for (const { chain, agent, asked } of valuesOf(ends)) {
    const record = await world.base.registry.findAgent(chain, agent)
    problems.push(...unlessEqual('markets', record?.scope.markets, asked))
  }
  return [
    ...problems,
    ...unlessEqual('numbers', Number(last?.last) + 1, await countRows(nodes.nodes[0], 'scope_markets')),
  ]
}
