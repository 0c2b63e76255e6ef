import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { AgentScope } from '@bezel/protocol'
import { outOfForce } from '../../agents/agentRefusals.ts'
import { requiredDelegate } from '../../agents/chainAgents.ts'
import { isProven, wasUsed, type AgentRecord } from '../../trading/agentRecord.ts'
import { openClaimWorld, RELAYER, type ClaimWorld, type Party, type Sent } from './testing/claimWorld.ts'

// Random lives of an owner who signs for itself and has two agents, natively and through the facade, against a stranger
// who hears everything, claims what he can, replays what he heard, and sometimes has stolen an agent's key.
// CAMPAIGN=10000 makes more of them, CAMPAIGN_SEED=7 draws others.

const { env } = process
const SEQUENCES = Number(env['CAMPAIGN'] ?? 1_000)
const SEED = Number(env['CAMPAIGN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const STEPS = 10
const START_MS = 1_700_000_000_000

/** The rights that an owner gave last. */
type Wanted = Pick<AgentRecord, 'scope' | 'mode' | 'name'>

/** A key of the owner that may act for it, and what the owner last said about it; nothing when it shall not act. */
interface Owned {
  readonly key: Party
  isStolen: boolean
  /** True when an action was accepted for the owner that the chain was asked about. */
  hasActed: boolean
  /** True when the stranger had it at some time. */
  wasStrangers: boolean
  wanted: Wanted | undefined
  /** Authorisations that were refused since: whoever heard one may send it again when the agent is free. */
  refused: Wanted[]
}

interface Life {
  readonly world: ClaimWorld
  readonly owner: Party
  readonly stranger: Party
  /** Two agents, and the owner as its own. */
  readonly agents: readonly Owned[]
  readonly heard: Sent[]
  /** The time by which the owner's clock is ahead. */
  readonly aheadMs: number
  readonly draw: (limit: number) => number
}

type Step = (life: Life, agent: Owned) => Promise<unknown>

const FULL: AgentScope = {
  markets: 'all',
  maxLeverage: null,
  dailySpendCapUsd: null,
  expiresAt: null,
  permissions: 'trade',
}

const expiryOf = ({ draw, world }: Life): number | null => (draw(3) === 0 ? world.nowMs + 1 + draw(60_000) : null)

const scopeOf = (life: Life): AgentScope => ({
  ...FULL,
  maxLeverage: String(1 + life.draw(50)),
  expiresAt: expiryOf(life),
  permissions: life.draw(3) === 0 ? 'read' : 'trade',
})

const nameOf = ({ draw }: Life): string => (draw(2) === 0 ? '' : 'bot')

/** Returns the time of the owner's next signature. Each takes a while: its clients never sign twice with one. */
const ownTime = ({ world, aheadMs }: Life): number => ++world.nowMs + aheadMs

/** Returns a time that a hostile clock may show: anything inside the window. */
const anyTime = ({ world, draw }: Life): number => world.nowMs - 30_000 + draw(60_001)

const isOwn = ({ owner }: Life, { key }: Owned): boolean => key === owner

async function hear(life: Life, sent: Sent): Promise<boolean> {
  life.heard.push(sent)
  return life.world.send(sent)
}

const recordOf = ({ world }: Life, { key }: Owned): Promise<AgentRecord | undefined> =>
  Promise.resolve(world.registry.findAgent('base', key.address))

const authorise: Step = async (life, agent) => {
  const scope = scopeOf(life)
  const agentKey = life.draw(4) === 0 ? undefined : agent.key
  const of = { agent: agent.key.address, agentKey, scope, timestamp: ownTime(life) }
  const asked: Wanted = { scope, mode: 'self', name: '' }
  if (await hear(life, life.world.authorisation(life.owner, of))) want(agent, asked)
  else agent.refused.push(asked)
}

/** Notes what the owner said last. It holds against everything that was signed before. */
function want(agent: Owned, wanted: Wanted | undefined): void {
  agent.wanted = wanted
  agent.refused = []
}

const revoke: Step = async (life, agent) => {
  const isDone = await hear(life, life.world.revocation(life.owner, agent.key.address, ownTime(life)))
  if (isDone) want(agent, undefined)
}

/** Forgets the agents that an approval of a name ends: all of the name but the approved one, and never the owner. */
function endNamed(life: Life, name: string, approved?: Owned): void {
  for (const other of life.agents) {
    const isNamesake = other.wanted?.mode === 'relayed' && other.wanted.name === name
    if (other !== approved && !isOwn(life, other) && isNamesake) want(other, undefined)
  }
}

const approve: Step = async (life, agent) => {
  const { world, owner, stranger } = life
  const [name, expiresAt] = [nameOf(life), expiryOf(life)]
  const text = expiresAt === null ? name : `${name} valid_until ${expiresAt}`.trim()
  const stored = await recordOf(life, agent)
  const isDone = await hear(life, world.approval(owner, agent.key.address, { name: text, nonce: ownTime(life) }))
  const isOwnersByChain =
    world.delegates.get(owner.address) === RELAYER && world.delegates.get(stranger.address) === undefined
  const isOpen = stored?.trader === stranger.address && !stored.agentSigned && !wasUsed(stored) && !stored.revoked
  if (isOpen && isOwnersByChain) assert.ok(isDone, 'the trader whose delegate is the relayer wins')
  if (!isDone) return
  endNamed(life, name, agent)
  want(agent, { scope: { ...FULL, expiresAt }, mode: 'relayed', name })
}

/** Ends the agent of a name by approving the zero address. */
const endByName: Step = async (life) => {
  const name = nameOf(life)
  if (await hear(life, life.world.approval(life.owner, null, { name, nonce: ownTime(life) }))) endNamed(life, name)
}

const replay: Step = async ({ world, heard, draw }) => {
  const sent = draw(2) === 0 ? heard.at(-1) : heard[draw(heard.length)]
  if (sent !== undefined) await world.send(sent)
}

const resign: Step = async ({ world, heard, draw, stranger }) => {
  const sent = heard[draw(heard.length)]
  if (sent !== undefined && sent.operation !== 'envelope') await world.send(world.resigned(stranger, sent))
}

const claim: Step = async (life, { key, isStolen }) => {
  const agentKey = isStolen && life.draw(2) === 0 ? key : undefined
  const of = { agent: key.address, agentKey, scope: scopeOf(life), timestamp: anyTime(life) }
  await life.world.send(life.world.authorisation(life.stranger, of))
}

const claimThroughFacade: Step = async (life, { key }) => {
  const agent = life.draw(4) === 0 ? null : key.address
  await life.world.send(life.world.approval(life.stranger, agent, { name: nameOf(life), nonce: anyTime(life) }))
}

const steal: Step = async (life, agent) => {
  if (life.draw(4) === 0 && !isOwn(life, agent)) agent.isStolen = true
}

const wait: Step = async ({ world, draw }) => {
  const pausesMs = [1, 1_000, 20_000, 31_000, 700_000, 90_000_000, 700_000_000]
  world.nowMs += pausesMs[draw(pausesMs.length)]!
  await world.registry.forgetOldClaims()
}

const delegate: Step = async ({ world, owner, stranger, draw }, { key }) => {
  const trader = draw(2) === 0 ? owner : stranger
  const to = [RELAYER, RELAYER, key.address, undefined][draw(4)]
  if (to === undefined) world.delegates.delete(trader.address)
  else world.delegates.set(trader.address, to)
}

/** Sends a native request. The owner's client names its trader, so it acts for nobody else; the thief takes any. */
const use: Step = async (life, agent) => {
  const { world, owner, draw } = life
  const isThief = agent.isStolen && draw(2) === 0
  const record = await world.use(agent.key, isThief ? undefined : owner.address)
  if (record?.trader !== owner.address) return
  checkActed(life, agent)
  if (!isThief && record.scope.permissions === 'trade' && !isOwn(life, agent)) agent.hasActed = true
}

/** Sends an action to the facade, where nobody names a trader. */
const act: Step = async (life, agent) => {
  const { world, owner } = life
  const before = await recordOf(life, agent)
  const isRelayed = world.delegates.get(owner.address) === RELAYER
  const trader = await world.act(agent.key, ownTime(life))
  // An owner who signs for itself wants what it signs, and gets a record with its first action.
  const isFirst = isOwn(life, agent) && before?.trader !== owner.address
  if (isFirst && (await recordOf(life, agent))?.trader === owner.address) {
    want(agent, { scope: FULL, mode: 'relayed', name: '' })
  }
  if (trader === owner.address) {
    checkActed(life, agent)
    if (!isOwn(life, agent)) agent.hasActed = true
  } else if (trader !== undefined) {
    checkStrangersAction(life, agent, { before, isRelayed })
  }
}

/** Throws when a key of the owner acts for the stranger although it belongs to the owner by what it did or by chain. */
function checkStrangersAction(
  life: Life,
  agent: Owned,
  { before, isRelayed }: { readonly before: AgentRecord | undefined; readonly isRelayed: boolean },
): void {
  if (agent.isStolen) return
  assert.equal(agent.hasActed, false, 'an agent that acted for its owner acts for nobody else')
  if (isOwn(life, agent)) assert.ok(!isRelayed || (before !== undefined && wasUsed(before)), 'an owner acts for itself')
}

function checkActed({ world }: Life, { wanted }: Owned): void {
  assert.ok(wanted !== undefined, 'an agent acts for a trader who does not want it')
  const { expiresAt } = wanted.scope
  assert.ok(expiresAt === null || expiresAt > world.nowMs, 'an expired agent acts')
}

const STEPS_OF_LIFE: readonly Step[] = [
  authorise,
  authorise,
  revoke,
  approve,
  approve,
  endByName,
  replay,
  replay,
  resign,
  claim,
  claimThroughFacade,
  claimThroughFacade,
  steal,
  wait,
  delegate,
  delegate,
  use,
  act,
  act,
]

/** Throws when an agent of the owner may act in another way than the owner asked for last, or may not and should. */
function checkWanted({ world, owner, aheadMs }: Life, record: AgentRecord | undefined, agent: Owned): void {
  if (record?.trader !== owner.address) return
  const may: Wanted = { scope: record.scope, mode: record.mode, name: record.name }
  if (agent.refused.some((asked) => isDeepStrictEqual(asked, may))) want(agent, may)
  const { wanted } = agent
  // A revocation dated ahead that was refused, because there was no agent yet, may be sent again by whoever heard it.
  if (wanted !== undefined && aheadMs === 0) assert.equal(record.revoked, false, 'nobody else ends an agent')
  if (outOfForce(record, world.nowMs) !== undefined) return
  assert.deepEqual(may, wanted)
}

/** Throws when a step of the stranger without the agent's key took an agent that is in force for its owner. */
function checkKept(life: Life, before: AgentRecord | undefined, after: AgentRecord | undefined, agent: Owned): void {
  if (before?.trader !== life.owner.address || agent.isStolen) return
  const isDelegated = life.world.delegates.get(before.trader) === requiredDelegate({ relayer: RELAYER }, before)
  // Of two traders who delegated, the one who claimed an agent first may take it back until it acts.
  const isKept = wasUsed(before) || (before.standing === 'delegated' && isDelegated && !agent.wasStrangers)
  // What the chain does not prove is forgotten when it was not used for a week.
  const isForgotten = after === undefined && !isProven(before)
  if (isKept && !isForgotten) assert.equal(after?.trader, before.trader, 'an agent in force stays with its trader')
}

/**
 * Throws when the owner, who has the agent's key alone, can't have the agent now. Through the facade alone it can,
 * unless the stranger has it by chain or by what it did; then by the agent's own signature, and after that through the
 * facade again.
 */
async function checkNotLockedOut(life: Life, agent: Owned): Promise<void> {
  if (agent.isStolen) return
  const { world, owner, stranger } = life
  world.delegates.set(owner.address, RELAYER)
  const holder = await recordOf(life, agent)
  const isStrangers =
    holder?.trader === stranger.address &&
    !isOwn(life, agent) &&
    (wasUsed(holder) || holder.revoked || world.delegates.get(stranger.address) !== undefined)
  if (!isStrangers) await checkFacade(life, agent)
  const of = { agent: agent.key.address, agentKey: agent.key, scope: FULL, timestamp: ownTime(life) }
  assert.ok(await world.send(world.authorisation(owner, of)), `the owner authorises its agent: ${world.refusal}`)
  assert.equal((await recordOf(life, agent))?.trader, owner.address)
  await checkFacade(life, agent)
}

/** Throws unless the owner's approval of the agent and then an action of it are accepted on the facade. */
async function checkFacade(life: Life, { key }: Owned): Promise<void> {
  const { world, owner } = life
  const approval = world.approval(owner, key.address, { name: 'last', nonce: ownTime(life) })
  assert.ok(await world.send(approval), `the owner approves its agent: ${world.refusal}`)
  assert.equal(await world.act(key, ownTime(life)), owner.address, `the agent acts for its owner: ${world.refusal}`)
}

function createDraw(seed: number): (limit: number) => number {
  let state = seed | 0
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

/** Lives one life. `trail` receives the names of its steps, each with the number of its agent. */
async function live(world: ClaimWorld, draw: Life['draw'], trail: string[]): Promise<void> {
  const owner = world.party()
  const stranger = world.party()
  for (const { address } of [owner, stranger]) if (draw(2) === 0) world.delegates.set(address, RELAYER)
  const agents = [world.party(), world.party(), owner].map((key, at): Owned => ({
    key,
    isStolen: at === 0 && draw(4) === 0,
    hasActed: false,
    wasStrangers: false,
    wanted: undefined,
    refused: [],
  }))
  const aheadMs = draw(4) === 0 ? draw(20_000) : 0
  const life: Life = { world, owner, stranger, agents, heard: [], aheadMs, draw }
  const records = new Map<Owned, AgentRecord | undefined>()
  for (let step = 0; step < STEPS; step += 1) {
    const changed = draw(agents.length)
    const take = STEPS_OF_LIFE[draw(STEPS_OF_LIFE.length)]!
    trail.push(`${take.name} ${changed}`)
    await take(life, agents[changed]!)
    for (const agent of agents) {
      const record = await recordOf(life, agent)
      checkKept(life, records.get(agent), record, agent)
      checkWanted(life, record, agent)
      agent.wasStrangers ||= record?.trader === stranger.address
      records.set(agent, record)
    }
  }
  await checkNotLockedOut(life, agents[draw(agents.length)]!)
}

describe('lives of agents', () => {
  it('let no agent act for a trader who did not want it then, and lock no owner out', async () => {
    const world = await openClaimWorld(START_MS)
    const draw = createDraw(SEED)
    for (let at = 0; at < SEQUENCES; at += 1) {
      const trail: string[] = []
      try {
        await live(world, draw, trail)
      } catch (error) {
        const name = `life ${at} of CAMPAIGN=${SEQUENCES} CAMPAIGN_SEED=${SEED}`
        throw new Error(`${name}: ${trail.join(', ')}`, { cause: error })
      }
    }
    await world.close()
  })
})
