import type { OpenapiParameter } from '../openapi/openapiDocument.ts'
import { snippetChain, type Deployment } from './deployment.ts'
import { SERVER_SETTINGS } from '../../settings/config.ts'
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

/**
 * Calls of the SDK by operation, as they follow `await`; `wallet` is the trader's own. An operation that is not here is
 * shown with `fetch` when everybody may read it.
 */
export const SDK_CALLS: Readonly<Record<string, string>> = {
  getChainInfo: 'client.info()',
  listMarkets: 'client.markets.list()',
  getMarket: "client.markets.get('BTC/USD')",
  getOrderBook: "client.markets.book('BTC/USD', { levels: 5 })",
  getFunding: "client.markets.funding('BTC/USD')",
  getPrices: 'client.markets.prices()',
  getRecentTrades: "client.markets.trades('BTC/USD', { limit: 20 })",
  getCandles: "client.markets.candles('BTC/USD', { interval: '5m' })",
  createAgent: "client.agents.authorize({ trader: wallet, name: 'bot' })",
  getAgent: "client.agents.get('0x4082c833EC182979622b4c14184d6C0EeeafDd7A')",
  revokeAgent: 'client.agents.revoke({ trader: wallet })',
  issueApiKey: "client.agents.issueApiKey({ trader: wallet, label: 'dashboard' })",
  listApiKeys: 'client.agents.listApiKeys()',
  revokeApiKey: "client.agents.revokeApiKey({ trader: wallet, label: 'dashboard' })",
  getAccount: 'client.account.get()',
  listPositions: 'client.account.positions()',
  listOpenOrders: 'client.account.openOrders()',
  listOrderHistory: 'client.account.orderHistory({ limit: 20 })',
  listFills: 'client.account.fills({ limit: 20 })',
  listEvents: 'client.account.events({ after: 0 })',
  listAudit: 'client.account.audit({ limit: 20 })',
  previewOrder:
    "client.preview.order({ market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' })",
  previewClose: "client.preview.close('3')",
  previewPosition: "client.preview.position('3', { leverage: '5' })",
  getOrder: "client.orders.get('7')",
  getOrderByClientId: "client.orders.getByClientId('first-1')",
  createOrder:
    "client.orders.create({ market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' })",
  updateOrder: "client.orders.update('7', { price: '59500' })",
  cancelOrder: "client.orders.cancel('7')",
  cancelAllOrders: 'client.orders.cancelAll()',
  submitOrder: "client.orders.submit('7', '0xfa9cfbbcccba3ac91b7d25434ba0491c2e12bd87705450e00cb08d16e229954c')",
  getPosition: "client.positions.get('3')",
  closePosition: "client.positions.close('3')",
  updatePosition: "client.positions.update('3', { sl: '58000' })",
  cancelPositionUpdate: "client.positions.cancelUpdate('3')",
  closeAllPositions: 'client.positions.closeAll()',
  flatten: 'client.flatten()',
  listNotifications: 'client.notifications.list()',
  dismissNotification: 'client.notifications.dismiss(42)',
}

/**
 * Methods of the Python client by operation, for those that go the whole way from the request to the chain. The others
 * are methods of `client.api`, whose names follow from the operation.
 */
export const PYTHON_METHODS: Readonly<Record<string, string>> = {
  createAgent: 'authorize(wallet, name="bot")',
  revokeAgent: 'revoke(wallet)',
  issueApiKey: 'issue_api_key(wallet, "dashboard")',
  createOrder: 'open_order({"market": "BTC/USD", "side": "long", "type": "market", "size": "0.01", "leverage": "10"})',
  updateOrder: 'change_order("7", {"price": "59500"})',
  cancelOrder: 'cancel_order("7")',
  cancelAllOrders: 'cancel_all()',
  closePosition: 'close_position("3")',
  updatePosition: 'change_position("3", {"sl": "58000"})',
  cancelPositionUpdate: 'cancel_position_update("3")',
  closeAllPositions: 'close_all()',
  flatten: 'flatten()',
}

/** Command lines by operation, without the leading `bezel`. */
export const CLI_LINES: Readonly<Record<string, string>> = {
  listMarkets: 'markets',
  getMarket: 'markets BTC/USD',
  getOrderBook: 'book BTC/USD',
  getFunding: 'funding BTC/USD',
  getPrices: 'price --once',
  getCandles: 'candles BTC/USD --interval 5m',
  createAgent: 'agent authorise',
  getAgent: 'agent status',
  revokeAgent: 'agent revoke',
  issueApiKey: 'key issue --label dashboard',
  listApiKeys: 'key list',
  revokeApiKey: 'key revoke dashboard',
  getAccount: 'account',
  listPositions: 'positions',
  listOpenOrders: 'orders',
  listOrderHistory: 'orders --history',
  listFills: 'fills',
  listEvents: 'watch --after 0',
  listAudit: 'audit',
  previewOrder: 'preview order BTC/USD long 0.01 --leverage 10',
  previewClose: 'preview close 3',
  previewPosition: 'preview position 3 --leverage 5',
  createOrder: 'order BTC/USD long 0.01 --leverage 10',
  updateOrder: 'change 7 --price 59500',
  cancelOrder: 'cancel 7',
  cancelAllOrders: 'cancel --all',
  closePosition: 'close 3',
  updatePosition: 'set 3 --sl 58000',
  cancelPositionUpdate: 'reclaim 3',
  closeAllPositions: 'close --all',
  flatten: 'flatten',
  listNotifications: 'notices',
  dismissNotification: 'notices dismiss 42',
}
