import type { OpenapiDocument } from '../openapi/createDocument.ts'
import { table } from '../markdown/table.ts'
import { boundsText } from './boundsText.ts'
import { callerOf, type Caller } from './callerOf.ts'
import { fieldTable } from './fieldTable.ts'
import { openapiView, type OpenapiView } from './openapiView.ts'
import { operationSection } from './operationSection.ts'
import type { Schema } from './schema.ts'
import { typeText } from './typeText.ts'

/** docs/reference/rest.md: every operation and every schema of the document. */
export function restPage(document: OpenapiDocument): string {
  const view = openapiView(document)
  const parts = [
    '# REST operations',
    'Made from [openapi.json](openapi.json), which is made from the routes themselves.',
    view.description,
    'How the operations fit together is in the [guide](../api.md), how requests are signed in [Signing](../signing.md), what errors mean in [Errors](errors.md).',
    overview(view),
    ...view.tags.flatMap(({ name, description }) => tagParts(name, description, view)),
    '## Schemas',
    'Objects take no fields beyond these, unless it says so.',
    ...Object.entries(view.schemas).map(([name, schema]) => schemaSection(name, schema)),
  ]
  return `${parts.join('\n\n')}\n`
}

const NEEDS: Readonly<Record<Caller, string>> = {
  anybody: '',
  agent: 'agent',
  agentOrKey: 'agent or key',
  trader: 'trader',
  envelope: 'agent, in the body',
}

function overview(view: OpenapiView): string {
  const rows = view.operations.map((operation) => [
    `[${operation.operationId}](#${operation.operationId.toLowerCase()})`,
    `\`${operation.method} ${operation.path}\``,
    NEEDS[callerOf(operation, view)],
  ])
  return table(['Operation', 'Request', 'Signed by'], rows)
}

function tagParts(name: string, description: string, view: OpenapiView): string[] {
  const own = view.operations.filter(({ tag }) => tag === name)
  if (own.length === 0) return []
  return [`## ${name}`, description, ...own.map((operation) => operationSection(operation, view))]
}

function schemaSection(name: string, schema: Schema): string {
  const { properties, description } = schema
  const bounds = boundsText(schema)
  const words = properties === undefined ? [typeText(schema, ''), bounds].filter((text) => text !== '') : []
  return [
    `### Schema: ${name}`,
    description ?? '',
    words.length === 0 ? '' : `${words.join(', ')}.`,
    fieldTable(schema, ''),
    ...(schema.anyOf ?? []).map((choice) => fieldTable(choice, '')),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}
