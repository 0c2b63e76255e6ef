import type { OrderCause } from '../../trading/orders/orderTransitions.ts'

/** What moves an order on: a few words for an arrow, and a sentence. */
export const CAUSE_WORDS: Readonly<Record<OrderCause, { readonly label: string; readonly text: string }>> = {
  prepared: { label: 'prepared', text: 'A transaction that brings it to the chain was prepared.' },
  reported: { label: 'reported', text: 'The hash of its transaction was reported.' },
  mismatched: { label: 'not its hash', text: 'The reported hash was mined, and was not this order.' },
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
