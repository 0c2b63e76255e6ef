// The first trade without the SDK: from nothing to a closed position with fetch and viem alone, to show every step.
// Needs: `npm start` in another terminal. Run: node examples/withoutSdk.mjs. It ends by itself.
// Not for real money: the keys are the local chain's own, and transactions from the service are signed unchecked. The
// SDK checks them.
import { readFileSync } from 'node:fs'
import { createPublicClient, createWalletClient, http, keccak256, stringToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const devnet = JSON.parse(readFileSync(`${process.env.BEZEL_DATA ?? 'var'}/devnet.json`, 'utf8'))
const { chains, accounts } = devnet
const baseUrl = process.env.BEZEL_URL ?? devnet.baseUrl
// The chain that is named, or one that is there.
const chain = process.env.BEZEL_CHAIN ?? ('arbitrum-sepolia' in chains ? 'arbitrum-sepolia' : Object.keys(chains)[0])
const CHAIN = `/v1/${chain}`
const keyOf = (name) => accounts.find((account) => account.name === name).privateKey
const trader = privateKeyToAccount(keyOf('trader-1'))
const agent = privateKeyToAccount(keyOf('agent-1'))
const transport = http(chains[chain].rpcUrl)
const node = createPublicClient({ transport, pollingInterval: 200 })

/** Sends a request and returns its answer; an error answer stops the program with its code. */
async function call(method, path, { headers = {}, body } = {}) {
  const contentType = body === undefined ? {} : { 'content-type': 'application/json' }
  const request = { method, headers: { ...headers, ...contentType }, ...(body === undefined ? {} : { body }) }
  const answer = await fetch(baseUrl + path, request)
  const json = await answer.json()
  if (!answer.ok) throw new Error(`${method} ${path}: ${json.code} ${json.message}`)
  return json
}

/** Sends a private request: the agent signs the operation, the path and the exact bytes of the body. */
async function signed(operation, method, path, content) {
  const body = content === undefined ? undefined : JSON.stringify(content)
  const timestamp = Date.now()
  const nonce = timestamp * 1000 + Math.floor(Math.random() * 1000)
  const bodyHash = keccak256(stringToBytes(body ?? ''))
  const message = { method, path, bodyHash, timestamp: BigInt(timestamp), nonce: BigInt(nonce) }
  const types = { [operation]: signing.fields }
  const signature = await agent.signTypedData({ domain: signing.domain, primaryType: operation, types, message })
  const headers = {
    'X-Service-Agent': agent.address,
    'X-Service-Timestamp': String(timestamp),
    'X-Service-Nonce': String(nonce),
    'X-Service-Signature': signature,
    'X-Service-Trader': trader.address,
  }
  return call(method, path, { headers, body })
}

/** Signs and sends a transaction, and waits until it is mined. */
async function send(account, { to, data, gas }) {
  const wallet = createWalletClient({ account, transport })
  const hash = await wallet.sendTransaction({ to, data, gas: gas ? BigInt(gas) : undefined, chain: null })
  await node.waitForTransactionReceipt({ hash })
  return hash
}

/** Broadcasts a prepared transaction, reports it, and waits for the oracle. */
async function execute({ order, transaction }) {
  const txHash = await send(agent, transaction)
  await signed('submitOrder', 'POST', `${CHAIN}/orders/${order.id}/submit`, { txHash })
  for (let now = order; ; now = await signed('getOrder', 'GET', `${CHAIN}/orders/${order.id}`)) {
    if (now.status === 'filled') return now
    if (now.status === 'rejected') throw new Error(`order ${order.id} was rejected: ${now.reason}`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

// 1. Read the signing domain: name, chain and Diamond.
const { signing } = await call('GET', CHAIN)

// 2. The trader authorises the agent, once.
const scope = { markets: 'all', maxLeverage: '50', dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' }
const timestamp = Date.now()
const authorization = {
  domain: signing.domain,
  primaryType: 'AgentAuthorization',
  types: {
    AgentAuthorization: [
      { name: 'agent', type: 'address' },
      { name: 'name', type: 'string' },
      { name: 'markets', type: 'string' },
      { name: 'maxLeverage', type: 'string' },
      { name: 'dailySpendCapUsd', type: 'string' },
      { name: 'expiresAt', type: 'uint256' },
      { name: 'permissions', type: 'string' },
      { name: 'timestamp', type: 'uint256' },
    ],
  },
  message: {
    agent: agent.address,
    name: 'first bot',
    markets: '*',
    maxLeverage: '50',
    dailySpendCapUsd: '',
    expiresAt: 0n,
    permissions: 'trade',
    timestamp: BigInt(timestamp),
  },
}
const { delegationTx } = await call('POST', `${CHAIN}/agents`, {
  body: JSON.stringify({
    trader: trader.address,
    agent: agent.address,
    name: 'first bot',
    scope,
    timestamp,
    signature: await trader.signTypedData(authorization),
    agentSignature: await agent.signTypedData(authorization),
  }),
})

// 3. The trader makes the agent its delegate on the chain, once.
await send(trader, delegationTx)
console.log(`agent ${agent.address} trades for ${trader.address}`)

// 4. The agent opens a position: prepare, broadcast, report, wait.
const opened = await execute(
  await signed('createOrder', 'POST', `${CHAIN}/orders`, {
    market: 'BTC/USD',
    side: 'long',
    type: 'market',
    size: '0.01',
    leverage: '10',
  }),
)
console.log(
  `opened ${opened.fill.size} BTC at ${opened.fill.price}, fee ${opened.fill.feeCollateral} ${opened.collateral}`,
)

// 5. The agent reads the position.
const { data } = await signed('listPositions', 'GET', `${CHAIN}/account/${trader.address}/positions`)
const position = data.find(({ id }) => id === opened.fill.positionId)
console.log(
  `position ${position.id}: mark ${position.markPrice}, PnL ${position.unrealizedPnl}, liquidation ${position.liquidationPrice}`,
)

// 6. The agent closes the position.
const closed = await execute(await signed('closePosition', 'POST', `${CHAIN}/positions/${position.id}/close`, {}))
console.log(`closed ${closed.fill.size} BTC at ${closed.fill.price}`)
