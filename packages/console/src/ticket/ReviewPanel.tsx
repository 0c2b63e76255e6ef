import { ORDER_REASON_TEXTS } from '@bezel/protocol/wire'
import { decimal, type MarketRecord, type OrderPreview } from '@bezel/sdk'
import { useEffect, useRef } from 'preact/hooks'
import { formatAmount, formatDate, formatPercent, formatPrice } from '../ground/format.ts'
import { isBusy, problemOfAction } from '../session/act.ts'
import { Button } from '../ui/Button.tsx'
import { nowSecond } from '../ui/clock.ts'
import { Icon } from '../ui/Icon.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { MissingList, NetworkCure } from './Cures.tsx'
import { DecodedTransaction } from './DecodedTransaction.tsx'
import { Line } from './EstimateLines.tsx'
import { ACTIONS, isSilent, leaveReview, prepareReviewed, sendReviewed, type Review } from './orderFlow.ts'
import { isOrderable, outdated } from './reviewRules.ts'
import type { TicketFacts } from './ticketModel.ts'

interface ReviewPanelProps {
  readonly review: Review
  readonly facts: TicketFacts
  /** Asks for the review again, with what the ticket says now. `cured` names what was missing and is not any more. */
  readonly onAgain: (cured?: string) => void
  /** Called once the order was sent. */
  readonly onSent: () => void
}

/** The order as the service sees it, with what is missing and the decoded transaction, before it is sent. */
export function ReviewPanel({ review, facts, onAgain, onSent }: ReviewPanelProps) {
  const { preview, verified, lacksGas } = review
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const since = { mark: facts.mark, nowMs: nowSecond.value, closed: facts.closed }
  const isSending = isBusy(ACTIONS.send).value
  const old = isSending ? null : outdated(review, since)
  const canOrder = isOrderable(review, lacksGas)
  return (
    <div class="ticket-review" data-testid="review">
      <header class="ticket-review-head">
        <Button
          kind="quiet"
          small
          label="Back to the ticket"
          testId="review-back"
          disabled={isSending}
          onClick={leaveReview}
        >
          <Icon name="chevronLeft" />
        </Button>
        <h3 ref={heading} tabIndex={-1}>
          Review: {preview.reduceOnly ? 'close' : preview.side} {preview.market}
        </h3>
      </header>
      <PreviewNumbers preview={preview} market={facts.market} />
      {preview.warnings.map(({ code, message }) => (
        <Notice key={code} tone="warn">
          {message}
        </Notice>
      ))}
      {preview.reason !== null && <Refusal reason={preview.reason} />}
      <NetworkCure />
      <MissingList review={review} onCured={onAgain} />
      {verified !== null && <DecodedTransaction verified={verified} />}
      {old !== null && (
        <Notice tone="warn" testId="review-outdated">
          {old}
        </Notice>
      )}
      <SendButtons
        isVerified={verified !== null}
        side={preview.side}
        isOld={old !== null}
        canOrder={canOrder}
        onAgain={onAgain}
        onSent={onSent}
      />
    </div>
  )
}

function Refusal({ reason }: { readonly reason: NonNullable<OrderPreview['reason']> }) {
  const { cause, remedy } = ORDER_REASON_TEXTS[reason]
  return (
    <Notice tone="bad" title="The contracts would refuse it now">
      {cause}. {remedy.replaceAll('`', '')}.
    </Notice>
  )
}

interface SendButtonsProps {
  readonly isVerified: boolean
  readonly side: OrderPreview['side']
  readonly isOld: boolean
  readonly canOrder: boolean
  readonly onAgain: () => void
  readonly onSent: () => void
}

