import { decimal, roundPrice } from '@bezel/sdk'
import { isPositiveDecimal } from '../ground/format.ts'
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { marketOf, markets, priceOf } from '../data/markets.ts'
import { Button } from '../ui/Button.tsx'
import { DecimalField } from '../ui/Field.tsx'
import { PriceText } from '../ui/Money.tsx'
import { SelectField } from '../ui/SelectField.tsx'
import { ControlCard, useControl, type Control } from './ControlCard.tsx'
import { rememberChange, sandboxMarket, sandboxMemory } from './sandboxState.ts'

const STEPS = [
  { factor: '0.9', label: '−10 %' },
  { factor: '0.98', label: '−2 %' },
  { factor: '1.02', label: '+2 %' },
  { factor: '1.1', label: '+10 %' },
] as const

/** The controls of a market: its price and its hours. */
export function PriceControls(): VNode {
  return (
    <>
      <PriceCard />
      <HoursCard />
    </>
  )
}

function MarketChoice(): VNode {
  const symbols = markets.value?.map(({ symbol }) => symbol) ?? [sandboxMarket.value]
  return (
    <SelectField
      label="Market"
      value={sandboxMarket.value}
      options={symbols.map((symbol) => ({ value: symbol, label: symbol }))}
      testId="sandbox-symbol"
      onChange={(symbol) => (sandboxMarket.value = symbol)}
    />
  )
}

function PriceCard(): VNode {
  const control = useControl()
  const typed = useSignal('')
  const symbol = sandboxMarket.value
  const isFrozen = sandboxMemory.value.frozen.includes(symbol)
  const wrong = typed.value === '' || isPositiveDecimal(typed.value) ? null : 'Type a price above 0.'
  return (
    <ControlCard
      title="Price"
      watch="Move it past a stop, a take profit or a liquidation price, and watch the position close by itself. Move it while an order waits for the oracle, and watch the order be rejected for its slippage."
      state={isFrozen ? { label: 'frozen', isUnusual: true } : { label: 'walks', isUnusual: false }}
      control={control}
    >
      <MarketChoice />
      <p class="system-price">
        <span class="muted">Now</span> <PriceText value={priceOf(symbol).value?.mark} flash />
      </p>
      <form
        class="system-inline"
        onSubmit={(event) => {
          event.preventDefault()
          if (isPositiveDecimal(typed.value)) void setPrice(control, symbol, typed.value)
        }}
      >
        <DecimalField
          label="New price"
          value={typed.value}
          error={wrong}
          testId="sandbox-price"
          onInput={(price) => (typed.value = price)}
        />
        <Button
          type="submit"
          busy={control.isBusy}
          disabled={!isPositiveDecimal(typed.value)}
          testId="sandbox-set-price"
        >
          Set
        </Button>
      </form>
      <div class="system-buttons" role="group" aria-label="Move the price by">
        {STEPS.map(({ factor, label }) => (
          <Button key={factor} small disabled={control.isBusy} onClick={() => void movePrice(control, symbol, factor)}>
            {label}
          </Button>
        ))}
        <Button
          small
          pressed={isFrozen}
          testId="sandbox-freeze"
          onClick={() => void freeze(control, symbol, !isFrozen)}
        >
          {isFrozen ? 'Let it walk' : 'Freeze it'}
        </Button>
      </div>
    </ControlCard>
  )
}

async function setPrice(control: Control, symbol: string, price: string): Promise<void> {
  await control.run({ method: 'bezel_setPrice', params: [symbol, price], said: `${symbol} jumped to ${price}.` })
}

async function movePrice(control: Control, symbol: string, factor: string): Promise<void> {
  const mark = priceOf(symbol).peek()?.mark
  const market = marketOf(symbol)
  if (mark === undefined || market === undefined) return
  await setPrice(control, symbol, roundPrice(market, decimal.mul(mark, factor)))
}

async function freeze(control: Control, symbol: string, isFrozen: boolean): Promise<void> {
  const said = isFrozen ? `${symbol} stands still.` : `${symbol} walks again.`
  const isDone = await control.run({ method: 'bezel_freezePrice', params: [symbol, isFrozen], said })
  if (isDone) rememberChange({ control: 'freeze', market: symbol, isFrozen })
}

function HoursCard(): VNode {
  const control = useControl()
  const symbol = sandboxMarket.value
  const forced = sandboxMemory.value.hours[symbol]
  const isOpen = forced ?? marketOf(symbol)?.isOpen ?? true
  const setOpen = async (next: boolean | null): Promise<void> => {
    const words = next === null ? 'goes by its hours again' : next ? 'is open' : 'is closed'
    const said = `${symbol} ${words}.`
    const isDone = await control.run({ method: 'bezel_setMarketOpen', params: [symbol, next], said })
    if (isDone) rememberChange({ control: 'hours', market: symbol, isOpen: next })
  }
  return (
    <ControlCard
      title="Market hours"
      watch="Close the market while its ticket is open: the ticket says so and when it opens, and orders that were sent just before are not answered."
      state={{ label: `${symbol} ${isOpen ? 'open' : 'closed'}`, isUnusual: forced !== undefined }}
      control={control}
    >
      <div class="system-buttons">
        <Button busy={control.isBusy} testId="sandbox-market" onClick={() => void setOpen(!isOpen)}>
          {isOpen ? `Close ${symbol}` : `Open ${symbol}`}
        </Button>
        {forced !== undefined && (
          <Button kind="quiet" disabled={control.isBusy} testId="sandbox-hours" onClick={() => void setOpen(null)}>
            Back to its hours
          </Button>
        )}
      </div>
    </ControlCard>
  )
}
