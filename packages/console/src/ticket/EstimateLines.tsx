import type { ComponentChildren } from 'preact'
import { formatAmount, formatPercent, formatPrice } from '../ground/format.ts'
import type { OrderEstimate } from './estimate.ts'
import { collateralOf, type TicketFacts } from './ticketModel.ts'
import type { TicketDraft } from './draft.ts'

export interface LineProps {
  readonly label: string
  readonly testId?: string | undefined
  /** A second, quieter line. */
  readonly detail?: ComponentChildren
  readonly children: ComponentChildren
}

/** A name and its value. */
export function Line({ label, testId, detail, children }: LineProps) {
  return (
    <div class="ticket-line">
      <dt>{label}</dt>
      <dd data-testid={testId}>
        {children}
        {detail !== undefined && <span class="ticket-line-detail">{detail}</span>}
      </dd>
    </div>
  )
}

interface EstimateLinesProps {
  readonly draft: TicketDraft
  readonly facts: TicketFacts
  readonly estimate: OrderEstimate | null
}

/** Shows what the order would do, as far as public data tell: the review asks the service for the exact numbers. */
export function EstimateLines({ draft, facts, estimate }: EstimateLinesProps) {
  const symbol = collateralOf(facts.market, draft.collateral)?.symbol
  const none = '–'
  const percent = (rate: string): string => formatPercent(rate, { digits: 3 })
  return (
    <dl class="ticket-lines" aria-label="Estimate">
      <Line
        label="Price, about"
        testId="preview-price"
        detail={
          estimate === null
            ? ' '
            : `spread ${percent(estimate.spreadRate)}, volume ${percent(estimate.volumeImpactRate)}`
        }
      >
        {estimate === null ? none : formatPrice(estimate.price)}
      </Line>
      <Line label="Fee" testId="preview-fee">
        {estimate === null ? none : formatAmount(estimate.feeCollateral, { symbol })}
      </Line>
      <Line label="Liquidation, about" testId="preview-liquidation">
        {estimate === null || estimate.liquidationPrice === null ? none : formatPrice(estimate.liquidationPrice)}
      </Line>
    </dl>
  )
}
