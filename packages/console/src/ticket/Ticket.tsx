import { session } from '../session/session.ts'
import { activeSigner } from '../session/sessionAgent.ts'
import { inFlightOrders, isBusy, problemOfAction } from '../session/act.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { DecimalField } from '../ui/Field.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { NetworkCure } from './Cures.tsx'
import { EMPTY_DRAFT, nextDraft } from './draft.ts'
import { EstimateLines } from './EstimateLines.tsx'
import { ACTIONS, review, reviewOrder, sendAtOnce } from './orderFlow.ts'
import { AmountFields, KindFields, LeverageField, PriceField, type FieldsProps } from './OrderFields.tsx'
import { ReviewPanel } from './ReviewPanel.tsx'
import { StopFields } from './StopFields.tsx'
import { chooseSkipsReview, skipsReview, useTicket } from './useTicket.ts'
import './ticket.css'

export interface TicketProps {
  /** Symbol of the market. */
  readonly market: string
  /** Called once an order was sent, for instance to close the sheet. */
  readonly onSent?: (() => void) | undefined
}

/** The order ticket of a market: the form with its estimate, then the review, then the sending. */
export function Ticket({ market, onSent }: TicketProps) {
  const { draft, model, facts, note, change, replace } = useTicket(market)
  const [known, typed] = [model.value, facts.value]
  if (known === null || typed === null) {
    return (
      <section class="ticket" data-testid="ticket" aria-label="Order ticket" aria-busy>
        <Skeleton lines={8} height="32px" />
      </section>
    )
  }
  const reviewed = review.value
  const isReviewed = reviewed !== null && reviewed.request.market === market
  const sent = (): void => {
    replace(nextDraft(draft.peek()))
    onSent?.()
  }
  const again = (cured?: string): void => {
    const request = model.peek()?.request ?? reviewed?.request
    if (request !== undefined) void reviewOrder(request, cured)
  }
  const fields: FieldsProps = { draft: draft.value, model: known, facts: typed, change }
  return (
    <section class="ticket" data-testid="ticket" aria-label={`Order ticket of ${market}`}>
      {note.value !== null && <Notice tone="info">{note.value}</Notice>}
      {isReviewed ? (
        <ReviewPanel review={reviewed} facts={typed} onAgain={again} onSent={sent} />
      ) : (
        <TicketForm
          {...fields}
          onSent={sent}
          onClear={() => replace({ ...EMPTY_DRAFT, leverage: draft.peek().leverage })}
        />
      )}
    </section>
  )
}

interface TicketFormProps extends FieldsProps {
  readonly onSent: () => void
  readonly onClear: () => void
}

function TicketForm({ onSent, onClear, ...fields }: TicketFormProps) {
  const { draft, model, facts, change } = fields
  const isAtOnce = activeSigner.value === 'session' && skipsReview.value
  const order = async (): Promise<void> => {
    const { request } = model
    if (request === null || session.peek().kind !== 'connected') return
    if (!isAtOnce) await reviewOrder(request)
    else if (await sendAtOnce(request)) onSent()
  }
  return (
    <form
      class="ticket-form"
      onSubmit={(event) => {
        event.preventDefault()
        void order()
      }}
    >
      <KindFields draft={draft} change={change} />
      {model.errors.market !== undefined && (
        <Notice tone="warn" testId="ticket-market">
          {model.errors.market}
        </Notice>
      )}
      <PriceField {...fields} />
      <AmountFields {...fields} />
      <LeverageField {...fields} />
      <StopFields {...fields} />
      <div class="ticket-row ticket-last">
        <DecimalField
          label="Slippage, at most"
          unit="%"
          value={draft.slippage}
          error={model.errors.slippage}
          testId="slippage"
          onInput={(slippage) => change({ slippage })}
        />
        <Checkbox
          label={<span title="Closes positions of the other side, and opens none">Reduce only</span>}
          checked={draft.reduceOnly}
          testId="reduce-only"
          onChange={(reduceOnly) => change({ reduceOnly })}
        />
      </div>
      {!draft.reduceOnly && <EstimateLines draft={draft} facts={facts} estimate={model.estimate} />}
      <NetworkCure />
      <FormFooter isAtOnce={isAtOnce} draft={draft} model={model} onClear={onClear} />
    </form>
  )
}

interface FormFooterProps extends Pick<FieldsProps, 'draft' | 'model'> {
  readonly isAtOnce: boolean
  readonly onClear: () => void
}

/** Shows what went wrong, the button, and what stands in its way. */
function FormFooter({ isAtOnce, draft, model, onClear }: FormFooterProps) {
  const state = session.value
  const problem = problemOfAction(ACTIONS.review).value ?? (isAtOnce ? problemOfAction(ACTIONS.send).value : null)
  const gate = state.kind === 'connected' ? null : 'Connect a wallet at the top of the page to order.'
  const words = isAtOnce ? `Send ${draft.side} order` : `Review ${draft.side} order`
  return (
    <div class="ticket-send">
      <InFlightNotices />
      <ProblemNotice problem={problem} testId="ticket-problem" />
      <Button
        block
        type="submit"
        kind={draft.side}
        busy={isBusy(ACTIONS.review).value || (isAtOnce && isBusy(ACTIONS.send).value)}
        disabled={gate !== null || model.request === null}
        testId={isAtOnce ? 'submit' : 'preview'}
        guide="submit"
      >
        {words}
      </Button>
      <div class="ticket-foot">
        <p class="ticket-hint" aria-live="polite">
          {gate ?? model.blocker ?? ' '}
        </p>
        {draft.amount !== '' && (
          <Button small kind="quiet" testId="ticket-clear" onClick={onClear}>
            Clear
          </Button>
        )}
      </div>
      {activeSigner.value === 'session' && (
        <Checkbox
          label="Send without a review"
          hint="in this browser, while a session agent signs"
          checked={skipsReview.value}
          testId="skip-review"
          onChange={chooseSkipsReview}
        />
      )}
    </div>
  )
}

/** Shows the orders that may have been sent and whose outcome is not known yet. */
function InFlightNotices() {
  return inFlightOrders.value.map(({ clientId, request, message }) => (
    <Notice
      key={clientId}
      tone="warn"
      title="An order of yours was sent and its outcome is not known yet"
      testId="ticket-in-flight"
    >
      {`${request.market} ${request.side} ${request.size}. ${message}`}
    </Notice>
  ))
}
