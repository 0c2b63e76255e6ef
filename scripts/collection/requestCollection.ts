import {
  resolveRef,
  type OpenapiDocument,
  type OpenapiOperation,
  type OpenapiParameter,
} from '../../packages/server/src/docs/openapi/openapiDocument.ts'

const FILE = 'clients/http/bezel.http'
const HOST = 'http://127.0.0.1:8080'

/** Variables of path parameters that mean different things, by the part of the path before them. */
const VARIABLES: Readonly<Record<string, string>> = {
  'markets/{symbol}': 'market',
  'agents/{address}': 'agent',
  'orders/{id}': 'orderId',
  'positions/{id}': 'positionId',
  'close/{id}': 'positionId',
  'position/{id}': 'positionId',
}

const HEAD = `# Every operation of the API, for editors and tools that send .http files. Public reads work as they are.
# For the others start the signer, and set the address that it prints as host (README.md beside this file):
#   AGENT_KEY=0x... node clients/http/sign.mjs
# Made by \`npm run reference\` from docs/reference/openapi.json; the bodies are those of a real run.`

/** An operation with its method and path. */
interface Request {
  readonly method: string
  readonly path: string
  readonly operation: OpenapiOperation
}

/** Returns the collection of requests that is made from the reference: text by path from the root of the project. */
export function requestCollection(document: OpenapiDocument): Readonly<Record<string, string>> {
  const requests = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Request => ({ method: method.toUpperCase(), path, operation })),
  )
  const variables = new Map([['host', HOST], ...requests.flatMap((request) => variablesOf(request, document))])
  const head = [HEAD, ...[...variables].map(([name, value]) => `@${name} = ${value}`)].join('\n')
  const sections = Map.groupBy(requests, ({ operation }) => operation.tags[0]!)
  const texts = [...sections].flatMap(([tag, own]) => own.map((request) => requestText(tag, request, document)))
  return { [FILE]: `${[head, ...texts].join('\n\n')}\n` }
}

/** Returns the variables in the path of a request, with values of the recorded run. */
function variablesOf({ path, operation }: Request, document: OpenapiDocument): [string, string][] {
  return parametersOf(operation, document)
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, example = name }) => [variableOf(path, name), encodeURIComponent(String(example))])
}

function requestText(tag: string, request: Request, document: OpenapiDocument): string {
  const { method, path, operation } = request
  const query = parametersOf(operation, document).filter((parameter) => parameter.in === 'query')
  const required = query.filter((parameter) => parameter.required === true)
  const optional = query.filter((parameter) => parameter.required !== true)
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const url = names.reduce((filled, name) => filled.replace(`{${name}}`, `{{${variableOf(path, name)}}}`), path)
  const body = operation.requestBody?.content['application/json']?.example
  return [
    `### ${tag}: ${operation.operationId}. ${operation.summary}`,
    `# @name ${operation.operationId}`,
    `# ${accessText(operation)}`,
    ...(optional.length === 0 ? [] : [`# May have: ${optional.map(pairText).join('&')}`]),
    `${method} {{host}}${url}${required.length === 0 ? '' : `?${required.map(pairText).join('&')}`}`,
    ...(body === undefined ? [] : ['Content-Type: application/json', '', JSON.stringify(body, undefined, 2)]),
  ].join('\n')
}

/** Returns the sentence that says who may send a request. */
function accessText({ operationId, tags, security = [], requestBody }: OpenapiOperation): string {
  const schemes = security.flatMap((scheme) => Object.keys(scheme))
  const isTraders = tags.includes('Agents')
  if (schemes.includes('ApiKey')) return 'Signed by the agent, or with an API key.'
  if (schemes.length > 0) return isTraders ? "Signed by the trader's wallet." : 'Signed by the agent.'
  if (operationId === 'hlExchange')
    return 'Signed in its body, as clients of that exchange do; the signer passes it on.'
  if (isTraders && requestBody !== undefined) return "Signed in its body by the trader's wallet."
  return 'Public.'
}

function pairText({ name, example = '' }: OpenapiParameter): string {
  return String(new URLSearchParams({ [name]: String(example) }))
}

function parametersOf({ parameters = [] }: OpenapiOperation, { components }: OpenapiDocument): OpenapiParameter[] {
  return parameters.map((parameter) => resolveRef(parameter, components.parameters))
}

function variableOf(path: string, name: string): string {
  const before = path.slice(0, path.indexOf(`/{${name}}`))
  return VARIABLES[`${before.slice(before.lastIndexOf('/') + 1)}/{${name}}`] ?? name
}
