import type { Missing } from '@bezel/sdk'
import type { ComponentChildren } from 'preact'
import { Link } from '../router/router.ts'
import { isBusy, problemOfAction, runAction } from '../session/act.ts'
import { cureOf, plainRemedy } from '../session/cures.ts'
import { activeSigner } from '../session/sessionAgent.ts'
import { session, switchChain } from '../session/session.ts'
import { Button } from '../ui/Button.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { askFaucet, hasFaucet } from './node.ts'
import { senderAddress, type Review } from './orderFlow.ts'

interface CureProps {
  readonly kind: string
  readonly label: ComponentChildren
  /** Does it, as an action of the user. */
  readonly cure: (name: string) => Promise<unknown>
  /** Called once it is done. */
  readonly onCured: (kind: string) => void
}

/** A button that cures something, and what went wrong beside it. */
function Cure({ kind, label, cure, onCured }: CureProps) {
  const name = `cure-${kind}`
  const run = async (): Promise<void> => {
    if ((await cure(name)) !== undefined) onCured(kind)
  }
  return (
    <>
      <Button small kind="primary" busy={isBusy(name).value} testId={name} onClick={() => void run()}>
        {label}
      </Button>
      <ProblemNotice problem={problemOfAction(name).value} />
    </>
  )
}

/** The switch of the wallet to the chain of the page; nothing while it is there. */
export function NetworkCure() {
  const now = session.value
  if (now.kind !== 'connected' || now.isRightChain || activeSigner.value === 'session') return null
  const cure = async (): Promise<true | undefined> => ((await switchChain()) ? true : undefined)
  return (
    <Notice
      tone="warn"
      testId="missing-network"
      action={<Cure kind="network" label="Switch network" cure={cure} onCured={() => undefined} />}
    >
      Your wallet is on another network than this page.
    </Notice>
  )
}

interface MissingListProps {
  readonly review: Review
  /** Called after a cure, to ask again. */
  readonly onCured: (kind: string) => void
}

/** Lists the obstacles to sending the order, each with the button that removes it. */
export function MissingList({ review, onCured }: MissingListProps) {
  const { preview, lacksGas } = review
  return (
    <>
      {preview.missing.map((missing, place) => (
        <Notice
          key={missing.code + missing.kind}
          tone="warn"
          testId={`missing-${missing.kind}`}
          // A scope may forbid an order for several reasons, and one button cures them all.
          action={
            preview.missing.findIndex(({ kind }) => kind === missing.kind) === place && (
              <MissingCure missing={missing} onCured={onCured} />
            )
          }
        >
          {missing.message} {missing.kind === 'balance' && hasFaucet() ? '' : plainRemedy(missing)}
        </Notice>
      ))}
      {lacksGas && (
        <Notice tone="warn" testId="missing-gas" action={hasFaucet() && <FaucetCure kind="gas" onCured={onCured} />}>
          The account that sends the order has no coins to pay for the gas.
          {!hasFaucet() && ' Send it some of the native coin of this chain, then review again.'}
        </Notice>
      )}
    </>
  )
}

function MissingCure({ missing, onCured }: { readonly missing: Missing; readonly onCured: (kind: string) => void }) {
  const { kind } = missing
  if (kind === 'balance') return hasFaucet() ? <FaucetCure kind="balance" onCured={onCured} /> : null
  const cure = cureOf(missing)
  if (cure === null) return <Link to="/agents">Agents</Link>
  return <Cure kind={kind} label={cure.label} cure={cure.run} onCured={onCured} />
}

/** Play money and gas of the local chain. */
function FaucetCure({ kind, onCured }: { readonly kind: 'balance' | 'gas'; readonly onCured: (kind: string) => void }) {
  const cure = (name: string) =>
    runAction(
      name,
      async (client) => {
        const trader = await client.trader()
        await askFaucet(kind === 'gas' ? (senderAddress() ?? trader) : trader)
        return true
      },
      { needs: 'read', done: 'The coins have arrived' },
    )
  return <Cure kind={kind} label="Get play money" cure={cure} onCured={onCured} />
}
