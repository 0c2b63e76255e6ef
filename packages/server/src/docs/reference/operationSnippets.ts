import type { OpenapiParameter } from '../openapi/openapiDocument.ts'
import { snippetChain, type Deployment } from './deployment.ts'
import { SERVER_SETTINGS } from '../../settings/config.ts'
import { CLI_LINES, PYTHON_METHODS, SDK_CALLS } from './clientCalls.ts'
import { exampleAddress, exampleBody, examplePath, exampleText, isTraderAddress } from './exampleRequest.ts'
import type { NeededCaller, OperationView } from './restPage.ts'

/** The place that a snippet is for: one operation of one deployment. */
interface SnippetPlace {
  readonly operation: OperationView
  readonly caller: NeededCaller
  readonly deployment: Deployment
}

/** Returns code that calls an operation, one block for each client: curl, the SDK, Python, the command line. */
export function operationSnippets(place: SnippetPlace): string {
  const blocks = [
    ['sh curl', curlText(place)],
    ['ts TypeScript', sdkText(place)],
    ['python Python', pythonText(place)],
    ['sh CLI', cliText(place)],
  ] as const
  return blocks.flatMap(([info, code]) => (code === undefined ? [] : [`\`\`\`${info}\n${code}\n\`\`\``])).join('\n\n')
}

function curlText({ operation, caller, deployment }: SnippetPlace): string {
  const { operationId, method, body } = operation
  const path = examplePath(operation, deployment)
  const url = shellText(deployment.baseUrl + path)
  const verb = method === 'GET' || (method === 'POST' && body !== undefined) ? '' : ` -X ${method}`
  const json = `-H 'Content-Type: application/json'`
  if (caller === 'agentOrKey' && method === 'GET')
    return `curl -s ${url} \\\n  -H "${deployment.headerPrefix}Api-Key: $API_KEY"`
  if (caller === 'anybody') {
    return body === undefined
      ? `curl -s${verb} ${url}`
      : `curl -s ${url} ${json} -d ${quoted(JSON.stringify(exampleBody(operation)))}`
  }
  if (caller === 'trader' || caller === 'envelope') {
    const signer = caller === 'trader' ? "the trader's wallet" : 'an agent'
    return `# body.json is the body below, signed by ${signer}\ncurl -s${verb} ${url} ${json} -d @body.json`
  }
  const sent = body === undefined ? undefined : JSON.stringify(exampleBody(operation))
  const lines = [
    '# sign.mjs is on the page Signing, AGENT_KEY the key of the agent',
    ...(sent === undefined ? [] : [`BODY=${quoted(sent)}`]),
    `node sign.mjs ${operationId} ${method} ${shellText(path)}${sent === undefined ? '' : ' "$BODY"'} |`,
    `  curl -s${verb} ${url} -H @-${sent === undefined ? '' : ` ${json} --data-binary "$BODY"`}`,
  ]
  return lines.join('\n')
}

/** Returns a text in single quotes, as a shell takes it literally. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Returns a URL or a path for a shell, in quotes where it needs them. Variables in it are filled in. */
function shellText(text: string): string {
  return /^[\w:/.@%-]+$/.test(text) ? text : `"${text}"`
}

function sdkText({ operation, caller, deployment }: SnippetPlace): string | undefined {
  const { operationId, method } = operation
  const call = SDK_CALLS[operationId]
  if (call === undefined) {
    if (caller !== 'anybody' || method !== 'GET') return undefined
    const url = deployment.baseUrl + examplePath(operation, deployment)
    return `const answer = await fetch(\`${url.replace('$TRADER', '${process.env.TRADER}')}\`)\nconsole.log(await answer.json())`
  }
  const { slug, diamond } = snippetChain(deployment)
  const { isSandbox, baseUrl, headerPrefix } = deployment
  const needs = caller === 'anybody' ? 'nothing' : method === 'GET' && caller === 'agentOrKey' ? 'key' : 'agent'
  // Only a write of an agent sends a transaction.
  const sends = caller === 'agent' && method !== 'GET'
  const options = [
    `  baseUrl: '${baseUrl}',`,
    `  chain: '${slug}',`,
    ...(headerPrefix === WRITTEN_PREFIX ? [] : [`  headerPrefix: '${headerPrefix}',`]),
    ...(needs === 'nothing' && !isAboutTrader(operation)
      ? []
      : [`  trader: ${exampleAddress(isSandbox, hexEnv('TRADER'))},`]),
    ...(needs === 'key' ? ['  apiKey: process.env.API_KEY!,'] : []),
    ...(needs === 'agent' ? ['  agent,'] : []),
    ...(sends ? ['  sender: privateKeySender({ account: agent, rpcUrl: process.env.RPC_URL! }),'] : []),
    ...(needs === 'agent' && diamond !== undefined ? [`  diamond: '${diamond}',`] : []),
  ]
  const names = sends ? 'createBezelClient, privateKeySender' : 'createBezelClient'
  const needsWallet = /\bwallet\b/.test(call)
  return [
    `import { ${names} } from '@bezel/sdk'`,
    ...(needs === 'agent' ? ["import { privateKeyToAccount } from 'viem/accounts'"] : []),
    '',
    ...(needs === 'agent' ? [`const agent = privateKeyToAccount(${hexEnv('AGENT_KEY')})`] : []),
    ...(needsWallet ? [`const wallet = privateKeyToAccount(${hexEnv('TRADER_KEY')})`] : []),
    'const client = createBezelClient({',
    ...options,
    '})',
    `console.log(await ${call})`,
  ].join('\n')
}

