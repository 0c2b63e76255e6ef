import type { Missing } from '@bezel/sdk'
import { isBusy, problemOfAction, runAction } from '../session/act.ts'
import { activeAgent } from '../session/sessionAgent.ts'
import { walletSender } from '../session/sender.ts'
import { Button } from '../ui/Button.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'

/** The button that cures what a request lacks, by a transaction of the trader's wallet; nothing where none does. */
export function CureButton({ missing }: { readonly missing: Missing }) {
  const { kind } = missing
  if (kind === 'balance' || kind === 'scope') return null
  const name = `cure-${kind}`
  const cure = () =>
    runAction(
      name,
      async (client) => {
        const sender = walletSender()
        if (missing.kind === 'allowance') {
          await client.account.approve({ sender, collateral: missing.collateral, amount: missing.needed })
        } else if (missing.kind === 'delegation') {
          await client.agents.delegate({ sender })
        }
      },
      { needs: 'wallet', done: kind === 'allowance' ? 'Approved' : 'Delegated' },
    )
  const isUnknownAgent = kind === 'delegation' && activeAgent.value === null
  return (
    <>
      <Button small busy={isBusy(name).value} disabled={isUnknownAgent} testId={name} onClick={() => void cure()}>
        {missing.kind === 'allowance' ? `Approve ${missing.needed} ${missing.collateral}` : 'Delegate'}
      </Button>
      <ProblemNotice problem={problemOfAction(name).value} />
    </>
  )
}
