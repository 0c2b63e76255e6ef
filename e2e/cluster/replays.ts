import assert from 'node:assert/strict'
import process from 'node:process'
import { authorization, keyIssue, revocation, type Answer } from '@bezel/testkit/agentClient.ts'
import { until } from '@bezel/testkit/until.ts'
import type { PrivateKeyAccount } from 'viem/accounts'
import { authMessage, openStream } from '../stream/streamClient.ts'
import {
  captureApproval,
  captureEnvelope,
  captureSigned,
  captureStruct,
  isAccepted,
  sendCaptured,
  type Captured,
} from './captured.ts'
import {
  ask,
  cancellation,
  captureOrder,
  firstOrder,
  freshAccount,
  freshCloid,
  newAgent,
  restingOrder,
} from './frontRaces.ts'
import type { Cluster } from './openCluster.ts'

/** Requests that are sent again, at least; in a campaign fifty for each round of its races. */
export const REPLAYS = 50 * Number(process.env['CAMPAIGN'] ?? 1)
/** An order that the rules refuse. */
const TOO_SMALL = { size: '0.00001' }

/** Something that happens between an acceptance and the replay of what was accepted. */
export type Between = 'nothing' | 'flush' | 'crash' | 'stop'

/** A captured request that sends itself to a node again, and tells the answer and whether it was accepted. */
interface Replayed {
  readonly kind: string
  send(url: string): Promise<{ readonly isAccepted: boolean; readonly answer: unknown }>
}

/** Whoever signs: an agent that may trade, its trader, and the key of an agent of the facade. */
export interface ReplayParties {
  readonly trader: PrivateKeyAccount
  readonly agent: PrivateKeyAccount
  readonly facadeKey: string
  /** Key of a wallet that approves agents on the facade. */
  readonly masterKey: string
}

/** Registers an agent of a trader that may trade. */
export async function openParties(cluster: Cluster, traderName: string, facadeKey: string): Promise<ReplayParties> {
  const { trader, agent } = await newAgent(cluster, traderName)
  const { body } = await firstOrder(cluster, agent)
  const withdrawn = await ask(cluster, () => captureCancel(cluster, agent, body.order.id))
  assert.equal(withdrawn.status, 200, JSON.stringify(withdrawn.body))
  const masterKey = cluster.devnet.file.accounts.find(({ name }) => name === traderName)!.privateKey
  return { trader, agent, facadeKey, masterKey }
}

function captureCancel({ domain }: Cluster, agent: PrivateKeyAccount, id: string): Promise<Captured> {
  return captureSigned({ domain, agent }, 'cancelOrder', 'DELETE', `/orders/${id}`)
}

function overHttp(kind: string, captured: Captured): Replayed {
  return {
    kind,
    async send(url) {
      const answer = await sendCaptured(url, captured)
      return { isAccepted: isAccepted(answer), answer: answer.body }
    },
  }
}

/** An `auth` message of the stream, which each time opens a socket of its own. */
async function overSocket({ domain }: Cluster, agent: PrivateKeyAccount): Promise<Replayed> {
  const message = await authMessage(domain, agent)
  return {
    kind: 'wsAuth',
    async send(url) {
      const stream = await openStream(url)
      stream.send(message)
      const { json } = await stream.next('an answer', ({ op }) => op === 'authenticated' || op === 'error')
      stream.cut()
      return { isAccepted: json.op === 'authenticated', answer: json }
    },
  }
}

