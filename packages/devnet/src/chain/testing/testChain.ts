import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createLocalChain, type LocalChain, type LocalChainOptions } from '../createLocalChain.ts'
import { toWord } from '../jsonRpc.ts'

// Shared by the tests of chain/ and rpc/.

export const CHAIN_ID = 421_614

export const SENDER = privateKeyToAccount(`0x${'11'.repeat(32)}`)

export const OTHER_SENDER = privateKeyToAccount(`0x${'12'.repeat(32)}`)

/** A contract that emits one log (its topic is the calldata word) and adds 1 to its storage slot 0. */
export const EMITTER: Hex = `0x${'e1'.repeat(20)}`

const EMITTER_CODE = '0x60003560206000a160005460010160005500'

/** A contract that always reverts with the bytes deadbeef. */
export const REVERTER: Hex = `0x${'e2'.repeat(20)}`

const REVERTER_CODE = '0x63deadbeef6000526004601cfd'

/** Creates a chain that mines on demand, with a funded sender and the two small contracts. */
export async function createTestChain(options: Partial<LocalChainOptions> = {}): Promise<LocalChain> {
  const accounts = [SENDER, OTHER_SENDER].map(({ address }) => ({ address, balanceWei: 10n ** 21n }))
  const chain = await createLocalChain({ slug: 'test', chainId: CHAIN_ID, blockMs: 0, accounts, ...options })
  await chain.request('hardhat_setCode', [EMITTER, EMITTER_CODE])
  await chain.request('hardhat_setCode', [REVERTER, REVERTER_CODE])
  return chain
}

/** Signs a call to the emitter, whose log carries `topic`. */
export function signEmit(nonce: number, topic = nonce, sender = SENDER): Promise<Hex> {
  return signCall(nonce, EMITTER, toWord(topic), sender)
}

export function signCall(nonce: number, to: Hex, data: Hex = '0x', sender = SENDER): Promise<Hex> {
  return sender.signTransaction({
    type: 'eip1559',
    chainId: CHAIN_ID,
    nonce,
    to,
    data,
    gas: 100_000n,
    maxFeePerGas: 1_000_000_000n,
    maxPriorityFeePerGas: 1_000n,
  })
}

/** Sends a call to the emitter and returns its hash. */
export async function sendEmit(chain: LocalChain, nonce: number, topic = nonce): Promise<Hex> {
  return chain.request<Hex>('eth_sendRawTransaction', [await signEmit(nonce, topic)])
}

/** Mines `blocks` blocks with one emitted log each, nonces from `firstNonce`. Returns the transaction hashes. */
export async function mineEmits(chain: LocalChain, blocks: number, firstNonce = 0): Promise<Hex[]> {
  const hashes: Hex[] = []
  for (let nonce = firstNonce; nonce < firstNonce + blocks; nonce += 1) {
    hashes.push(await sendEmit(chain, nonce))
    await chain.request('evm_mine')
  }
  return hashes
}
