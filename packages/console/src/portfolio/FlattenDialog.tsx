import { DEFAULT_SLIPPAGE } from '@bezel/protocol/wire'
import { useSignal } from '@preact/signals'
import { openOrders, positions } from '../data/account.ts'
import { isPositiveDecimal } from '../ground/format.ts'
import { isBusy, problemOfAction } from '../session/act.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Empty } from '../ui/Empty.tsx'
import { DecimalField } from '../ui/Field.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { flattenPlan, type EndedThing, type FlattenProgress, type Leftover } from './flattenPlan.ts'
import { FLATTEN, flatten, flattenRun, forgetFlatten } from './flattenRun.ts'

interface FlattenDialogProps {
  /** The only market that is flattened. Default: all markets. */
  readonly market: string | undefined
  readonly onClose: () => void
}

/** The confirmation of a flatten, then its progress, then what was left out. */
export function FlattenDialog({ market, onClose }: FlattenDialogProps) {
  const slippage = useSignal<string>(DEFAULT_SLIPPAGE)
  const run = flattenRun.value
  const plan = flattenPlan(positions.value ?? [], openOrders.value ?? [], market)
  const isSlippage = isPositiveDecimal(slippage.value)
  const close = (): void => {
    forgetFlatten()
    onClose()
  }
  const isAsking = run.stage === 'idle'
  const footer = (
    <>
      <Button kind="quiet" onClick={close}>
        {isAsking ? 'Cancel' : 'Close'}
      </Button>
      {isAsking && (
        <Button
          kind="danger"
          busy={isBusy(FLATTEN).value}
          disabled={plan.length === 0 || !isSlippage}
          testId="flatten-confirm"
          onClick={() => void flatten({ slippage: slippage.value, ...(market === undefined ? {} : { market }) })}
        >
          End all {plan.length}
        </Button>
      )}
    </>
  )
  return (
    <Dialog
      title={market === undefined ? 'End everything' : `End everything in ${market}`}
      onClose={close}
      footer={footer}
    >
      <div class="portfolio-form" data-testid="flatten-dialog" data-stage={run.stage}>
        {isAsking && (
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

function Plan({ plan }: { readonly plan: readonly EndedThing[] }) {
  if (plan.length === 0) return <Empty title="There is nothing to end.">No position and no order is open.</Empty>
  return (
    <>
      <p>These are ended. Closes take the market price, with its fees and spread, and can't be undone.</p>
      <ul class="portfolio-plan" tabIndex={0} aria-label="What is ended">
        {plan.map(({ id, kind, words, end }) => (
          <li key={`${kind} ${id}`}>
            <span>{words}</span>
            <span class="portfolio-second">{end}</span>
          </li>
        ))}
      </ul>
    </>
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
