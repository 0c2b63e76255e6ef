import { ORDER_TRANSITIONS, type OrderCause, type OrderStanding } from '../../trading/orders/orderTransitions.ts'
import { table } from '../markdown/writeMarkdown.ts'
import type { OrderStatus } from '@bezel/protocol'

/** File name of the diagram. The page shows it as a picture; the served page replaces it with the inline diagram. */
export const DIAGRAM_FILE = 'order-lifecycle.svg'

/** The texts of each cause: a few words for an arrow, and a sentence. */
export const CAUSE_WORDS: Readonly<Record<OrderCause, { readonly label: string; readonly text: string }>> = {
  prepared: { label: 'prepared', text: 'A transaction that brings it to the chain was prepared.' },
  reported: { label: 'reported', text: 'The hash of its transaction was reported.' },
  mismatched: { label: 'not its hash', text: 'The reported hash was mined, and was not this order.' },
  unseen: { label: 'unknown', text: 'No node knows the reported hash after a while; the order still shows it.' },
  lapsed: {
    label: 'out of date',
    text: 'The last transaction that could bring it to the chain is out of date, or was withdrawn.',
  },
  reverted: { label: 'reverted', text: 'Its transaction was mined and failed.' },
  requested: { label: 'mined', text: 'Its transaction was mined, and the oracle is asked.' },
  placed: { label: 'rests', text: 'A limit or stop rests on the chain.' },
  updated: { label: 'changed', text: 'Its terms were changed on the chain.' },
  canceled: { label: 'canceled', text: 'It was cancelled on the chain.' },
  answeredPartly: { label: 'partly answered', text: 'The oracle answered for one part while others wait.' },
  executed: { label: 'executed', text: 'Everything is answered, and something was traded.' },
  refused: { label: 'refused', text: 'Everything is answered, and nothing was traded.' },
  reclaimed: { label: 'reclaimed', text: 'Nothing was answered in time, and the collateral was taken back.' },
  timedOut: { label: 'no answer', text: "The oracle's time for an answer is over." },
}

/** A move from one status to another, with all its causes. */
export interface Move {
  readonly from: OrderStanding
  readonly to: OrderStatus
  readonly causes: readonly OrderCause[]
}

/** Returns docs/reference/order-lifecycle.md: the table of transitions as a picture and in words. */
export function lifecyclePage(): string {
  const moves = lifecycleMoves().map(({ from, to, causes }) => [
    from === 'absent' ? 'not known before' : `\`${from}\``,
    from === to ? 'stays' : `\`${to}\``,
    causes.map((cause) => CAUSE_WORDS[cause].text).join(' Or: '),
  ])
  const ends = Object.entries(ORDER_TRANSITIONS).filter(([, next]) => Object.keys(next).length === 0)
  const parts = [
    '# Order lifecycle',
    'Made from the table of transitions by which the service itself moves orders (`packages/server/src/trading/orders/orderTransitions.ts`). What each status means to a client is in the [guide](../api.md#orders).',
    `![The statuses of an order and the moves between them](${DIAGRAM_FILE})`,
    'Strong arrows are the usual ways. Faint ones are rarer: a transaction that is mined after all, a late answer of the oracle, a hash that was not the order. A dot is where an order begins: prepared here, or found on the chain because it was made elsewhere (a take profit, a stop loss, a liquidation, another program).',
    `Nothing is final to the chain but ${ends.map(([status]) => `\`${status}\``).join(', ')}: wait for a status, not for the absence of further ones. A reorganisation can take a block away and with it what it said, so an order can also go back to what is still true of it; the [stream](../stream.md#nothing-is-missed) tells that with \`"reverted":true\`.`,
    '## Every move',
    table(['From', 'To', 'When'], moves),
  ]
  return `${parts.join('\n\n')}\n`
}

/** Returns the table of transitions as arrows, one for each pair of statuses. */
export function lifecycleMoves(): readonly Move[] {
  return (Object.keys(ORDER_TRANSITIONS) as OrderStanding[]).flatMap((from) => {
    const causes = Object.entries(ORDER_TRANSITIONS[from]) as [OrderCause, OrderStatus][]
    const byTarget = Map.groupBy(causes, ([, to]) => to)
    return [...byTarget].map(([to, same]) => ({ from, to, causes: same.map(([cause]) => cause) }))
  })
}
