import type { AuditLogEntry } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { formatDate, shortAddress } from '../ground/format.ts'
import { Button } from '../ui/Button.tsx'
import { DataTable, type Column } from '../ui/DataTable.tsx'
import { Empty } from '../ui/Empty.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { SelectField } from '../ui/SelectField.tsx'
import { Time } from '../ui/Time.tsx'
import { agentList } from './agentsFeed.ts'
import { isSame, sortAgents } from './agentStatus.ts'
import { auditEntries, auditFilter, auditProblem, hasOlderEntries, readOlder, useAudit } from './auditState.ts'
import { auditDetail, auditSentence } from './auditWords.ts'

/** Choice of the filter that shows API keys only. */
const KEYS = 'keys'

/** The changes of rights on the account, newest first: what happened to agents and keys, of all of them or of one. */
export function AuditLog(): VNode {
  useAudit()
  const isReading = useSignal(false)
  const rows = auditEntries.value?.filter(isWanted) ?? null
  const more = async (): Promise<void> => {
    isReading.value = true
    await readOlder()
    isReading.value = false
  }
  return (
    <section class="agents-section" id="agents-audit" aria-labelledby="agents-audit-title" data-testid="audit">
      <header class="agents-header">
        <h2 id="agents-audit-title">Log of rights</h2>
        <Filter />
      </header>
      <ProblemNotice problem={auditProblem.value} />
      <DataTable
        caption="Changes of rights on the account"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => String(id)}
        rowTestId={({ id }) => `audit-${id}`}
        empty={<NoEntries />}
      />
      {hasOlderEntries.value && (
        <Button testId="audit-more" busy={isReading.value} onClick={() => void more()}>
          Older entries
        </Button>
      )}
    </section>
  )
}

function NoEntries(): VNode {
  if (auditFilter.value !== '' && hasOlderEntries.value)
    return <Empty title="Nothing of it is among the newest entries.">Older ones may have it.</Empty>
  return (
    <Empty title="Nothing is logged here yet.">
      Authorised agents, delegations, keys and refusals appear once one of your agents or positions is on the chain.
    </Empty>
  )
}

const COLUMNS: readonly Column<AuditLogEntry>[] = [
  { id: 'time', header: 'Time', cell: ({ createdAt }) => <Time ms={createdAt} /> },
  { id: 'what', header: 'What', cell: (entry) => auditSentence(entry) },
  { id: 'who', header: 'Agent or key', cell: (entry) => whoOf(entry) },
  {
    id: 'detail',
    header: 'Details',
    hideHeader: true,
    cell: ({ detail }) => <span class="agents-detail">{auditDetail(detail, formatDate)}</span>,
    hideBelow: 'sm',
  },
]

function Filter(): VNode {
  const agents = sortAgents(agentList.value ?? [])
  return (
    <SelectField
      label="Show"
      value={auditFilter.value}
      testId="audit-filter"
      options={[
        { value: '', label: 'everything' },
        { value: KEYS, label: 'API keys' },
        ...agents.map(({ agent, name }) => ({ value: agent, label: name === '' ? shortAddress(agent) : name })),
      ]}
      onChange={(filter) => (auditFilter.value = filter)}
    />
  )
}

function isWanted({ agent, keyLabel, detail }: AuditLogEntry): boolean {
  const filter = auditFilter.value
  if (filter === '') return true
  if (filter === KEYS) return keyLabel !== null
  const delegate = detail?.['delegate']
  return isSame(filter, agent) || isSame(filter, typeof delegate === 'string' ? delegate : null)
}

function whoOf({ agent, keyLabel }: AuditLogEntry): string {
  if (keyLabel !== null) return keyLabel
  if (agent === null) return '–'
  const name = agentList.value?.find((known) => isSame(known.agent, agent))?.name ?? ''
  return name === '' ? shortAddress(agent) : `${name} ${shortAddress(agent)}`
}
