import { SANDBOX_ADDRESSES } from '@bezel/protocol'
import { snippetChain, type Deployment } from './deployment.ts'
import type { OpenapiDocument, OpenapiParameter } from '../openapi/openapiDocument.ts'
import type { Schema, Schemas } from '../openapi/schemaDescriber.ts'
import { refName } from '../openapi/openapiDocument.ts'
import { exampleBody, exampleText, isTraderAddress } from './exampleRequest.ts'
import { operationSnippets } from './operationSnippets.ts'
import { neededCaller, operationSection, operationViews, type NeededCaller, type OperationView } from './restPage.ts'

/** The page of one operation. */
export interface OperationPage {
  readonly operationId: string
  readonly summary: string
  readonly markdown: string
  /** Form that sends the operation; `undefined` where none is offered. */
  readonly form: RequestForm | undefined
}

/** Credentials that a form can send: none, a read-only key, or the signature of the sandbox's agent-1. */
type FormCredential = 'none' | 'key' | 'agent-1'

/** The form that sends an operation from its page. The page's script draws it. */
export interface RequestForm {
  readonly operationId: string
  readonly method: string
  /** Path with its parameters in braces. */
  readonly path: string
  readonly headerPrefix: string
  /** Address of agent-1, and the chain whose domain it signs for where the path names none. */
  readonly agent: string
  readonly chain: string
  readonly credentials: readonly FormCredential[]
  readonly fields: readonly FormField[]
  /** Body to begin with; absent where the operation takes none. */
  readonly body?: string
}

interface FormField {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly isRequired: boolean
  /** Value to begin with. */
  readonly value: string
  readonly choices?: readonly string[]
  readonly hint: string
}

/** Returns the page of every operation, with code and a form for this deployment. */
export function operationPages(document: OpenapiDocument, deployment: Deployment): readonly OperationPage[] {
  const { components } = document
  return operationViews(document).map((operation) => {
    const caller = neededCaller(operation, components.schemas)
    const section = operationSection(operation, components, operationSnippets({ operation, caller, deployment }))
    return {
      operationId: operation.operationId,
      summary: `${operation.summary}.`,
      markdown: `${ownPage(section)}\n`,
      form: formOf(operation, caller, { deployment, schemas: components.schemas }),
    }
  })
}

/** Turns a section of the page of all operations into a page of its own beside it. */
function ownPage(section: string): string {
  return section.replace(/^### /, '# ').replaceAll('](#schema-', '](rest.md#schema-')
}

function formOf(
  operation: OperationView,
  caller: NeededCaller,
  { deployment, schemas }: { readonly deployment: Deployment; readonly schemas: Schemas },
): RequestForm | undefined {
  const credentials = credentialsOf(operation, caller, deployment.isSandbox)
  if (credentials.length === 0) return undefined
  const { operationId, method, path, parameters, body } = operation
  const shown = parameters.filter((parameter) => parameter.in !== 'header')
  return {
    operationId,
    method,
    path,
    headerPrefix: deployment.headerPrefix,
    agent: SANDBOX_ADDRESSES['agent-1']!,
    chain: snippetChain(deployment).slug,
    credentials,
    fields: shown.map((parameter) => fieldOf(parameter, { path, deployment, schemas })),
    ...(body === undefined ? {} : { body: JSON.stringify(exampleBody(operation), undefined, 2) }),
  }
}

/** Returns the credentials that a form offers. A write is offered on the sandbox only, where nothing is at stake. */
function credentialsOf({ method, tag }: OperationView, caller: NeededCaller, isSandbox: boolean): FormCredential[] {
  if (caller === 'anybody') return ['none']
  // Agents and keys are changed by the trader's own wallet, which no page asks for.
  const isOfTrader = caller === 'trader' || caller === 'envelope' || (tag === 'Agents' && method !== 'GET')
  if (isOfTrader) return []
  const signed: FormCredential[] = isSandbox ? ['agent-1'] : []
  return method === 'GET' && caller === 'agentOrKey' ? [...signed, 'key'] : signed
}

function fieldOf(
  parameter: OpenapiParameter,
  of: { readonly path: string; readonly deployment: Deployment; readonly schemas: Schemas },
): FormField {
  const { name, in: place, required = false, description = '', schema } = parameter
  const { chains, isSandbox } = of.deployment
  const choices = name === 'chain' ? chains.map(({ slug }) => slug) : choicesOf(schema, of.schemas)
  return {
    name,
    in: place === 'path' ? 'path' : 'query',
    isRequired: required,
    value:
      name === 'chain'
        ? snippetChain(of.deployment).slug
        : valueOf(parameter, isTraderAddress(parameter, of.path), isSandbox),
    ...(choices === undefined ? {} : { choices }),
    hint: description,
  }
}

/** Returns the value that a field begins with: an example where one is needed, and never somebody's address. */
function valueOf(parameter: OpenapiParameter, isTrader: boolean, isSandbox: boolean): string {
  if (isTrader) return isSandbox ? SANDBOX_ADDRESSES['trader-1']! : ''
  if (parameter.required !== true) return ''
  const isAgent = parameter.name === 'address'
  return isAgent && !isSandbox ? '' : exampleText(parameter)
}

function choicesOf(schema: Schema, schemas: Schemas): readonly string[] | undefined {
  const own = schema.allOf?.[0] ?? schema
  const { enum: values } = own.$ref === undefined ? own : (schemas[refName(own.$ref)] ?? {})
  return values?.map(String)
}
