// Signs requests for editors and tools that can't: listens on this machine, signs what comes in, and passes it on to the
// service.
//
//   AGENT_KEY=0x... TRADER_KEY=0x... BASE=http://127.0.0.1:8080 node clients/http/sign.mjs
//
// TRADER_KEY is for operations on agents and API keys alone. Whoever knows the address that is printed can sign with
// these keys, so it has a secret in it, which ends with the program.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import process from 'node:process'
import { buffer } from 'node:stream/consumers'
import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const BASE = (process.env.BASE ?? 'http://127.0.0.1:8080').replace(/\/$/, '')
const SECRET = `/${randomBytes(16).toString('hex')}`
const TIMEOUT_MS = 30_000
/** Headers that belong to one connection, or to the compression that fetch has undone. */
const OWN_HEADERS = /^(?:host|connection|keep-alive|content-length|content-encoding|transfer-encoding|accept-encoding)$/

/** Primary type and values of each struct that the trader's wallet signs in a body. */
const WALLET_STRUCTS = {
  createAgent: [
    'AgentAuthorization',
    ({ agent, name, scope }) => ({
      agent,
      name: name ?? '',
      markets: scope.markets === 'all' ? '*' : scope.markets.join(','),
      maxLeverage: scope.maxLeverage ?? '',
      dailySpendCapUsd: scope.dailySpendCapUsd ?? '',
      expiresAt: BigInt(scope.expiresAt ?? 0),
      permissions: scope.permissions,
    }),
  ],
  revokeAgent: ['AgentRevocation', (_body, path) => ({ agent: path.split('/').at(-1) })],
  issueApiKey: ['ApiKeyIssue', ({ label }) => ({ label })],
}

const agent = accountOf('AGENT_KEY')
const trader = accountOf('TRADER_KEY')
const document = await read('/openapi.json').catch(giveUp)
const prefix = document.components.securitySchemes.AgentSignature.name.replace(/Signature$/, '')
const operations = readOperations()
const signings = new Map()
let lastNonce = 0

const server = createServer((request, reply) => {
  forward(request).then(
    ({ status, headers, body }) => reply.writeHead(status, headers).end(body),
    (error) => reply.writeHead(502, { 'content-type': 'text/plain' }).end(`sign.mjs: ${error.message}\n`),
  )
})
server.listen(0, '127.0.0.1', () => {
  const names = Object.entries({ agent, trader }).flatMap(([name, account]) =>
    account === undefined ? [] : [`${name} ${account.address}`],
  )
  console.log(`Signs for ${BASE} as ${names.join(' and ') || 'nobody: AGENT_KEY is not set'}. In bezel.http:`)
  console.log(`@host = http://127.0.0.1:${server.address().port}${SECRET}`)
})

function accountOf(name) {
  const key = process.env[name]
  if (key === undefined || key === '') return undefined
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) giveUp(new Error(`${name} is no private key: 0x and 64 hexadecimal digits`))
  return privateKeyToAccount(key)
}

function giveUp({ message, cause }) {
  console.error(`sign.mjs: ${message}${cause === undefined ? '' : ` (${cause.message})`}, BASE is ${BASE}`)
  process.exit(1)
}

async function read(path) {
  const answer = await fetch(BASE + path, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!answer.ok) throw new Error(`GET ${BASE}${path} answered ${answer.status}`)
  return answer.json()
}

/** Lists the operations of the service. Paths with fewer parameters come first, so that a name wins over an id. */
function readOperations() {
  const paths = Object.entries(document.paths).toSorted(([a], [b]) => a.split('{').length - b.split('{').length)
  return paths.flatMap(([path, methods]) => {
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    return Object.entries(methods).map(([method, { operationId, tags, security = [] }]) => ({
      operationId,
      method: method.toUpperCase(),
      pattern,
      isSigned: security.some((scheme) => 'AgentSignature' in scheme),
      isTraders: tags.includes('Agents'),
    }))
  })
}

async function forward(request) {
  if (!request.url.startsWith(`${SECRET}/`)) return { status: 404, headers: {}, body: '' }
  const { pathname, search } = new URL(request.url.slice(SECRET.length), 'http://localhost')
  const path = pathname + search
  const operation = operations.find((one) => one.method === request.method && one.pattern.test(pathname))
  const headers = withoutOwn(Object.entries(request.headers))
  let body = await buffer(request)
  if (operation !== undefined && Object.hasOwn(WALLET_STRUCTS, operation.operationId)) {
    body = await withWalletSignature(operation.operationId, pathname, body)
  } else if (operation?.isSigned && headers[`${prefix}Api-Key`.toLowerCase()] === undefined) {
    Object.assign(headers, await signedHeaders(operation, { method: request.method, path, body }))
  }
  const answer = await fetch(BASE + path, {
    method: request.method,
    headers,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body.length === 0 ? {} : { body }),
  })
  return { status: answer.status, headers: withoutOwn(answer.headers), body: Buffer.from(await answer.arrayBuffer()) }
}

function withoutOwn(headers) {
  return Object.fromEntries([...headers].filter(([name]) => !OWN_HEADERS.test(name)))
}

/** Signs a request by the agent; operations on agents and API keys by the trader, where its key is known. */
async function signedHeaders({ operationId, isTraders }, { method, path, body }) {
  const account = (isTraders ? trader : undefined) ?? needed(agent, 'AGENT_KEY')
  const { domain, fields } = await signingOf(path)
  const timestamp = Date.now()
  lastNonce = Math.max(timestamp * 1000, lastNonce + 1)
  const message = { method, path, bodyHash: keccak256(body), timestamp: BigInt(timestamp), nonce: BigInt(lastNonce) }
  const types = { [operationId]: fields }
  return {
    [`${prefix}Agent`]: account.address,
    [`${prefix}Timestamp`]: String(timestamp),
    [`${prefix}Nonce`]: String(message.nonce),
    [`${prefix}Signature`]: await account.signTypedData({ domain, primaryType: operationId, types, message }),
  }
}

/** Returns the body with the addresses of the keys, the time, and the signatures over them. */
async function withWalletSignature(operationId, path, bytes) {
  const wallet = needed(trader, 'TRADER_KEY')
  const [primaryType, valuesOf] = WALLET_STRUCTS[operationId]
  const asked = { ...JSON.parse(bytes.toString('utf8')), trader: wallet.address, timestamp: Date.now() }
  if (operationId === 'createAgent') asked.agent = needed(agent, 'AGENT_KEY').address
  const { domain, types } = await signingOf(path)
  const message = { ...valuesOf(asked, path), timestamp: BigInt(asked.timestamp) }
  const struct = { domain, primaryType, types: { [primaryType]: types[primaryType] }, message }
  const signature = await wallet.signTypedData(struct)
  const proof = operationId === 'createAgent' ? { agentSignature: await agent.signTypedData(struct) } : {}
  return Buffer.from(JSON.stringify({ ...asked, signature, ...proof }))
}

function needed(account, name) {
  if (account === undefined) throw new Error(`set ${name}: this request has to be signed with it`)
  return account
}

/** Reads the domain and structs of the chain in a path; of the first chain where a path names none. */
async function signingOf(path) {
  const chain = /^\/(?:v1|hl)\/([^/?]+)/.exec(path)?.[1] ?? (await read('/health')).chains[0]
  if (!signings.has(chain)) signings.set(chain, (await read(`/v1/${chain}`)).signing)
  return signings.get(chain)
}
