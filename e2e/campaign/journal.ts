import type { Order, PreparedTransaction } from '@bezel/protocol'
import type { Hex } from 'viem'

/** A signed request, byte for byte, so that it can be sent again. */
export interface SignedRequest {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly signedAtMs: number
}

/** A transaction that the service prepared in an answer that arrived. */
export interface KnownTransaction {
  readonly orderId: string
  /** `open` brings the order to the chain, `change` changes it there. */
  readonly purpose: 'open' | 'change'
  readonly agent: string
  readonly transaction: PreparedTransaction
}

export interface Broadcast extends KnownTransaction {
  readonly hash: Hex
}

/** An order that an answer named. */
export interface KnownOrder {
  readonly id: string
  readonly agent: string
  readonly clientId: string | null
}

/** Everything that the agents saw: the reference for what the service must still know at the end. */
export interface Journal {
  /** Everything that went wrong. Any entry fails the campaign. */
  readonly problems: string[]
  readonly counts: Map<string, number>
  /** Known orders by id. */
  readonly orders: ReadonlyMap<string, KnownOrder>
  readonly broadcasts: readonly Broadcast[]
  /** Hashes whose report was answered, by order. */
  readonly reported: ReadonlyMap<string, readonly Hex[]>
  /** Requests whose nonce is used up, newest last. */
  readonly answered: readonly SignedRequest[]
  count(what: string): void
  /** Notes an order that an answer contained. */
  acknowledge(agent: string, clientId: string | null, order: Order): void
  noteBroadcast(broadcast: Broadcast): void
  noteReported(orderId: string, hash: Hex): void
  noteAnswered(request: SignedRequest): void
  /** Notes an event under the order's id, or under the clientId it is requested with. */
  tell(subject: string, text: string): void
  /** Returns the last events of an order. */
  storyOf(id: string): string
}

const MAX_ANSWERED = 2_000
const STORY_LINES = 40

export function createJournal(startedAtMs: number): Journal {
  const orders = new Map<string, KnownOrder>()
  const idsByClientId = new Map<string, string>()
  const broadcasts: Broadcast[] = []
  const reported = new Map<string, Hex[]>()
  const answered: SignedRequest[] = []
  const stories = new Map<string, string[]>()

  const journal: Journal = {
    problems: [],
    counts: new Map(),
    orders,
    broadcasts,
    reported,
    answered,
    count: (what) => void journal.counts.set(what, (journal.counts.get(what) ?? 0) + 1),
    acknowledge(agent, clientId, order) {
      if (order.clientId !== clientId) {
        journal.problems.push(`order ${order.id} came with clientId ${order.clientId} instead of ${clientId}`)
      }
      const known = orders.get(order.id)
      if (known !== undefined && (known.agent !== agent || known.clientId !== clientId)) {
        journal.problems.push(`id ${order.id} was given to ${known.clientId} and to ${clientId}`)
      }
      const other = clientId === null ? order.id : (idsByClientId.get(clientId) ?? order.id)
      if (other !== order.id) journal.problems.push(`clientId ${clientId} has two orders: ${other} and ${order.id}`)
      orders.set(order.id, { id: order.id, agent, clientId })
      if (clientId !== null) idsByClientId.set(clientId, order.id)
    },
    noteBroadcast(broadcast) {
      broadcasts.push(broadcast)
      journal.tell(broadcast.orderId, `${broadcast.purpose} transaction ${broadcast.hash} is sent`)
    },
    noteReported: (orderId, hash) => void reported.set(orderId, [...(reported.get(orderId) ?? []), hash]),
    noteAnswered(request) {
      answered.push(request)
      if (answered.length > MAX_ANSWERED) answered.shift()
    },
    tell(subject, text) {
      const story = stories.get(subject) ?? []
      story.push(`${((Date.now() - startedAtMs) / 1000).toFixed(3)} s: ${text}`)
      stories.set(subject, story)
    },
    storyOf(id) {
      const lines = [...(stories.get(orders.get(id)?.clientId ?? '') ?? []), ...(stories.get(id) ?? [])]
      return lines.slice(-STORY_LINES).join('\n    ')
    },
  }
  return journal
}
