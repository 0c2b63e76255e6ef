import type { PositionPreview } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { priceOf } from '../data/markets.ts'
import { clearProblem } from '../session/act.ts'
import { Button } from '../ui/Button.tsx'
import { DecimalField } from '../ui/Field.tsx'
import { PriceText } from '../ui/Money.tsx'
import { FormFooter, type EditFormProps } from './FormFooter.tsx'
import { PreviewLines, type PreviewLine } from './PreviewLines.tsx'
import { actionName, updatePosition } from './actions.ts'
import { closeDialog } from './dialogs.ts'
import { changeOfStops, typedStops, type TypedStops } from './stops.ts'
import { isSendable, usePreview } from './usePreview.ts'

interface StopsFormProps extends EditFormProps {
  /** The stop that the dialog was opened for. */
  readonly first: 'tp' | 'sl'
  /** Price of it to begin with, as it was dragged on the chart. */
  readonly proposed: string | undefined
}

/** Changes take profit and stop loss of a position. An empty field is none. */
export function StopsForm({ position, market, first, proposed }: StopsFormProps) {
  const { id } = position
  const typed = useSignal<TypedStops>({
    ...typedStops(position),
    ...(proposed === undefined ? {} : { [first]: proposed }),
  })
  const mark = priceOf(position.market).value?.mark ?? position.markPrice
  const { request, problems } = changeOfStops(position, typed.value, mark, market)
  const state = usePreview(request === null ? null : JSON.stringify(request), (client, options) =>
    client.preview.position(id, request ?? {}, options),
  )
  const change = (stops: Partial<TypedStops>): void => {
    typed.value = { ...typed.value, ...stops }
    clearProblem(actionName.update(id))
  }
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (request !== null && (await updatePosition(id, request))) closeDialog(true)
  }
  const field = (kind: 'tp' | 'sl') => (
    <StopField
      kind={kind}
      isFirst={kind === first}
      value={typed.value[kind]}
      unit={market.quote}
      problem={problems[kind]}
      onInput={(value) => change({ [kind]: value })}
    />
  )
  return (
    <form class="portfolio-form" onSubmit={(event) => void submit(event)}>
      <p class="portfolio-hint">
        Entry <PriceText value={position.entryPrice} />, mark <PriceText value={mark} />, liquidation{' '}
        <PriceText value={position.liquidationPrice} />
      </p>
      {field('tp')}
      {field('sl')}
      <PreviewLines
        state={state}
        labels={['Take profit', 'Stop loss']}
        linesOf={linesOf}
        idle="Change a price to see what the contracts will keep."
      />
      <FormFooter
        action={actionName.update(id)}
        onCancel={() => closeDialog()}
        isReady={request !== null && isSendable(state)}
      >
        Set take profit and stop loss
      </FormFooter>
    </form>
  )
}

interface StopFieldProps {
  readonly kind: 'tp' | 'sl'
  readonly isFirst: boolean
  readonly value: string
  readonly unit: string
  readonly problem: string | null
  readonly onInput: (value: string) => void
}

function StopField({ kind, isFirst, value, unit, problem, onInput }: StopFieldProps) {
  const root = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isFirst) root.current?.querySelector('input')?.focus()
  }, [])
  return (
    <div class="portfolio-stop" ref={root}>
      <DecimalField
        label={kind === 'tp' ? 'Take profit' : 'Stop loss'}
        unit={unit}
        value={value}
        onInput={onInput}
        error={problem}
        hint="Empty for none."
        testId={`${kind}-input`}
      />
      <Button kind="quiet" small disabled={value === ''} onClick={() => onInput('')}>
        Remove
      </Button>
    </div>
  )
}

function linesOf({ tp, sl }: PositionPreview): PreviewLine[] {
  const price = (text: string) => (text === '0' ? 'none' : <PriceText value={text} />)
  return [
    { label: 'Take profit', after: price(tp) },
    { label: 'Stop loss', after: price(sl) },
  ]
}
