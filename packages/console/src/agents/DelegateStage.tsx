import type { VNode } from 'preact'
import { isBusy, problemOfAction } from '../session/act.ts'
import { Button } from '../ui/Button.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { delegateAction, delegateTo } from './agentActions.ts'
import { agentList, chainDelegate, relayer } from './agentsFeed.ts'
import { agentStateOf, isSame, replacedBy } from './agentStatus.ts'
import { serverNow } from '../data/now.ts'

interface DelegateStageProps {
  readonly agent: `0x${string}`
  readonly onDone: () => void
}

/** The last step of a new agent: the transaction that makes it the delegate. */
export function DelegateStage({ agent, onDone }: DelegateStageProps): VNode {
  const action = delegateAction(agent)
  if (!useDueDelegation(agent)) {
    return (
      <Notice tone="good" title="Registered">
        The agent is ready.
      </Notice>
    )
  }
  return (
    <>
      <Notice tone="good" title="Registered">
        The service knows the agent and its limits. One transaction of your wallet is left: it makes the agent your
        delegate on the chain. Until then it can read, but not trade.
      </Notice>
      <ReplacedNotice agent={agent} />
      <ProblemNotice problem={problemOfAction(action).value} />
      <div>
        <Button
          kind="primary"
          busy={isBusy(action).value}
          testId={`agent-delegate-${agent}`}
          onClick={() => void delegateTo(agent).then((isDone) => isDone && onDone())}
        >
          Send the delegation
        </Button>
      </div>
    </>
  )
}

/** Returns whether an agent still waits for its delegation; false for none. */
export function useDueDelegation(agent: string | null): boolean {
  if (agent === null) return false
  const record = agentList.value?.find((known) => isSame(known.agent, agent))
  return record === undefined || agentStateOf(record, chainDelegate.value, serverNow()).due === 'delegate'
}

/** Warns who can't trade any more after a delegation. Renders nothing when that is nobody. */
export function ReplacedNotice({ agent }: { readonly agent: string }): VNode | null {
  const replaced = useReplaced(agent)
  if (replaced === null) return null
  return (
    <Notice tone="warn" title="A trader has one delegate" testId="agent-replaced">
      This replaces {replaced}. It can't trade for you from then on, until you delegate to it again.
    </Notice>
  )
}

/** Returns whom a delegation would replace, in words; null for nobody. */
export function useReplaced(agent: string): string | null {
  return replacedBy(agent, {
    delegate: chainDelegate.value,
    agents: agentList.value ?? [],
    relayer: relayer.value,
  })
}