/** Sends requests of every kind to a node until each was accepted. Returns them. */
async function acceptAll(cluster: Cluster, parties: ReplayParties, url: string): Promise<Replayed[]> {
  const { domain } = cluster
  const { trader, agent, facadeKey, masterKey } = parties
  const accepted: Replayed[] = []
  /** Signs and sends until it is accepted: after a fault reads have to be signed anew for some seconds. */
  const accept = async (kind: string, capture: () => Captured | Promise<Captured>): Promise<Answer> =>
    until(`${kind} is accepted`, async (saw) => {
      const captured = await capture()
      const answer = await sendCaptured(url, captured)
      saw(answer.body)
      if (!isAccepted(answer)) return undefined
      accepted.push(overHttp(kind, captured))
      return answer
    })
  const account = `/account/${trader.address}`
  await accept('listPositions', () => captureSigned({ domain, agent }, 'listPositions', 'GET', `${account}/positions`))
  await accept('listOpenOrders', () => captureSigned({ domain, agent }, 'listOpenOrders', 'GET', `${account}/orders`))
  const { body } = await accept('createOrder', () => captureOrder(cluster, agent))
  await accept('cancelOrder', () => captureCancel(cluster, agent, body.order.id))
  const cloid = freshCloid()
  await accept('order', () => captureEnvelope(facadeKey, restingOrder(cloid)))
  await accept('cancelByCloid', () => captureEnvelope(facadeKey, cancellation(cloid)))
  const other = freshAccount()
  await accept('createAgent', async () => captureStruct('POST', '/agents', await authorization(domain, trader, other)))
  await accept('revokeAgent', async () =>
    captureStruct('DELETE', `/agents/${other.address}`, await revocation(domain, trader, other.address)),
  )
  await accept('issueApiKey', async () =>
    captureStruct('POST', '/api-keys', await keyIssue(domain, trader, 'replayed')),
  )
  await accept('approveAgent', () => captureApproval(masterKey, freshAccount().address, 'replayed'))
  accepted.push(await acceptSocket(cluster, agent, url), await refuseOnce(cluster, agent, url))
  return accepted
}

async function acceptSocket(cluster: Cluster, agent: PrivateKeyAccount, url: string): Promise<Replayed> {
  return until('the socket is accepted', async (saw) => {
    const replayed = await overSocket(cluster, agent)
    const outcome = await replayed.send(url)
    saw(outcome.answer)
    return outcome.isAccepted ? replayed : undefined
  })
}

/** A write that the rules refused: its nonce is used up all the same. */
async function refuseOnce(cluster: Cluster, agent: PrivateKeyAccount, url: string): Promise<Replayed> {
  return until('the write is refused by the rules', async (saw) => {
    const captured = await captureOrder(cluster, agent, TOO_SMALL)
    const { body } = await sendCaptured(url, captured)
    saw(body)
    if (body.code !== 'SIZE_BELOW_MINIMUM') return undefined
    // A replay that reached the rules again would be refused by them again, so that counts as accepted.
    const again = overHttp('createOrder refused', captured)
    return {
      ...again,
      async send(to: string) {
        const outcome = await again.send(to)
        const { code } = outcome.answer as { readonly code?: string }
        return { ...outcome, isAccepted: outcome.isAccepted || code === 'SIZE_BELOW_MINIMUM' }
      },
    }
  })
}

async function happen(between: Between, cluster: Cluster, node: number): Promise<void> {
  if (between === 'flush') await cluster.redis.command('FLUSHALL')
  if (between === 'crash') await cluster.restart(node, 'kill')
  if (between === 'stop') await cluster.restart(node, 'stop')
}

/**
 * Lets a node accept requests of every kind, and sends each again to every node after something happened. Returns the
 * number of replays, and those that were accepted.
 */
export async function replayRound(
  cluster: Cluster,
  parties: ReplayParties,
  of: { readonly node: number; readonly between: Between },
): Promise<{ readonly sent: number; readonly accepted: string[] }> {
  const captured = await acceptAll(cluster, parties, cluster.urlOf(of.node))
  await happen(of.between, cluster, of.node)
  const accepted: string[] = []
  let sent = 0
  for (const replayed of captured) {
    for (let node = 0; node < cluster.size; node++) {
      const outcome = await replayed.send(cluster.urlOf(node))
      sent += 1
      if (!outcome.isAccepted) continue
      accepted.push(
        `${replayed.kind} of node ${of.node} at ${node} after ${of.between}: ${JSON.stringify(outcome.answer)}`,
      )
    }
  }
  return { sent, accepted }
}
