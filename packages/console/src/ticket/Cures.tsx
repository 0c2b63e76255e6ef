import type { Missing } from '@bezel/sdk'
import type { ComponentChildren } from 'preact'
import { Link } from '../app/router.ts'
import { isBusy, problemOfAction, runAction } from '../session/act.ts'
import { activeSigner, chooseSigner } from '../session/sessionAgent.ts'
import { walletSender } from '../session/sender.ts'
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
      {preview.missing.map((missing) => (
        <Notice
          key={missing.kind}
          tone="warn"
          testId={`missing-${missing.kind}`}
          action={<MissingCure missing={missing} onCured={onCured} />}
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

/** Returns the remedy in words of the page, where the service speaks of its interface. */
function plainRemedy({ kind, remedy }: Missing): string {
  switch (kind) {
    case 'allowance':
      return 'Approve exactly that much; it costs one transaction of your wallet.'
    case 'delegation':
      return 'Your wallet delegates trading to the agent with one transaction. There is one delegate per trader.'
    case 'scope':
      return activeSigner.value === 'session' ? 'Order with the wallet, or make an agent with wider limits.' : remedy
    case 'balance':
      return remedy
  }
}

function MissingCure({ missing, onCured }: { readonly missing: Missing; readonly onCured: (kind: string) => void }) {
  switch (missing.kind) {
    case 'allowance': {
      const { collateral, needed: amount } = missing
      const cure = (name: string) =>
        runAction(name, (client) => client.account.approve({ sender: walletSender(), collateral, amount }), {
          needs: 'wallet',
          done: `Approved ${amount} ${collateral}`,
        })
      return <Cure kind="allowance" label={`Approve ${amount} ${collateral}`} cure={cure} onCured={onCured} />
    }
    case 'delegation': {
      const cure = (name: string) =>
        runAction(name, (client) => client.agents.delegate({ sender: walletSender() }), {
          needs: 'wallet',
          done: 'Delegated',
        })
      return <Cure kind="delegation" label="Delegate" cure={cure} onCured={onCured} />
    }
    case 'scope':
      return <ScopeCure onCured={onCured} />
    case 'balance':
      return hasFaucet() ? <FaucetCure kind="balance" onCured={onCured} /> : null
  }
}

function ScopeCure({ onCured }: { readonly onCured: (kind: string) => void }) {
  if (activeSigner.value !== 'session') return <Link to="/agents">Agents</Link>
  const byWallet = async (): Promise<true> => {
    chooseSigner('wallet')
    return true
  }
  return <Cure kind="scope" label="Order with the wallet" cure={byWallet} onCured={onCured} />
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
