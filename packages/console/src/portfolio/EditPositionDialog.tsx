import { useSignal } from '@preact/signals'
import { marketOf } from '../data/markets.ts'
import { positions } from '../data/account.ts'
import { problemOfAction } from '../session/act.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Empty } from '../ui/Empty.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Tabs } from '../ui/Tabs.tsx'
import { AccountGate } from './AccountGate.tsx'
import { CloseForm } from './CloseForm.tsx'
import { CollateralForm } from './CollateralForm.tsx'
import type { EditFormProps } from './FormFooter.tsx'
import { LeverageForm } from './LeverageForm.tsx'
import { StopsForm } from './StopsForm.tsx'
import { actionName } from './actions.ts'
import { closeDialog, type PositionEdit } from './dialogs.ts'
import { pendingWords } from './words.ts'

type EditTab = 'close' | 'stops' | 'leverage' | 'collateral'

const TABS: readonly { readonly id: EditTab; readonly label: string }[] = [
  { id: 'close', label: 'Close' },
  { id: 'stops', label: 'TP / SL' },
  { id: 'leverage', label: 'Leverage' },
  { id: 'collateral', label: 'Collateral' },
]

interface EditPositionDialogProps {
  readonly positionId: string
  readonly edit: PositionEdit
  /** Price to begin with, of a stop that was dragged. */
  readonly price: string | undefined
}

/** The dialog that closes a position or changes it. */
export function EditPositionDialog({ positionId, edit, price }: EditPositionDialogProps) {
  const tab = useSignal<EditTab>(edit === 'tp' || edit === 'sl' ? 'stops' : edit)
  const position = positions.value?.find(({ id }) => id === positionId)
  const market = position === undefined ? undefined : marketOf(position.market)
  const title = position === undefined ? `Position ${positionId}` : `${position.market} ${position.side}`
  return (
    <Dialog title={title} onClose={() => closeDialog()} testId="position-dialog">
      <AccountGate what="positions">
        {position === undefined || market === undefined ? (
          <NoPosition positionId={positionId} isLoading={positions.value === null || position !== undefined} />
        ) : (
          <Tabs label="Change of the position" tabs={TABS} active={tab.value} onSelect={(id) => (tab.value = id)}>
            <Obstacles position={position} market={market} tab={tab.value} />
            <EditForm tab={tab.value} position={position} market={market} edit={edit} price={price} />
          </Tabs>
        )}
      </AccountGate>
    </Dialog>
  )
}

/** Stands in place of the form while the position is not known, or once it is closed. */
function NoPosition({ positionId, isLoading }: { readonly positionId: string; readonly isLoading: boolean }) {
  const problem =
    problemOfAction(actionName.close(positionId)).value ?? problemOfAction(actionName.update(positionId)).value
  return (
    <>
      <ProblemNotice problem={problem} />
      {isLoading ? (
        <Skeleton lines={6} />
      ) : (
        <Empty title="This position is closed.">What it brought is under Fills and in the history.</Empty>
      )}
    </>
  )
}

interface ChosenFormProps extends EditFormProps, Pick<EditPositionDialogProps, 'edit' | 'price'> {
  readonly tab: EditTab
}

function EditForm({ tab, position, market, edit, price }: ChosenFormProps) {
  switch (tab) {
    case 'close':
      return <CloseForm position={position} market={market} />
    case 'stops': {
      const first = edit === 'sl' ? 'sl' : 'tp'
      return <StopsForm position={position} market={market} first={first} proposed={price} />
    }
    case 'leverage':
      return <LeverageForm position={position} market={market} />
    case 'collateral':
      return <CollateralForm position={position} market={market} />
  }
}

/** Says why the contracts would refuse a change of this kind now. Stops can be changed at any time. */
function Obstacles({ position, market, tab }: EditFormProps & { readonly tab: EditTab }) {
  const { pendingUpdate, collateralSymbol } = position
  if (tab === 'stops') return null
  return (
    <>
      {!market.isOpen && (
        <Notice tone="warn" title="The market is closed">
          Closes and changes of leverage or collateral are refused until it opens. Take profit and stop loss can be set.
        </Notice>
      )}
      {pendingUpdate?.status === 'pending' && (
        <Notice tone="warn" title="A change waits for the oracle">
          {pendingWords(pendingUpdate, collateralSymbol)}. Anything but take profit and stop loss is refused until it
          has ended.
        </Notice>
      )}
      {pendingUpdate?.status === 'timed_out' && (
        <Notice tone="warn" title="An earlier change timed out">
          {pendingWords(pendingUpdate, collateralSymbol)}. What you send now reclaims it first.
        </Notice>
      )}
    </>
  )
}
