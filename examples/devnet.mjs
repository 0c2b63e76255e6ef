// Shared by the examples: the address of the local chain of `npm start`, and its accounts with public keys. Not an
// example itself.
import { readFileSync } from 'node:fs'
import { createBezelClient, privateKeySender } from '@bezel/sdk'
import { privateKeyToAccount } from 'viem/accounts'

const path = `${process.env.BEZEL_DATA ?? 'var'}/devnet.json`
const { chains, accounts, ...devnet } = read()

/** The chain that the examples trade on, its node and its Diamond: the one that is named, or one that is there. */
export const chain = chainOf(process.env.BEZEL_CHAIN)
export const { rpcUrl, diamond } = chains[chain]

/** The address of the service. */
export const baseUrl = process.env.BEZEL_URL ?? devnet.baseUrl

/** Returns a funded account of the local chain: trader-1 to trader-5, agent-1 to agent-5. */
export function account(name) {
  const found = accounts.find((entry) => entry.name === name)
  if (found === undefined)
    fail(`The local chain has no account ${name}; it has ${accounts.map((entry) => entry.name).join(', ')}.`)
  return privateKeyToAccount(found.privateKey)
}

/**
 * Returns a client for an agent that may trade for a trader, within `scope` and delegated on the chain. Authorises and
 * delegates if necessary; repeating that is harmless.
 */
export async function connect(traderName, agentName, { name, scope }) {
  const [trader, agent] = [account(traderName), account(agentName)]
  const sender = privateKeySender({ account: agent, rpcUrl })
  const client = createBezelClient({ baseUrl, chain, diamond, agent, sender, trader: trader.address })
  await client.agents.authorize({ trader, name, scope })
  await client.agents.delegate({ sender: privateKeySender({ account: trader, rpcUrl }) })
  return client
}

/** Returns a client that can only read a trader's account, with the key in `BEZEL_API_KEY` or a newly issued one. */
export async function connectReader(traderName, label) {
  const trader = account(traderName)
  const issue = async () =>
    (await createBezelClient({ baseUrl, chain, diamond }).agents.issueApiKey({ trader, label })).apiKey
  return createBezelClient({
    baseUrl,
    chain,
    diamond,
    trader: trader.address,
    apiKey: process.env.BEZEL_API_KEY ?? (await issue()),
  })
}

/** Returns a chain of the sandbox: the named one, else arbitrum-sepolia, else its first. */
function chainOf(named) {
  const there = Object.keys(chains)
  const found = named ?? ['arbitrum-sepolia', ...there].find((name) => there.includes(name))
  if (there.includes(found)) return found
  return fail(`The local chain has no chain ${named}; it has ${there.join(', ')}.`)
}

function read() {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return fail(
      `${path} can't be read (${error.code ?? error.message}): run npm start in another terminal, and this in the folder of the project.`,
    )
  }
}

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}
