import type { Order } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { orderOf, timelineOf } from '../data/account.ts'
import { chainInfo } from '../data/chain.ts'
import { accountClient } from '../data/client.ts'
import { composeTimeline, type OrderStep } from '../data/timeline.ts'
import { formatAmount, shortHash } from '../ground/format.ts'
import { problemOf, type Problem } from '../ground/problem.ts'
import { problemOfAction } from '../session/act.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { CopyText } from '../ui/CopyText.tsx'
import { Icon } from '../ui/Icon.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { PriceText } from '../ui/Money.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Time } from '../ui/Time.tsx'
import { AccountGate } from './AccountGate.tsx'
import { EndOrderButton } from './EndOrderButton.tsx'
import { actionName } from './actions.ts'
import { changeOrder } from './dialogs.ts'
import { expectedSteps } from './expectedSteps.ts'
import { closeTimeline } from './timelineLink.ts'
import { kindWord, positionSide, statusWord } from './words.ts'

/** The life of an order step by step, live, with what can be done about it. */
export function OrderTimeline({ orderId }: { readonly orderId: string }) {
  return (
    <AccountGate what="orders">
      <Timeline orderId={orderId} />
    </AccountGate>
  )
}

function Timeline({ orderId }: { readonly orderId: string }) {
  const { order, problem } = useOrder(orderId)
  const seen = timelineOf(orderId).value
  if (problem !== null) return <ProblemNotice problem={problem} />
  if (order === null) return <Skeleton lines={6} />
  // An order that the page has not seen is told from its record alone.
  const steps = seen.length > 0 ? seen : composeTimeline({ order, events: [] })
  const expected = expectedSteps(order)
  return (
    <div class="portfolio-timeline" data-testid="timeline" data-status={order.status}>
      <Summary order={order} />
      <ol class="portfolio-steps" aria-live="polite">
        {steps.map((step, place) => (
          <Step key={`${step.kind} ${place}`} step={step} />
        ))}
        {expected.map(({ kind, title }) => (
          <li key={`next ${kind}`} class="portfolio-step portfolio-step-next" data-testid={`step-next-${kind}`}>
            <span class="portfolio-dot" aria-hidden="true" />
            <span class="portfolio-step-title">{title}</span>
          </li>
        ))}
      </ol>
      <ProblemNotice problem={problemOfAction(actionName.cancelOrder(orderId)).value} />
      <Buttons order={order} />
    </div>
  )
}

/** Returns an order that the page has seen, else reads it once from the service. */
function useOrder(orderId: string): { readonly order: Order | null; readonly problem: Problem | null } {
  const known = orderOf(orderId) ?? null
  const read = useSignal<Order | null>(null)
  const problem = useSignal<Problem | null>(null)
  const client = accountClient.value
  useEffect(() => {
    if (known !== null || client === null) return
    let isOver = false
    const look = async (): Promise<void> => {
      try {
        const order = await client.orders.get(orderId)
        if (!isOver) read.value = order
      } catch (error) {
        if (!isOver) problem.value = problemOf(error)
      }
    }
    void look()
    return () => {
      isOver = true
    }
  }, [orderId, known === null, client])
  const order = known ?? read.value
  return { order, problem: order === null ? problem.value : null }
}

function Summary({ order }: { readonly order: Order }) {
  const { market, size, leverage, price } = order
  const { word, tone } = statusWord(order)
  return (
    <p class="portfolio-summary">
      <Badge tone={tone} testId="timeline-status">
        {word}
      </Badge>
      <span>
        {kindWord(order)} {positionSide(order)} {formatAmount(size, { decimals: 8 })} {market} at {leverage}×
        {price !== null && (
          <>
            , price <PriceText value={price} />
          </>
        )}
      </span>
    </p>
  )
}

function Step({ step }: { readonly step: OrderStep }) {
  const { kind, title, detail, remedy, atMs, txHash, isTakenBack, isNow } = step
  const classes = ['portfolio-step', `portfolio-step-${kind}`]
  if (isTakenBack) classes.push('portfolio-step-undone')
  if (isNow) classes.push('portfolio-step-now')
  return (
    <li class={classes.join(' ')} data-testid={`step-${kind}`} aria-current={isNow ? 'step' : undefined}>
      <span class="portfolio-dot" aria-hidden="true" />
      <span class="portfolio-step-title">
        {title}
        {isTakenBack && <span class="portfolio-second"> (taken back by a reorganisation)</span>}
      </span>
      <span class="portfolio-step-time">
        <Time ms={atMs} />
      </span>
      {detail !== null && <span class="portfolio-step-detail">{detail}</span>}
      {remedy !== null && <strong class="portfolio-step-detail">{remedy}</strong>}
      {txHash !== null && <Transaction hash={txHash} />}
    </li>
  )
}

function Transaction({ hash }: { readonly hash: string }) {
  const explorer = chainInfo.value?.explorer ?? null
  return (
    <span class="portfolio-step-detail">
      Transaction <CopyText text={hash} label={shortHash(hash)} />
      {explorer !== null && (
        <a href={`${explorer}/tx/${hash}`} target="_blank" rel="noreferrer" aria-label="Transaction in the explorer">
          <Icon name="external" />
        </a>
      )}
    </span>
  )
}

function Buttons({ order }: { readonly order: Order }) {
  const change = (): void => {
    closeTimeline()
    changeOrder(order.id)
  }
  return (
    <div class="portfolio-form-footer">
      {order.status === 'open' && (
        <Button small onClick={change}>
          Change
        </Button>
      )}
      <EndOrderButton order={order} place="timeline" />
    </div>
  )
}
