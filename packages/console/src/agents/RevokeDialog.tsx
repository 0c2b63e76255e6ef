import { useSignal } from '@preact/signals'
import type { Agent } from '@bezel/sdk'
import type { VNode } from 'preact'
import { shortAddress, shortHash } from '../ground/format.ts'
import { chainInfo } from '../data/chain.ts'
import { isBusy, problemOfAction } from '../session/act.ts'
import { Button } from '../ui/Button.tsx'
import { CopyText } from '../ui/CopyText.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { endDelegation, revokeAction, revokeAgent, UNDELEGATE, type Revocation } from './agentActions.ts'
import { agentList, chainDelegate } from './agentsFeed.ts'
import { isOwnWallet, isSame } from './agentStatus.ts'

interface RevokeDialogProps {
  readonly agent: Agent
  readonly onClose: () => void
}

/** The end of an agent: a signature for the service, then, if it is the delegate, a transaction for the chain. */
export function RevokeDialog({ agent, onClose }: RevokeDialogProps): VNode {
  const revoked = useSignal<Revocation | null>(null)
  const now = revoked.value
  const revoke = async (): Promise<void> => {
    const answer = await revokeAgent(agent.agent)
    if (answer === undefined) return
    revoked.value = answer
    if (answer.due !== null) await finish(answer)
    else if (answer.mayStillBeMined.length === 0) onClose()
  }
  const finish = async ({ due, mayStillBeMined }: Revocation): Promise<void> => {
    if (due === null || !(await endDelegation(due))) return
    revoked.value = { mayStillBeMined, due: null }
    if (mayStillBeMined.length === 0) onClose()
  }
  const busy = isBusy(revokeAction(agent.agent)).value || isBusy(UNDELEGATE).value
  const footer = (
    <>
      <Button kind="quiet" onClick={onClose}>
        {now === null ? 'Keep it' : 'Close'}
      </Button>
      {(now === null || now.due !== null) && (
        <Button kind="danger" busy={busy} testId="confirm" onClick={() => void (now === null ? revoke() : finish(now))}>
          {now === null ? 'Revoke' : 'Send the transaction'}
        </Button>
      )}
    </>
  )
  const title = `Revoke ${agent.name === '' ? shortAddress(agent.agent) : agent.name}`
  return (
    <Dialog title={title} onClose={onClose} footer={footer}>
      <div class="agents-dialog">
        {now === null ? <Question agent={agent} /> : <Outcome revocation={now} />}
        <ProblemNotice problem={problemOfAction(now === null ? revokeAction(agent.agent) : UNDELEGATE).value} />
      </div>
    </Dialog>
  )
}

function Question({ agent }: { readonly agent: Agent }): VNode {
  const delegate = chainDelegate.value
  const isDelegate = delegate === undefined ? agent.status === 'active' : isSame(agent.agent, delegate)
  const others = agentList.value?.filter((other) => other.mode === 'relayed' && other.status === 'active') ?? []
  if (isOwnWallet(agent)) {
    return (
      <p>
        Your wallet can't trade by itself through this service then, until you register it again. It keeps its money.
      </p>
    )
  }
  return (
    <>
      <p>
        The service refuses {agent.agent} at once. Its orders and positions stay as they are: close them yourself, or
        with Flatten.
      </p>
      {isDelegate ? (
        <Notice tone="warn" title="There is one delegate per trader">
          This one is yours now. A signature stops it at the service; a transaction then removes the delegate on the
          chain, so that nobody but your wallet can trade for you until you delegate again.
        </Notice>
      ) : (
        <Notice tone="info">
          It is not your delegate on the chain, so a signature is enough and nothing is sent there. Your delegate stays.
        </Notice>
      )}
      {agent.mode === 'relayed' && others.length > 1 && (
        <Notice tone="warn">
          The relayer is the delegate of {others.length - 1} other agent{others.length > 2 ? 's' : ''} too.
        </Notice>
      )}
    </>
  )
}

function Outcome({ revocation: { due, mayStillBeMined } }: { readonly revocation: Revocation }): VNode {
  const explorer = chainInfo.value?.explorer ?? null
  return (
    <>
      <Notice tone={due === null ? 'good' : 'warn'} title="Revoked at the service" testId="agent-revoked">
        {due === null
          ? 'It is not your delegate on the chain any more.'
          : 'It is still your delegate on the chain, where it can trade without this service. Send the transaction that removes it.'}
      </Notice>
      {mayStillBeMined.length > 0 && (
        <Notice tone="warn" title="May still be mined" testId="agent-may-still-be-mined">
          The relayer had sent these for it. Each is being replaced by an empty one, and may be mined before that:
          <ul>
            {mayStillBeMined.map(({ txHash, orderId }) => (
              <li key={txHash}>
                {explorer === null ? (
                  <CopyText text={txHash} label={shortHash(txHash)} />
                ) : (
                  <a href={`${explorer}/tx/${txHash}`} rel="noreferrer" target="_blank">
                    {shortHash(txHash)}
                  </a>
                )}
                {orderId !== null && ` of order ${orderId}`}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  )
}
