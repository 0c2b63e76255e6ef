import type { ApiKey } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { isBusy, problemOfAction } from '../session/act.ts'
import { keyLabel } from '../session/session.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { CopyText } from '../ui/CopyText.tsx'
import { DataTable, type Column } from '../ui/DataTable.tsx'
import { ConfirmDialog } from '../ui/Dialog.tsx'
import { Empty } from '../ui/Empty.tsx'
import { TextField } from '../ui/Field.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { Time } from '../ui/Time.tsx'
import {
  apiKeys,
  endKey,
  endKeyAction,
  ISSUE_KEY,
  issuedKey,
  issueKey,
  labelProblem,
  LIST_KEYS,
  listKeys,
  useApiKeys,
} from './apiKeyState.ts'

/** The read-only keys of the trader: issue, list, end. */
export function ApiKeys(): VNode {
  useApiKeys()
  const keys = apiKeys.value
  return (
    <section class="agents-section" id="agents-keys" aria-labelledby="agents-keys-title">
      <header class="agents-header">
        <h2 id="agents-keys-title">API keys</h2>
        <Button
          small
          kind={keys === null ? 'primary' : 'quiet'}
          busy={isBusy(LIST_KEYS).value}
          testId="keys-list"
          onClick={() => void listKeys()}
        >
          {keys === null ? 'Show my keys' : 'Read again'}
        </Button>
      </header>
      <p class="muted">
        A key reads your account and its stream, and nothing else. Listing, issuing and ending take a signature each.
      </p>
      <IssueForm />
      <IssuedNotice />
      <ProblemNotice problem={problemOfAction(LIST_KEYS).value} />
      {keys !== null && (
        <DataTable
          caption="API keys"
          columns={COLUMNS}
          rows={keys.toSorted((a, b) => b.createdAt - a.createdAt)}
          rowKey={({ label }) => label}
          rowTestId={({ label }) => `key-${label}`}
          empty={<Empty title="There is no key." />}
        />
      )}
    </section>
  )
}

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    id: 'label',
    header: 'Name',
    cell: ({ label }) => (
      <>
        {label} {label === keyLabel && <Badge tone="info">this browser</Badge>}
      </>
    ),
  },
  { id: 'created', header: 'Issued', hideBelow: 'lg', cell: ({ createdAt }) => <Time ms={createdAt} /> },
  {
    id: 'used',
    header: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time ms={lastUsedAt} as="age" />),
  },
  { id: 'end', header: 'End', hideHeader: true, align: 'end', cell: ({ label }) => <EndButton label={label} /> },
]

function IssueForm(): VNode {
  const label = useSignal('')
  const wrong = useSignal<string | null>(null)
  const submit = async (): Promise<void> => {
    wrong.value = labelProblem(label.value, keyLabel)
    if (wrong.value === null && (await issueKey(label.value))) label.value = ''
  }
  return (
    <form
      class="agents-inline"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <TextField
        label="Name of a new key"
        value={label.value}
        placeholder="dashboard"
        error={wrong.value}
        testId="key-label"
        onInput={(typed) => {
          label.value = typed
          wrong.value = null
        }}
      />
      <Button type="submit" busy={isBusy(ISSUE_KEY).value} testId="key-new">
        Issue a key
      </Button>
      <ProblemNotice problem={problemOfAction(ISSUE_KEY).value} />
    </form>
  )
}

function IssuedNotice(): VNode | null {
  const issued = issuedKey.value
  if (issued === null) return null
  const action = (
    <Button small onClick={() => (issuedKey.value = null)}>
      I have it
    </Button>
  )
  return (
    <Notice tone="good" title={`Key ${issued.label}, shown only now`} action={action} testId="key-issued">
      <CopyText text={issued.apiKey} testId="key-text" />
    </Notice>
  )
}

function EndButton({ label }: { readonly label: string }): VNode {
  const isAsking = useSignal(false)
  const isOwn = label === keyLabel
  return (
    <>
      <Button
        small
        kind="danger"
        busy={isBusy(endKeyAction(label)).value}
        testId={`key-end-${label}`}
        onClick={() => (isOwn ? (isAsking.value = true) : void endKey(label))}
      >
        End
      </Button>
      <ProblemNotice problem={problemOfAction(endKeyAction(label)).value} />
      {isAsking.value && (
        <ConfirmDialog
          title="End the key of this browser"
          danger
          confirm="End it"
          body="This page reads your account with it, in all tabs of this browser. You will have to sign in again."
          onConfirm={() => endKey(label)}
          onClose={() => (isAsking.value = false)}
        />
      )}
    </>
  )
}
