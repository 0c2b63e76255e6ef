import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { formatDate, shortAddress } from '../ground/format.ts'
import { markets } from '../data/markets.ts'
import { serverNow } from '../data/now.ts'
import { isBusy, problemOfAction, runAction } from '../session/act.ts'
import {
  activeSigner,
  chooseSigner,
  createSessionAgent,
  endSessionAgent,
  sessionAgent,
  type SessionAgent,
} from '../session/sessionAgent.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { CopyText } from '../ui/CopyText.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { DecimalField } from '../ui/Field.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { SegmentedControl } from '../ui/SegmentedControl.tsx'
import { renewAgents } from './agentsFeed.ts'
import { ReplacedNotice } from './DelegateStage.tsx'
import { scopeWords } from './auditWords.ts'
import { NEW_SCOPE, readScope, type ScopeForm } from './scopeForm.ts'
import { ScopeFields } from './ScopeFields.tsx'

const CREATE = 'session-agent'

const END = 'session-agent-end'

/** Coins that are enough for some hundred transactions of the chains that are served. */
const DEFAULT_GAS = '0.01'

const STAGES = {
  authorising: 'waits for your signature',
  delegating: 'waits for the delegation',
  funding: 'waits for its gas',
  ready: 'ready',
} as const

/** Trading with one click: an agent whose key lives in this tab. */
export function SessionAgentPanel(): VNode {
  const isMaking = useSignal(false)
  const agent = sessionAgent.value
  return (
    <section class="agents-section" aria-labelledby="agents-session-title" data-testid="session-agent">
      <header class="agents-header">
        <h2 id="agents-session-title">One-click trading</h2>
        {agent === null && (
          <Button small testId="session-agent-new" onClick={() => (isMaking.value = true)}>
            Set it up
          </Button>
        )}
      </header>
      {agent === null ? (
        <p class="muted">
          By default your wallet asks twice for each order. An agent whose key stays in this tab sends orders without
          asking, within limits that you set now. It ends with the tab.
        </p>
      ) : (
        <Present agent={agent} />
      )}
      {isMaking.value && <MakeDialog onClose={() => (isMaking.value = false)} />}
    </section>
  )
}

function Present({ agent }: { readonly agent: SessionAgent }): VNode {
  const isReady = agent.stage === 'ready'
  // The delegation may have been taken away since.
  const shownStage = isReady && agent.status === 'pending_delegation' ? 'delegating' : agent.stage
  const end = (): Promise<unknown> =>
    runAction(END, () => endSessionAgent().finally(() => renewAgents().catch(() => undefined)), {
      needs: 'wallet',
      done: 'One-click trading ended',
    })
  const goOn = (): Promise<unknown> =>
    runAction(CREATE, () => createSessionAgent({ scope: agent.scope }), { needs: 'wallet' })
  return (
    <>
      <p class="agents-pair">
        <Badge tone={shownStage === 'ready' ? 'good' : 'warn'} testId="session-agent-stage">
          {STAGES[shownStage]}
        </Badge>
        <CopyText text={agent.address} label={shortAddress(agent.address)} />
      </p>
      <p class="agents-scope">{scopeWords(agent.scope, formatDate).join(' · ')}</p>
      <SegmentedControl
        label="Who signs orders"
        hideLabel={false}
        options={[
          { value: 'wallet', label: 'Wallet, by prompts', testId: 'signer-wallet' },
          { value: 'session', label: 'This tab, one click', disabled: !isReady, testId: 'signer-session' },
        ]}
        value={activeSigner.value}
        onChange={chooseSigner}
      />
      <ProblemNotice problem={problemOfAction(CREATE).value ?? problemOfAction(END).value} />
      <div class="agents-actions">
        {!isReady && (
          <Button small kind="primary" busy={isBusy(CREATE).value} onClick={() => void goOn()}>
            Go on
          </Button>
        )}
        <Button small kind="danger" busy={isBusy(END).value} testId="session-agent-end" onClick={() => void end()}>
          End it
        </Button>
      </div>
    </>
  )
}

function MakeDialog({ onClose }: { readonly onClose: () => void }): VNode {
  const form = useSignal<ScopeForm>({ ...NEW_SCOPE, expiry: '8h' })
  const gas = useSignal(DEFAULT_GAS)
  const symbols = markets.value?.map(({ symbol }) => symbol) ?? null
  const { scope, problems } = readScope(form.value, { symbols, nowMs: serverNow() })
  const make = async (): Promise<void> => {
    if (scope === null) return
    const coins = gas.value === '' ? {} : { gas: gas.value }
    const made = await runAction(CREATE, () => createSessionAgent({ scope, ...coins }), {
      needs: 'wallet',
      done: 'Orders go out with one click now',
    })
    void renewAgents().catch(() => undefined)
    if (made !== undefined) onClose()
  }
  const footer = (
    <Button
      kind="primary"
      busy={isBusy(CREATE).value}
      disabled={scope === null}
      testId="session-agent-create"
      onClick={() => void make()}
    >
      Sign and delegate
    </Button>
  )
  return (
    <Dialog title="One-click trading" wide onClose={onClose} footer={footer}>
      <div class="agents-dialog">
        <p>Your wallet asks for a signature, for the delegation, and for the gas that you send along.</p>
        <ScopeFields
          form={form.value}
          problems={problems}
          onChange={(changes) => (form.value = { ...form.value, ...changes })}
        />
        <DecimalField
          label="Gas to send along"
          unit="native coins"
          value={gas.value}
          hint="What is left comes back when you end it"
          testId="session-agent-gas"
          onInput={(typed) => (gas.value = typed)}
        />
        <ReplacedNotice agent="" />
        <ProblemNotice problem={problemOfAction(CREATE).value} />
      </div>
    </Dialog>
  )
}