/** Shows what went wrong, what the wallet is asked for, and the button of the next step. */
function SendButtons({ isVerified, side, isOld, canOrder, onAgain, onSent }: SendButtonsProps) {
  const [isPreparing, isSending, isAsking] = [ACTIONS.prepare, ACTIONS.send, ACTIONS.review].map(
    (name) => isBusy(name).value,
  )
  const problem = problemOfAction(ACTIONS.send).value ?? problemOfAction(ACTIONS.prepare).value
  const send = async (): Promise<void> => {
    if (await sendReviewed()) onSent()
  }
  const isAgain = isOld || !canOrder
  const label = isAgain ? 'Review again' : isVerified ? 'Send order' : 'Sign the request'
  const act = isAgain ? () => onAgain() : isVerified ? () => void send() : () => void prepareReviewed()
  return (
    <div class="ticket-send">
      <ProblemNotice problem={problem ?? problemOfAction(ACTIONS.review).value} testId="ticket-problem" />
      <Button
        block
        kind={isAgain ? 'primary' : side}
        busy={isPreparing === true || isSending === true || isAsking === true}
        testId="submit"
        guide="submit"
        onClick={act}
      >
        {label}
      </Button>
      <p class="ticket-hint" aria-live="polite">
        {waitingWords(isPreparing === true, isSending === true, isVerified && !isAgain)}
      </p>
    </div>
  )
}

function waitingWords(isPreparing: boolean, isSending: boolean, isReady: boolean): string {
  if (isSilent()) return isSending ? 'It is signed and sent.' : ' '
  if (isPreparing) return 'Look at your wallet: it signs the request, which moves nothing.'
  if (isSending) return 'Look at your wallet: it sends the transaction.'
  return isReady ? 'Your wallet opens when you send.' : ' '
}

/** The numbers of a preview, price with its parts first. */
function PreviewNumbers({ preview, market }: { readonly preview: OrderPreview; readonly market: MarketRecord }) {
  const { collateralSymbol: symbol, reduceOnly } = preview
  const amount = (text: string): string => formatAmount(text, { symbol })
  const percent = (rate: string): string => formatPercent(rate, { digits: 3 })
  const parts = `spread ${percent(preview.spreadRate)}, volume ${percent(preview.volumeImpactRate)}, skew ${percent(preview.skewImpactRate)}`
  return (
    <dl class="ticket-lines" aria-label="Preview">
      <Line label="Price" testId="preview-price" detail={`Oracle ${formatPrice(preview.oraclePrice)}, ${parts}`}>
        {formatPrice(preview.price)}
      </Line>
      <Line label="Size that fills" testId="preview-size" detail={`${formatAmount(preview.notionalUsd)} USD`}>
        <span title={preview.size}>
          {formatAmount(preview.size, { decimals: market.sizePrecision, symbol: market.base })}
        </span>
      </Line>
      <Line label="Fee" testId="preview-fee" detail={`${percent(preview.feeRate)} of the notional`}>
        {amount(preview.feeCollateral)}
      </Line>
      {reduceOnly ? (
        <Line label="To your wallet" testId="preview-payout">
          {amount(preview.payout)}
        </Line>
      ) : (
        <Line label="From your wallet" testId="preview-deposit">
          {amount(preview.deposit)}
        </Line>
      )}
      <Line
        label="Leverage"
        detail={preview.effectiveLeverage === null ? undefined : `effective ${preview.effectiveLeverage}×`}
      >
        {preview.leverage}×
      </Line>
      <Line label="Liquidation" testId="preview-liquidation">
        {preview.liquidationPrice === null ? 'none' : formatPrice(preview.liquidationPrice)}
      </Line>
      {preview.tp !== null && <Line label="Take profit">{formatPrice(preview.tp)}</Line>}
      {preview.sl !== null && <Line label="Stop loss">{formatPrice(preview.sl)}</Line>}
      <Line label="Slippage">{formatPercent(decimal.mul(preview.slippage, '0.01'))}</Line>
      <CapLine spend={preview.spend} />
    </dl>
  )
}

/** Shows how much of the agent's daily cap is used; nothing where there is no cap. */
function CapLine({ spend }: Pick<OrderPreview, 'spend'>) {
  if (spend === null || spend.dailySpendCapUsd === null) return null
  return (
    <Line label="Daily cap" detail={`until ${formatDate(spend.resetsAt)}`}>
      {`${formatAmount(spend.afterUsd)} of ${formatAmount(spend.dailySpendCapUsd)} USD`}
    </Line>
  )
}
