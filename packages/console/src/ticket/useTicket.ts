import { decimal, type Position, type Side } from '@bezel/sdk'
import {
  computed,
  effect,
  signal,
  untracked,
  useComputed,
  useSignal,
  useSignalEffect,
  type ReadonlySignal,
} from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { account, positions } from '../data/account.ts'
import { activeChain, chainInfo } from '../data/chain.ts'
import { connection } from '../data/live.ts'
import { marketOf, priceOf } from '../data/markets.ts'
import { browserStore, readStored, tabStore, writeStored } from '../data/storage.ts'
import { useBook } from '../data/useTopic.ts'
import { closedWords } from '../ground/closedWords.ts'
import { session } from '../session/session.ts'
import { nowSecond } from '../ui/clock.ts'
import { readChainTerms, type ChainTerms } from './chainTerms.ts'
import { changeDraft, draftKey, EMPTY_DRAFT, readDraft, writeDraft, type TicketDraft } from './draft.ts'
import { callOver, readableNode } from './node.ts'
import { dropReview, leaveReview, review } from './orderFlow.ts'
import { prefill } from './prefill.ts'
import { collateralOf, ticketModel, type TicketFacts, type TicketModel } from './ticketModel.ts'

const SKIP_REVIEW = 'ticket.skipReview'

const skips = signal(readStored(browserStore, SKIP_REVIEW) === true)

/** True when a session agent orders without a review. Kept in this browser; default false. */
export const skipsReview: ReadonlySignal<boolean> = skips

/** Chooses whether a session agent orders without a review. */
export function chooseSkipsReview(isSkipping: boolean): void {
  skips.value = isSkipping
  writeStored(browserStore, SKIP_REVIEW, isSkipping)
}

/** A ticket that is being filled in. */
export interface TicketState {
  readonly draft: ReadonlySignal<TicketDraft>
  /** Null until the market is known. */
  readonly model: ReadonlySignal<TicketModel | null>
  readonly facts: ReadonlySignal<TicketFacts | null>
  /** Why the ticket begins anew, in a sentence; null while it does not. */
  readonly note: ReadonlySignal<string | null>
  readonly change: (change: Partial<TicketDraft>) => void
  readonly replace: (draft: TicketDraft) => void
}

/** Keeps the ticket of a market: its draft over reloads, its numbers with every price. */
export function useTicket(symbol: string): TicketState {
  const key = draftKey(activeChain.value, symbol)
  const draft = useSignal(readDraft(tabStore, key))
  const note = useSignal<string | null>(null)
  const book = useBook(symbol)
  const terms = useChainTerms(symbol, draft)
  const facts = useComputed(() => {
    const market = marketOf(symbol)
    if (market === undefined) return null
    const token = collateralOf(market, draft.value.collateral)
    const own = account.value
    return {
      market,
      mark: priceOf(symbol).value?.mark ?? null,
      book: book.value,
      terms: terms.value,
      feeTierMultiplier: own?.feeTierMultiplier ?? null,
      balance: own?.balances.find(({ collateral }) => collateral === token?.symbol)?.balance ?? null,
      reducible: reducibleOf(positions.value, symbol, draft.value.side),
      closed: closedSentence(symbol),
      stale: staleSentence(),
    } satisfies TicketFacts
  })
  const model = useComputed(() => (facts.value === null ? null : ticketModel(draft.value, facts.value)))
  const replace = (next: TicketDraft): void => {
    draft.value = next
    writeDraft(tabStore, key, next)
  }
  const change = (by: Partial<TicketDraft>): void => {
    note.value = null
    replace(changeDraft(draft.peek(), by))
  }
  useFirstLeverage(symbol, draft, key)
  usePrefill(symbol, change)
  useAccountSwitch(() => {
    replace(EMPTY_DRAFT)
    note.value = 'The account of the wallet was switched, so the ticket begins anew. Nothing was sent.'
  })
  return { draft, model, facts, note, change, replace }
}

/** Returns why no market order is taken; null while the market is open. It changes once a minute at most. */
function closedSentence(symbol: string): string | null {
  const market = marketOf(symbol)
  if (market === undefined || market.isOpen) return null
  return `The market is closed. ${closedWords(market.group, minute.value * MINUTE_MS)}`
}