const WRITTEN_PREFIX = SERVER_SETTINGS.BEZEL_HEADER_PREFIX.defaultValue

/** Returns the value of an environment variable as the hex text that viem takes. */
function hexEnv(name: string): string {
  return `process.env.${name} as \`0x\${string}\``
}

function pythonText({ operation, caller, deployment }: SnippetPlace): string {
  const { operationId, method } = operation
  const { slug, diamond } = snippetChain(deployment)
  const { isSandbox, baseUrl, headerPrefix } = deployment
  const isKeyEnough = method === 'GET' && caller === 'agentOrKey'
  const call = PYTHON_METHODS[operationId] ?? `api.${snake(operationId)}(${pythonArguments(operation)})`
  const options = [
    JSON.stringify(baseUrl),
    `chain="${slug}"`,
    ...(headerPrefix === WRITTEN_PREFIX ? [] : [`header_prefix="${headerPrefix}"`]),
  ]
  if (caller !== 'anybody' || isAboutTrader(operation)) {
    options.push(`trader=${exampleAddress(isSandbox, 'os.environ["TRADER"]', '"')}`)
  }
  if (isKeyEnough) options.push('api_key=os.environ["API_KEY"]')
  else if (caller !== 'anybody') {
    options.push('agent=PrivateKey(os.environ["AGENT_KEY"])', 'rpc_url=os.environ["RPC_URL"]')
    if (diamond !== undefined) options.push(`diamond="${diamond}"`)
  }
  const needsWallet = /\bwallet\b/.test(call)
  const needsKeys = (caller !== 'anybody' && !isKeyEnough) || needsWallet
  return [
    ...(options.some((option) => option.includes('os.')) || needsWallet ? ['import os', ''] : []),
    `from bezel import Client${needsKeys ? ', PrivateKey' : ''}`,
    '',
    ...(needsWallet ? ['wallet = PrivateKey(os.environ["TRADER_KEY"])'] : []),
    options.length <= 2
      ? `client = Client(${options.join(', ')})`
      : `client = Client(\n    ${options.join(',\n    ')},\n)`,
    `print(client.${call})`,
  ].join('\n')
}

/** True for an operation whose path names a trader. */
function isAboutTrader({ path, parameters }: OperationView): boolean {
  return parameters.some((parameter) => isTraderAddress(parameter, path))
}

/** Returns the arguments of the method of `client.api`: the path's, the body, then what the query must have. */
function pythonArguments(operation: OperationView): string {
  const { path, parameters, body } = operation
  const inPath = parameters.filter((of) => of.in === 'path' && of.name !== 'chain' && !isTraderAddress(of, path))
  const inQuery = parameters.filter((of) => of.in === 'query' && of.required === true)
  return [
    ...inPath.map((of) => pythonValue(exampleText(of))),
    ...(body === undefined ? [] : [pythonValue(exampleBody(operation))]),
    ...inQuery.map((of: OpenapiParameter) => `${snake(of.name)}=${pythonValue(of.example ?? exampleText(of))}`),
  ].join(', ')
}

/** Returns a value of JSON as Python writes it. */
function pythonValue(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: ${pythonValue(inner)}`)
    .join(', ')}}`
}

/** Returns a name as the Python client writes it. */
function snake(name: string): string {
  const text = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  return text === 'from' ? 'from_' : text
}

function cliText({ operation, deployment }: SnippetPlace): string | undefined {
  const line = CLI_LINES[operation.operationId]
  if (line === undefined) return undefined
  const { slug } = snippetChain(deployment)
  const { headerPrefix, baseUrl } = deployment
  const prefix = headerPrefix === WRITTEN_PREFIX ? '' : ` BEZEL_HEADER_PREFIX=${headerPrefix}`
  return `export BEZEL_URL=${baseUrl} BEZEL_CHAIN=${slug}${prefix}\nnpx bezel ${line}`
}
