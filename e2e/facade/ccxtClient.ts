import assert from 'node:assert/strict'
import ccxt from 'ccxt'
import type { FacadeWorld } from './facadeWorld.ts'

/** The market of all stories, by its ccxt name. */
export const SYMBOL = 'BTC/USDC:USDC'

type Hyperliquid = InstanceType<typeof ccxt.hyperliquid>
type HyperliquidPro = InstanceType<typeof ccxt.pro.hyperliquid>

/** Returns the options of ccxt: only addresses and keys. */
export function ccxtOptions({ base, socketUrl, keyOf, chain }: FacadeWorld, trader: string, agent: string) {
  return {
    walletAddress: chain.account(trader).address,
    privateKey: keyOf(agent),
    urls: { api: { public: base, private: base, ws: { public: socketUrl } } },
  }
}

export function ccxtOf(world: FacadeWorld, trader: string, agent: string): Hyperliquid {
  return new ccxt.hyperliquid(ccxtOptions(world, trader, agent))
}

/** Creates a streaming client. ccxt must load its proxy agents before it can connect to plain `ws://`. */
export async function ccxtProOf(world: FacadeWorld, trader: string, agent: string): Promise<HyperliquidPro> {
  const exchange = new ccxt.pro.hyperliquid(ccxtOptions(world, trader, agent))
  await exchange.loadHttpProxyAgent()
  return exchange
}

const APPROVE_AGENT = {
  'HyperliquidTransaction:ApproveAgent': [
    { name: 'hyperliquidChain', type: 'string' },
    { name: 'agentAddress', type: 'address' },
    { name: 'agentName', type: 'string' },
    { name: 'nonce', type: 'uint64' },
  ],
}

/** Approves an agent with ccxt's own signer and request function, because ccxt has no method for it. */
export async function approveByCcxt(world: FacadeWorld, trader: string, agent: string) {
  const master = ccxtOf(world, trader, trader)
  const nonce = Date.now()
  const agentAddress = world.chain.account(agent).address.toLowerCase()
  const message = { hyperliquidChain: 'Mainnet', agentAddress, agentName: 'ccxt', nonce }
  const signature = master.signUserSignedAction(APPROVE_AGENT, message)
  const action = { type: 'approveAgent', signatureChainId: '0x66eee', ...message }
  return master.privatePostExchange({ action, nonce, signature })
}

/** Registers the agent, and makes the relayer the delegate of its trader. */
export async function connectByCcxt(world: FacadeWorld, trader: string, agent: string): Promise<void> {
  const { status, delegationTx } = await approveByCcxt(world, trader, agent)
  assert.equal(status, 'ok')
  await world.delegate(trader, delegationTx)
}