const MINUTE_MS = 60_000

const minute = computed(() => Math.floor(nowSecond.value / MINUTE_MS))

function staleSentence(): string | null {
  if (connection.value.staleSinceMs === null) return null
  return 'The prices are not live: the connection is lost. It comes back by itself, and the ticket with it.'
}

/** Adds up what a reduce-only order of a side could close; null while the positions are not known. */
function reducibleOf(held: readonly Position[] | null, symbol: string, side: Side): string | null {
  if (held === null) return null
  const opposite = held.filter((position) => position.market === symbol && position.side !== side)
  return opposite.reduce((sum, { size }) => decimal.add(sum, size), '0')
}

const TERMS_MS = 60_000

/** Reads what only the chain tells about the market and the token: at the beginning, and once a minute. */
function useChainTerms(symbol: string, draft: ReadonlySignal<TicketDraft>): ReadonlySignal<ChainTerms | null> {
  const terms = useSignal<ChainTerms | null>(null)
  // As text, so that it is read again when the pair, the token or the node is another one, and not with every key.
  const question = useComputed(() => {
    const market = marketOf(symbol)
    const token = market && collateralOf(market, draft.value.collateral)
    const [diamond, node] = [chainInfo.value?.diamond, readableNode()]
    if (market === undefined || token === undefined || diamond === undefined || node === null) return null
    const wallet = session.value.kind === 'connected' ? session.value.address : ''
    return JSON.stringify([diamond, market.pairIndex, token.index, wallet])
  })
  useSignalEffect(() => {
    if (question.value === null) return
    const [diamond, pairIndex, collateralIndex] = JSON.parse(question.value) as [`0x${string}`, number, number]
    let isOver = false
    const read = async (): Promise<void> => {
      const node = readableNode()
      if (node === null) return
      const of = { market: { pairIndex }, collateralIndex }
      const found = await readChainTerms(callOver(node), diamond, of).catch(() => null)
      if (!isOver && found !== null) terms.value = found
    }
    void untracked(read)
    const timer = setInterval(() => void read(), TERMS_MS)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  })
  return terms
}

/** Moves the first leverage of a new ticket into the bounds of its market. What somebody typed is left alone. */
function useFirstLeverage(symbol: string, draft: { value: TicketDraft; peek(): TicketDraft }, key: string): void {
  useEffect(() => {
    if (readStored(tabStore, key) !== null) return
    return effect(() => {
      const market = marketOf(symbol)
      const { leverage } = draft.peek()
      if (market === undefined || leverage !== EMPTY_DRAFT.leverage) return
      const { minLeverage, maxLeverage } = market
      const least = decimal.compare(leverage, minLeverage) < 0 ? minLeverage : leverage
      const within = decimal.compare(least, maxLeverage) > 0 ? maxLeverage : least
      if (within !== leverage) draft.value = { ...draft.peek(), leverage: within }
    })
  }, [key])
}

/** Takes over what another part of the page put into the ticket. */
function usePrefill(symbol: string, change: (change: Partial<TicketDraft>) => void): void {
  useEffect(
    () =>
      effect(() => {
        const given = prefill.value
        if (given === null || (given.market !== undefined && given.market !== symbol)) return
        prefill.value = null
        untracked(leaveReview)
        const { side, price, size } = given
        change({
          ...(side === undefined ? {} : { side }),
          ...(price === undefined ? {} : { price, type: 'limit' as const }),
          ...(size === undefined ? {} : { amountBy: 'size' as const, amount: size }),
        })
      }),
    [symbol],
  )
}

/** Watches the account: a switched one ends the review and calls back, one that left ends the review only. */
function useAccountSwitch(onSwitch: () => void): void {
  useEffect(() => {
    let before: string | null = null
    return effect(() => {
      const now = session.value
      const address = now.kind === 'connected' ? now.address : null
      const isSwitched = before !== null && address !== null && address !== before
      if (before !== null && address !== before && review.peek() !== null) dropReview()
      if (address !== null || now.kind === 'none') before = address
      if (isSwitched) onSwitch()
    })
  }, [])
}
