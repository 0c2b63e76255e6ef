import { ORDER_TRANSITIONS } from '../../trading/orders/orderTransitions.ts'
import { table } from '../markdown/table.ts'
import { CAUSE_WORDS } from './causeWords.ts'
import { lifecycleMoves } from './lifecycleMoves.ts'

/** Named in the page; drawn in its place where pages are served. */
export const DIAGRAM_FILE = 'order-lifecycle.svg'

/** docs/reference/order-lifecycle.md: the table of transitions as a picture and in words. */
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
