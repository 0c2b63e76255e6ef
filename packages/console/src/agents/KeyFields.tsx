import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { problemOf, type Problem } from '../ground/problem.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { CopyText } from '../ui/CopyText.tsx'
import { Field, TextField, type FieldIds } from '../ui/Field.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { changeDraft, makeKey, noteSaved, type AgentDraft, type MadeKey } from './agentDraft.ts'
import { encryptKeystore, keystoreFileName, passwordProblem } from './keystore.ts'

interface KeyFieldsProps {
  readonly draft: AgentDraft
  readonly made: MadeKey | null
  readonly problem: string | null
}

/** The agent's address, pasted, or a key that is made here. */
export function KeyFields({ draft, made, problem }: KeyFieldsProps): VNode {
  if (made !== null) return <MadeKeyFields made={made} />
  return (
    <fieldset class="agents-fields">
      <legend class="agents-legend">Key</legend>
      {draft.hasOwnKey && (
        <Notice tone="warn" title="The key is gone">
          It was never stored, and the reload has forgotten it. Make a new one, or paste the address if you saved the
          key.
        </Notice>
      )}
      <TextField
        label="Address of the agent"
        mono
        value={draft.address}
        placeholder="0x…"
        hint="Paste it from where its key is, for instance from bezel agent new"
        error={problem}
        testId="agent-address"
        onInput={(address) => changeDraft({ address })}
      />
      <div class="agents-or">
        <span class="muted">or</span>
        <Button testId="agent-generate" onClick={makeKey}>
          Make a key here
        </Button>
      </div>
    </fieldset>
  )
}

function MadeKeyFields({ made }: { readonly made: MadeKey }): VNode {
  return (
    <fieldset class="agents-fields">
      <legend class="agents-legend">Key</legend>
      <p class="agents-pair">
        <span class="muted">Address</span>
        <CopyText text={made.account.address} testId="agent-made-address" />
      </p>
      <Notice tone={made.isSaved ? 'good' : 'warn'} title={made.isSaved ? 'Saved' : 'Shown only now'}>
        Nobody else has this key and this page forgets it when the dialog closes. Save the file, or copy the key into
        the program that trades.
      </Notice>
      <p class="agents-key">
        <code data-testid="agent-key">{made.privateKey}</code>
        <span onClick={noteSaved}>
          <CopyText text={made.privateKey} label="Copy the key" />
        </span>
      </p>
      <KeystoreForm made={made} />
    </fieldset>
  )
}

function KeystoreForm({ made }: { readonly made: MadeKey }): VNode {
  const password = useSignal('')
  const isShown = useSignal(false)
  const isBusy = useSignal(false)
  const wrong = useSignal<string | null>(null)
  const failure = useSignal<Problem | null>(null)
  const { address } = made.account
  const save = async (): Promise<void> => {
    wrong.value = passwordProblem(password.value)
    if (wrong.value !== null) return
    isBusy.value = true
    failure.value = null
    try {
      const keystore = await encryptKeystore(made.privateKey, password.value)
      offerFile(keystoreFileName(address), `${JSON.stringify(keystore, null, 2)}\n`)
      noteSaved()
    } catch (error) {
      failure.value = problemOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form
      class="agents-keystore"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      {/* Password managers file the password under this name. */}
      <input type="text" name="username" autocomplete="username" value={address} readOnly hidden tabIndex={-1} />
      <Field label="Password of the file" hint="The key can't be had without it" error={wrong.value}>
        {(ids: FieldIds) => (
          <input
            {...ids}
            class="input"
            type={isShown.value ? 'text' : 'password'}
            autocomplete="new-password"
            value={password.value}
            data-testid="keystore-password"
            onInput={(event) => (password.value = event.currentTarget.value)}
          />
        )}
      </Field>
      <Checkbox label="Show the password" checked={isShown.value} onChange={(shown) => (isShown.value = shown)} />
      <Button type="submit" busy={isBusy.value} testId="keystore-download">
        Download encrypted key
      </Button>
      <ProblemNotice problem={failure.value} />
    </form>
  )
}

/** Lets the browser save a text as a file. */
function offerFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has begun by the next task, and the address may go.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
