import type { Position } from '@bezel/sdk'
import { isBusy, problemOfAction } from '../session/act.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { Time } from '../ui/Time.tsx'
import { actionName, reclaimUpdate } from './actions.ts'
import { pendingWords } from './words.ts'

/** The change of a position that waits for the oracle, with the button that reclaims it once it has timed out. */
export function PendingUpdateRow({ position }: { readonly position: Position }) {
  const { id, pendingUpdate, collateralSymbol } = position
  if (pendingUpdate === null) return null
  const action = actionName.reclaimUpdate(id)
  const isLate = pendingUpdate.status === 'timed_out'
  return (
    <div class="portfolio-pending" data-testid={`pending-update-${id}`} data-status={pendingUpdate.status}>
      <Badge tone={isLate ? 'warn' : 'info'}>{isLate ? 'Timed out' : 'Waiting for the oracle'}</Badge>
      <span>
        {pendingWords(pendingUpdate, collateralSymbol)}, asked <Time ms={pendingUpdate.createdAt} as="age" />.{' '}
        {isLate
          ? 'The oracle did not answer in time. Reclaim it to get back what it took; it may still be answered until then.'
          : 'It can be reclaimed if the oracle does not answer.'}
      </span>
      {isLate && (
        <Button
          small
          kind="primary"
          busy={isBusy(action).value}
          testId={`reclaim-update-${id}`}
          onClick={() => void reclaimUpdate(id)}
        >
          Reclaim
        </Button>
      )}
      <ProblemNotice problem={problemOfAction(action).value} />
    </div>
  )
}
