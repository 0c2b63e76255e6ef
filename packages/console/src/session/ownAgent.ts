import { FULL_SCOPE, type Agent, type BezelClient, type Signer } from '@bezel/sdk'

/** Parts that the registration of a wallet as its own agent needs. */
export interface OwnAgentParts {
  readonly client: Pick<BezelClient, 'agents' | 'chain'>
  readonly trader: Signer
  /** Agents of the trader; null until they are known. */
  readonly known: readonly Agent[] | null
  /** Reads the agents of the trader, without a signature. */
  readonly readAgents: () => Promise<readonly Agent[]>
}

/** Name under which the wallet is listed as its own agent. */
const NAME = 'wallet'

const registered = new Set<string>()

/**
 * Registers a wallet as its own agent where it is not, with one signature, once for ever. Such an agent needs no
 * delegation, because it sends its own transactions.
 */
export async function ensureOwnAgent({ client, trader, known, readAgents }: OwnAgentParts): Promise<void> {
  const { address } = trader
  const key = `${client.chain} ${address}`
  const isOwn = ({ agent }: Agent): boolean => agent === address
  const own = known?.find(isOwn)
  if (own === undefined ? registered.has(key) : isUsable(own, address)) return
  if (own !== undefined || !isUsable((await readAgents()).find(isOwn), address)) {
    await client.agents.authorize({ trader, agent: trader, name: NAME, scope: FULL_SCOPE })
  }
  registered.add(key)
}

/** Returns true for an agent that trades natively for this trader. */
function isUsable(agent: Agent | undefined, trader: string): boolean {
  if (agent === undefined || agent.trader !== trader) return false
  return agent.status === 'active' && agent.mode === 'self' && agent.scope.permissions === 'trade'
}
