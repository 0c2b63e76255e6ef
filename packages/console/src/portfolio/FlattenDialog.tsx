import { DEFAULT_SLIPPAGE } from '@bezel/protocol/wire'
import type { CloseAllOptions } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { openOrders, positions } from '../data/account.ts'
import { isPositiveDecimal } from '../ground/format.ts'
import { isBusy, problemOfAction } from '../session/act.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Empty } from '../ui/Empty.tsx'
import { DecimalField } from '../ui/Field.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import {
  flattenPlan,
  standOf,
  type EndedThing,
  type FlattenProgress,
  type FlattenStand,
  type Leftover,
} from './flattenPlan.ts'
import { FLATTEN, flatten, flattenRun, forgetFlatten, interruptedFlatten, type FlattenMemory } from './flattenRun.ts'

interface FlattenDialogProps {
  /** The only market that is flattened. Default: all markets. */
  readonly market: string | undefined
  readonly onClose: () => void
}

/** The confirmation of a flatten, then its progress, also after a reload, then what was left out. */
export function FlattenDialog({ market, onClose }: FlattenDialogProps) {
  const slippage = useSignal<string>(DEFAULT_SLIPPAGE)
  const run = flattenRun.value
  const plan = flattenPlan(positions.value ?? [], openOrders.value ?? [], market)
  const memory = interruptedFlatten.value
  const stand = memory === null ? null : knownStand(memory, market)
  const stage = memory === null ? run.stage : 'interrupted'
  const isSlippage = isPositiveDecimal(slippage.value)
  const close = (): void => {
    forgetFlatten()
    onClose()
  }
  const start = (options: CloseAllOptions): void => void flatten(options, plan)
  const footer = (
    <>
      <Button kind="quiet" onClick={close}>
        {stage === 'idle' ? 'Cancel' : 'Close'}
      </Button>
      {stage === 'idle' && (
        <StartButton
          testId="flatten-confirm"
          isReady={plan.length > 0 && isSlippage}
          onStart={() => start({ slippage: slippage.value, ...(market === undefined ? {} : { market }) })}
        >
          End all {plan.length}
        </StartButton>
      )}
      {memory !== null && stand !== null && stand.sent.length === 0 && stand.left.length > 0 && (
        <StartButton testId="flatten-continue" isReady onStart={() => start(memory.options)}>
          End the {stand.left.length} left
        </StartButton>
      )}
    </>
  )
  return (
    <Dialog
      title={market === undefined ? 'End everything' : `End everything in ${market}`}
      onClose={close}
      footer={footer}
    >
      <div class="portfolio-form" data-testid="flatten-dialog" data-stage={stage}>
        {stage === 'idle' && (
          <>
            <Plan plan={plan} />
            <DecimalField
              label="Slippage of each close"
              unit="%"
              value={slippage.value}
              onInput={(value) => (slippage.value = value)}
              error={isSlippage ? null : 'Enter a percentage above 0, such as 1.'}
            />
          </>
        )}
        {stage === 'interrupted' && <Interrupted stand={stand} />}
        {run.stage === 'sending' && (
          <Notice tone="info" title="Sending">
            Look at your wallet: it signs the request, then sends one transaction for up to 20 of them.
          </Notice>
        )}
        {(run.stage === 'waiting' || run.stage === 'done') && <Progress progress={run.progress} />}
        {run.stage === 'done' && <Outcome progress={run.progress} leftovers={run.leftovers} />}
        <ProblemNotice problem={problemOfAction(FLATTEN).value} testId="flatten-problem" />
      </div>
    </Dialog>
  )
}

interface StartButtonProps {
  readonly testId: string
  readonly isReady: boolean
  readonly onStart: () => void
  readonly children: ComponentChildren
}

function StartButton({ testId, isReady, onStart, children }: StartButtonProps) {
  return (
    <Button kind="danger" busy={isBusy(FLATTEN).value} disabled={!isReady} testId={testId} onClick={onStart}>
      {children}
    </Button>
  )
}

/** Returns where an interrupted flatten stands; null until the account is known. */
function knownStand({ things }: FlattenMemory, market: string | undefined): FlattenStand | null {
  if (positions.value === null || openOrders.value === null) return null
  return standOf(things, { positions: positions.value, orders: openOrders.value, market })
}

/** Shows a flatten whose page was reloaded: what has ended, what is on its way, and what is left. */
function Interrupted({ stand }: { readonly stand: FlattenStand | null }) {
  if (stand === null) return <Skeleton lines={3} />
  const { ended, sent, left } = stand
  const progress = { ended: ended.length, total: ended.length + sent.length + left.length }
  const rows = [
    ...ended.map((thing) => ({ ...thing, end: 'ended' })),
    ...sent.map((thing) => ({ ...thing, end: 'on its way' })),
    ...left.map((thing) => ({ ...thing, end: 'left' })),
  ]
  return (
    <>
      <Progress progress={progress} />
      {progress.ended === progress.total ? (
        <Outcome progress={progress} leftovers={[]} />
      ) : (
        <>
          <Notice tone={sent.length > 0 ? 'info' : 'warn'} title="The page was reloaded in the middle">
            {sent.length > 0
              ? 'What was sent goes on by itself. What is left can be ended once that is over.'
              : 'Nothing is on its way. If your wallet still asks, answer there first; then end what is left.'}
          </Notice>
          <ThingList things={rows} label="Where it stands" />
        </>
      )}
    </>
  )
}

function Plan({ plan }: { readonly plan: readonly EndedThing[] }) {
  if (plan.length === 0) return <Empty title="There is nothing to end.">No position and no order is open.</Empty>
  return (
    <>
      <p>These are ended. Closes take the market price, with its fees and spread, and can't be undone.</p>
      <ThingList things={plan} label="What is ended" />
    </>
  )
}

function ThingList({ things, label }: { readonly things: readonly EndedThing[]; readonly label: string }) {
  return (
    <ul class="portfolio-plan" tabIndex={0} aria-label={label}>
      {things.map(({ id, kind, words, end }) => (
        <li key={`${kind} ${id}`}>
          <span>{words}</span>
          <span class="portfolio-second">{end}</span>
        </li>
      ))}
    </ul>
  )
}

function Progress({ progress: { ended, total } }: { readonly progress: FlattenProgress }) {
  return (
    <label class="portfolio-progress">
      <span>
        {ended} of {total} ended
      </span>
      <progress value={ended} max={Math.max(total, 1)} data-testid="flatten-progress" />
    </label>
  )
}

function Outcome({
  progress,
  leftovers,
}: {
  readonly progress: FlattenProgress
  readonly leftovers: readonly Leftover[]
}) {
  if (leftovers.length === 0) {
    return (
      <Notice tone="good" title="Everything has ended" testId="flatten-done">
        {progress.total === 0 ? 'There was nothing to end.' : 'What was left of the collateral is back in the wallet.'}
      </Notice>
    )
  }
  return (
    <Notice tone="warn" title={`${leftovers.length} left out`} testId="flatten-left">
      <ul>
        {leftovers.map(({ id, words }) => (
          <li key={id}>
            {id}: {words}
          </li>
        ))}
      </ul>
      Look at what is left and flatten again.
    </Notice>
  )
}
