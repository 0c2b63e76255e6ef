import type { Side } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { leaveReview } from './orderFlow.ts'
import { prefill } from './prefill.ts'
import { Ticket } from './Ticket.tsx'
import './ticket.css'

/** Two big buttons, Long and Short, that open the ticket as a sheet on small screens. */
export function TicketSheet({ market }: { readonly market: string }) {
  const isOpen = useSignal(false)
  const open = (side: Side): void => {
    prefill.value = { market, side }
    isOpen.value = true
  }
  const close = (): void => {
    leaveReview()
    isOpen.value = false
  }
  return (
    <>
      <div class="ticket-bar" role="group" aria-label={`Order in ${market}`}>
        <Button block kind="long" testId="sheet-long" guide="side-long" onClick={() => open('long')}>
          ▲ Long
        </Button>
        <Button block kind="short" testId="sheet-short" onClick={() => open('short')}>
          ▼ Short
        </Button>
      </div>
      {isOpen.value && (
        <Dialog title={`Order in ${market}`} onClose={close} testId="ticket-sheet">
          <Ticket market={market} onSent={() => (isOpen.value = false)} />
        </Dialog>
      )}
    </>
  )
}
