import { resultAnswer } from './answer.ts'
import { blockReceipts } from './blockReceipts.ts'
import type { ChainState } from './chainState.ts'
import { mineBlock } from './mineBlock.ts'
import { parseQuantity, toQuantity } from './quantity.ts'
import type { Hex } from './quantity.ts'
import { reorg } from './reorg.ts'
import type { ReorgMode } from './reorg.ts'
import { RPC_CODES, RpcError, invalidParams } from './rpcError.ts'
import { txpoolContent, txpoolStatus } from './txpool.ts'
import { revertToUserSnapshot, takeUserSnapshot } from './userSnapshot.ts'

/** A method that is answered here and not by EDR. Gives the answer text. */
export type ChainMethod = (state: ChainState, params: readonly unknown[]) => Promise<string>

/** More would hold up the chain for seconds. */
export const MAX_BLOCKS_PER_CALL = 10_000

/** Methods by name; whatever is not here goes to EDR as it came. */
export const CHAIN_METHODS: ReadonlyMap<string, ChainMethod> = new Map<string, ChainMethod>([
  ['eth_sendRawTransaction', (state, [raw]) => state.mempool.send(raw)],
  ['eth_getBlockReceipts', (state, [blockId]) => blockReceipts(state.edr, blockId)],
  ['txpool_status', answering((state) => txpoolStatus(state.edr))],
  ['txpool_content', answering((state) => txpoolContent(state.edr))],
  ['net_listening', answering(async () => true)],
  ['net_peerCount', answering(async () => '0x0')],
  ['evm_mine', answering(mineOne)],
  ['hardhat_mine', answering(mineMany)],
  ['evm_increaseTime', answering(increaseTime)],
  ['evm_setNextBlockTimestamp', answering(setNextBlockTimestamp)],
  ['evm_snapshot', answering(takeUserSnapshot)],
  [
    'evm_revert',
    answering((state, [id]) => revertToUserSnapshot(state, toQuantity(parseQuantity(id, 'the snapshot id')))),
  ],
  ['hardhat_dropTransaction', answering(dropTransaction)],
  [
    'bezel_reorg',
    answering((state, [depth, mode = 'drop']) => reorg(state, parseQuantity(depth, 'depth'), mode as ReorgMode)),
  ],
  ...[
    'hardhat_setBalance',
    'hardhat_setCode',
    'hardhat_setNonce',
    'hardhat_setStorageAt',
    'hardhat_setCoinbase',
    'hardhat_setNextBlockBaseFeePerGas',
    'hardhat_setPrevRandao',
    'evm_setBlockGasLimit',
  ].map((method) => [method, stateSetter(method)] as const),
  ...['evm_setAutomine', 'evm_setIntervalMining', 'hardhat_reset'].map(
    (method) => [method, refusing(`${method} is not served: the chain mines by its own timer`)] as const,
  ),
  ...['eth_sendTransaction', 'eth_sign', 'eth_signTransaction', 'eth_signTypedData_v4', 'personal_sign'].map(
    (method) =>
      [
        method,
        refusing(`${method} is not served: this node holds no keys, sign and use eth_sendRawTransaction`),
      ] as const,
  ),
  ...['eth_subscribe', 'eth_unsubscribe'].map(
    (method) => [method, refusing(`${method} is not served here: subscriptions need a WebSocket`)] as const,
  ),
])

function answering(method: (state: ChainState, params: readonly unknown[]) => Promise<unknown>): ChainMethod {
  return async (state, params) => resultAnswer(await method(state, params))
}

function refusing(message: string): ChainMethod {
  return async () => {
    throw new RpcError(RPC_CODES.methodNotFound, message)
  }
}

function stateSetter(method: string): ChainMethod {
  return answering((state, params) =>
    state.exclusive.run(async () => {
      const result = await state.edr.call(method, params)
      state.history.cheats.push({ method, params })
      return result
    }),
  )
}

async function mineOne(state: ChainState, [timestampS]: readonly unknown[]): Promise<string> {
  await state.exclusive.run(async () => {
    if (timestampS !== undefined) state.clock.setNext(parseQuantity(timestampS, 'the timestamp'), state.head.timestampS)
    await mineBlock(state)
  })
  return '0'
}

async function mineMany(state: ChainState, [blocks = 1, intervalS = 0]: readonly unknown[]): Promise<boolean> {
  const count = parseQuantity(blocks, 'the number of blocks')
  const gapS = parseQuantity(intervalS, 'the interval')
  if (count > MAX_BLOCKS_PER_CALL) throw invalidParams(`at most ${MAX_BLOCKS_PER_CALL} blocks per call`)
  await state.exclusive.run(async () => {
    for (let mined = 0; mined < count; mined += 1) {
      if (mined > 0) state.clock.increase(gapS)
      await mineBlock(state)
    }
  })
  return true
}

async function increaseTime(state: ChainState, [seconds]: readonly unknown[]): Promise<Hex> {
  const offsetS = state.clock.increase(parseQuantity(seconds, 'the number of seconds'))
  return toQuantity(offsetS)
}

async function setNextBlockTimestamp(state: ChainState, [timestamp]: readonly unknown[]): Promise<string> {
  const timestampS = parseQuantity(timestamp, 'the timestamp')
  state.clock.setNext(timestampS, state.head.timestampS)
  return String(timestampS)
}

function dropTransaction(state: ChainState, [hash]: readonly unknown[]): Promise<boolean> {
  return state.exclusive.run(async () => {
    const dropped = await state.edr.call<boolean>('hardhat_dropTransaction', [hash])
    if (dropped) state.mempool.forget(hash as Hex)
    return dropped
  })
}
