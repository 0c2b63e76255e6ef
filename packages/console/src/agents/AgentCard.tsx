import { useSignal } from '@preact/signals'
import type { Agent, Spend } from '@bezel/sdk'
import type { VNode } from 'preact'
import { formatAmount, formatDate, formatTime, shortAddress } from '../ground/format.ts'
import { serverNow } from '../data/now.ts'
import { isBusy, problemOfAction } from '../session/act.ts'
import { sessionAgent } from '../session/sessionAgent.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { nowSecond } from '../ui/clock.ts'
import { CopyText } from '../ui/CopyText.tsx'
import { ConfirmDialog } from '../ui/Dialog.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { ProgressBar } from '../ui/ProgressBar.tsx'
import { delegateAction, delegateTo, endDelegation, UNDELEGATE } from './agentActions.ts'
import { agentDraft, startChange } from './agentDraft.ts'
import { agentList, chainDelegate, spends } from './agentsFeed.ts'
import { agentStateOf, isOwnWallet, isSame, registeredOf, type AgentState } from './agentStatus.ts'
import { auditFilter } from './auditState.ts'
import { scopeWords } from './auditWords.ts'
import { useReplaced } from './DelegateStage.tsx'
import { RevokeDialog } from './RevokeDialog.tsx'
import { spendBarOf } from './spendBar.ts'

/** An agent with its limits, its spend of the day, and what can be done with it. */
export function AgentCard({ agent }: { readonly agent: Agent }): VNode {
  // Reads the ticking clock, so that an expiry shows when it comes.
  void nowSecond.value
  const state = agentStateOf(agent, chainDelegate.value, serverNow())
  const isHere = isSame(agent.agent, sessionAgent.value?.address)
  const spend = spends.value.get(agent.agent)
  return (
    <li class="agents-card" data-testid={`agent-${agent.agent}`}>
      <header class="agents-card-head">
        <h3>{agent.name === '' ? (isOwnWallet(agent) ? 'Your wallet' : 'Without a name') : agent.name}</h3>
        <span role="status">
          <Badge tone={state.tone} testId={`agent-status-${agent.agent}`}>
            {state.label}
          </Badge>
        </span>
        {isHere && <Badge tone="info">key in this tab</Badge>}
        {agent.mode === 'relayed' && <Badge tone="none">through the relayer</Badge>}
      </header>
      <CopyText text={agent.agent} label={shortAddress(agent.agent)} />
      <p class="agents-scope">{scopeWords(agent.scope, formatDate).join(' · ')}</p>
      {spend !== undefined && <SpendLine spend={spend} />}
      {state.sentence !== null && <p class="agents-sentence">{state.sentence}</p>}
      <ProblemNotice problem={problemOfAction(delegateAction(agent.agent)).value} />
      <CardActions agent={agent} state={state} />
    </li>
  )
}

function SpendLine({ spend }: { readonly spend: Spend }): VNode | null {
  const bar = spendBarOf(spend)
  if (bar === null || spend.dailySpendCapUsd === null) return null
  const usd = (amount: string): string => formatAmount(amount, { decimals: 2 })
  return (
    <div class="agents-spend" data-testid={`agent-spend-${spend.agent}`}>
      <ProgressBar
        label="Opened today"
        value={bar.share}
        max={1}
        text={`${usd(spend.spentUsd)} of ${usd(spend.dailySpendCapUsd)} USD`}
      />
      <p class="muted">
        {formatAmount(bar.leftUsd, { decimals: 2, symbol: 'USD' })} left until {formatTime(spend.resetsAt)}
      </p>
    </div>
  )
}

function CardActions({ agent, state }: { readonly agent: Agent; readonly state: AgentState }): VNode {
  const isRevoking = useSignal(false)
  const isEnded = agent.status === 'revoked'
  const isHere = isSame(agent.agent, sessionAgent.value?.address)
  // The dialog has the button of the same agent while it is open.
  const draft = agentDraft.value
  const isInDialog = draft !== null && isSame(agent.agent, registeredOf(draft, agentList.value))
  return (
    <div class="agents-actions">
      {state.due === 'delegate' && !isInDialog && <DelegateButton agent={agent.agent} />}
      {state.due === 'undelegate' && <UndelegateButton agent={agent.agent} />}
      {!isEnded && !isHere && agent.mode === 'self' && (
        <Button small testId={`agent-change-${agent.agent}`} onClick={() => startChange(agent)}>
          Change limits
        </Button>
      )}
      <Button small kind="quiet" testId={`agent-log-${agent.agent}`} onClick={() => showLog(agent.agent)}>
        What it did
      </Button>
      {!isEnded && !isHere && (
        <Button small kind="danger" testId={`agent-revoke-${agent.agent}`} onClick={() => (isRevoking.value = true)}>
          Revoke
        </Button>
      )}
      {isHere && <span class="muted">End it under One-click trading.</span>}
      {isRevoking.value && <RevokeDialog agent={agent} onClose={() => (isRevoking.value = false)} />}
    </div>
  )
}

function DelegateButton({ agent }: { readonly agent: `0x${string}` }): VNode {
  const isAsking = useSignal(false)
  const replaced = useReplaced(agent)
  return (
    <>
      <Button
        small
        kind="primary"
        busy={isBusy(delegateAction(agent)).value}
        testId={`agent-delegate-${agent}`}
        onClick={() => (replaced === null ? void delegateTo(agent) : (isAsking.value = true))}
      >
        Delegate
      </Button>
      {isAsking.value && (
        <ConfirmDialog
          title="Replace your delegate"
          confirm="Send the delegation"
          body={`A trader has one delegate. This replaces ${replaced ?? 'the one before'}, which can't trade for you from then on.`}
          onConfirm={() => void delegateTo(agent)}
          onClose={() => (isAsking.value = false)}
        />
      )}
    </>
  )
}

function UndelegateButton({ agent }: { readonly agent: `0x${string}` }): VNode {
  return (
    <>
      <Button
        small
        kind="danger"
        busy={isBusy(UNDELEGATE).value}
        testId={`agent-undelegate-${agent}`}
        onClick={() => void endDelegation()}
      >
        End the delegation
      </Button>
      <ProblemNotice problem={problemOfAction(UNDELEGATE).value} />
    </>
  )
}

function showLog(agent: string): void {
  auditFilter.value = agent
  document.querySelector('#agents-audit')?.scrollIntoView({ block: 'start' })
}
