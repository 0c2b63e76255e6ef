import type { VNode } from 'preact'
import { session, sessionProblem, signIn } from '../session/session.ts'
import { Button } from '../ui/Button.tsx'
import { Empty } from '../ui/Empty.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { AgentCard } from './AgentCard.tsx'
import { AgentDialog } from './AgentDialog.tsx'
import { startAgent } from './agentDraft.ts'
import { agentList, useAgentsFeed } from './agentsFeed.ts'
import { sortAgents } from './agentStatus.ts'
import { ApiKeys } from './ApiKeys.tsx'
import { AuditLog } from './AuditLog.tsx'
import { SessionAgentPanel } from './SessionAgentPanel.tsx'
import './agents.css'

/** The view of agents, read-only keys and the log of rights. */
export function AgentsView(): VNode {
  const who = session.value
  return (
    <div class="agents-view" data-testid="agents">
      <h1>Agents</h1>
      <p class="muted">
        An agent is a key that trades for you within limits. It can never withdraw, and you can cut it off at any time.
      </p>
      {who.kind === 'connected' && who.isSignedIn ? <SignedInView /> : <WayIn />}
    </div>
  )
}

function SignedInView(): VNode {
  useAgentsFeed()
  return (
    <div class="agents-columns">
      <div class="agents-column">
        <AgentList />
        <AuditLog />
      </div>
      <div class="agents-column">
        <SessionAgentPanel />
        <ApiKeys />
      </div>
      <AgentDialog />
    </div>
  )
}

function AgentList(): VNode {
  const agents = agentList.value
  return (
    <section class="agents-section" aria-labelledby="agents-list-title">
      <header class="agents-header">
        <h2 id="agents-list-title">Your agents</h2>
        <Button small kind="primary" testId="agent-new" onClick={startAgent}>
          New agent
        </Button>
      </header>
      {agents === null ? (
        <Skeleton lines={3} />
      ) : agents.length === 0 ? (
        <Empty title="You have no agent.">
          Make one for a program that trades for you. Your wallet trades without one.
        </Empty>
      ) : (
        <ul class="agents-list">
          {sortAgents(agents).map((agent) => (
            <AgentCard key={agent.agent} agent={agent} />
          ))}
        </ul>
      )}
    </section>
  )
}

/** The next step of somebody who is not signed in. */
function WayIn(): VNode {
  const who = session.value
  if (who.kind === 'none') {
    return <Empty title="No wallet is connected.">Connect one at the top of the page to see your agents.</Empty>
  }
  if (who.kind === 'connecting') {
    return <Empty title={`Connecting to ${who.walletName}`}>Answer the question of your wallet.</Empty>
  }
  return (
    <Empty title="You are not signed in.">
      <p>{who.signedOutBecause ?? 'One signature lets this page read your agents. It moves nothing.'}</p>
      <Button kind="primary" testId="agents-sign-in" onClick={() => void signIn()}>
        Sign in
      </Button>
      <ProblemNotice problem={sessionProblem.value} />
    </Empty>
  )
}
