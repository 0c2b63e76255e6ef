import { closeDialog, openedDialog } from './dialogs.ts'
import { ChangeOrderDialog } from './ChangeOrderDialog.tsx'
import { EditPositionDialog } from './EditPositionDialog.tsx'
import { FlattenDialog } from './FlattenDialog.tsx'
import { OrderTimeline } from './OrderTimeline.tsx'
import { closeTimeline } from './timelineLink.ts'
import { Dialog } from '../ui/Dialog.tsx'
import './dialogs.css'

/** The open dialog of the portfolio, if there is one. */
export function PortfolioDialogs() {
  const dialog = openedDialog.value
  switch (dialog?.kind) {
    case undefined:
      return null
    case 'position': {
      const { positionId, edit, price } = dialog
      return (
        <EditPositionDialog key={`${positionId} ${edit} ${price}`} positionId={positionId} edit={edit} price={price} />
      )
    }
    case 'order':
      return <ChangeOrderDialog key={dialog.orderId} orderId={dialog.orderId} onClose={() => closeDialog()} />
    case 'timeline':
      return (
        <Dialog key={dialog.orderId} title={`Order ${dialog.orderId}`} onClose={closeTimeline}>
          <OrderTimeline orderId={dialog.orderId} />
        </Dialog>
      )
    case 'flatten':
      return <FlattenDialog market={dialog.market} onClose={() => closeDialog()} />
  }
}
