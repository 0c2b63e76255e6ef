import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { markets } from '../data/markets.ts'
import { serverNow } from '../data/now.ts'
import { clearProblem, isBusy, problemOfAction } from '../session/act.ts'
import { session } from '../session/session.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { TextField } from '../ui/Field.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { agentDraft, changeDraft, endDraft, madeKey, type AgentDraft } from './agentDraft.ts'
import { AUTHORISE, authoriseAgent } from './agentActions.ts'
import { agentList } from './agentsFeed.ts'
import { registeredOf } from './agentStatus.ts'
import { DelegateStage, useDueDelegation } from './DelegateStage.tsx'
import { KeyFields } from './KeyFields.tsx'
import { nameProblem, readAgentAddress, readScope, scopeWarning } from './scopeForm.ts'
import { ScopeFields } from './ScopeFields.tsx'

/** The dialog that makes or changes an agent. Renders nothing while there is no draft. */
export function AgentDialog(): VNode | null {
  const draft = agentDraft.value
  if (draft === null) return null
  return <OpenDialog draft={{ ...draft, registered: registeredOf(draft, agentList.value) }} />
}

function OpenDialog({ draft }: { readonly draft: AgentDraft }): VNode {
  const isTried = useSignal(false)
  const wantsToClose = useSignal(false)
  const made = madeKey.value
  const close = (): void => {
    if (made !== null && !made.isSaved && !wantsToClose.value) wantsToClose.value = true
    else {
      clearProblem(AUTHORISE)
      endDraft()
    }
  }
  const isDue = useDueDelegation(draft.registered)
  const title =
    draft.kind === 'change' ? 'Change the agent' : draft.registered === null ? 'New agent' : 'Delegate to it'
  return (
    <Dialog
      title={title}
      wide
      onClose={close}
      testId="agent-dialog"
      footer={
        draft.registered === null ? (
          <Footer draft={draft} onTry={() => (isTried.value = true)} />
        ) : (
          <Button testId="agent-done" onClick={close}>
            {isDue ? 'Later' : 'Done'}
          </Button>
        )
      }
    >
      <div class="agents-dialog">
        {wantsToClose.value && made !== null && !made.isSaved && <UnsavedNotice onClose={close} />}
        {draft.registered === null ? (
          <FormStage draft={draft} isTried={isTried.value} />
        ) : (
          <DelegateStage agent={draft.registered} onDone={() => (made === null || made.isSaved) && endDraft()} />
        )}
        {draft.registered !== null && made !== null && <KeyFields draft={draft} made={made} problem={null} />}
      </div>
    </Dialog>
  )
}

function UnsavedNotice({ onClose }: { readonly onClose: () => void }): VNode {
  const action = (
    <Button kind="danger" small testId="agent-close-unsaved" onClick={onClose}>
      Close and lose the key
    </Button>
  )
  return (
    <Notice tone="warn" title="The key is not saved" action={action}>
      Once this dialog is closed, nobody can get it back. Download or copy it first.
    </Notice>
  )
}

function FormStage({ draft, isTried }: { readonly draft: AgentDraft; readonly isTried: boolean }): VNode {
  const { scope, problems, address } = readDraft(draft)
  const warning = scope === null ? null : scopeWarning(scope)
  const addressProblem = 'problem' in address && (isTried || draft.address !== '') ? address.problem : null
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        placeholder="for instance grid bot"
        error={nameProblem(draft.name)}
        testId="agent-name"
        onInput={(name) => changeDraft({ name })}
      />
      {draft.kind === 'new' && <KeyFields draft={draft} made={madeKey.value} problem={addressProblem} />}
      <ScopeFields
        form={draft.form}
        problems={problems}
        onChange={(changes) => changeDraft({ form: { ...draft.form, ...changes } })}
      />
      {warning !== null && <Notice tone="warn">{warning}</Notice>}
      <p class="muted">
        The service checks these limits whenever the agent asks for a transaction. The chain itself knows only all or
        nothing: a delegate can trade there without the service, and can never withdraw.
      </p>
      <ProblemNotice problem={problemOfAction(AUTHORISE).value} testId="agent-problem" />
    </>
  )
}

function Footer({ draft, onTry }: { readonly draft: AgentDraft; readonly onTry: () => void }): VNode {
  const submit = async (): Promise<void> => {
    onTry()
    const { scope, address } = readDraft(draft)
    if (scope === null || 'problem' in address || nameProblem(draft.name) !== null) return
    const agent = madeKey.peek()?.account ?? address
    const answer = await authoriseAgent({ agent, name: draft.name.trim(), scope })
    if (answer === undefined) return
    const isDelegated = answer.agent.status === 'active' || scope.permissions === 'read'
    const hasUnsavedKey = madeKey.peek()?.isSaved === false
    if (isDelegated && !hasUnsavedKey) endDraft()
    else changeDraft({ registered: answer.agent.agent })
  }
  return (
    <Button kind="primary" busy={isBusy(AUTHORISE).value} testId="agent-authorise" onClick={() => void submit()}>
      {draft.kind === 'change' ? 'Sign the new limits' : 'Sign the authorisation'}
    </Button>
  )
}

function readDraft(draft: AgentDraft): ReturnType<typeof readScope> & { address: ReturnType<typeof readAgentAddress> } {
  const who = session.value
  const trader = who.kind === 'connected' && draft.kind === 'new' ? who.address : ''
  const symbols = markets.value?.map(({ symbol }) => symbol) ?? null
  return {
    ...readScope(draft.form, { symbols, nowMs: serverNow() }),
    address: readAgentAddress(draft.address, trader),
  }
}
