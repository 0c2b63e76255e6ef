import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Usd,
  type Address,
  type Decimal,
  type Hex,
  type MarketSymbol,
  type OrderId,
  type PreparedOrder,
} from '@bezel/protocol'
import { prepareTransaction } from '../../packages/server/src/chain/prepareTransaction.ts'
import { createRpcClient } from '../../packages/server/src/chain/providers/provider.ts'
import type { RpcCall } from '../../packages/server/src/chain/rpcClient.ts'
import { insertNonce } from '../../packages/server/src/access/nonces.ts'
import { selectEngine } from '../../packages/server/src/signatures/engines.ts'
import { insertAttempt } from '../../packages/server/src/store/attemptStore.ts'
import { takeId, insertOrder, saveOrderState } from '../../packages/server/src/store/orderStore.ts'
import { openStore } from '../../packages/server/src/store/openStore.ts'
import type { AttemptId, OrderRequest, OrderState } from '../../packages/server/src/trading/orders/orderModel.ts'
import { TEST_SCOPE } from '../../packages/server/src/store/testing/testScope.ts'

// The unavoidable parts of preparing an order, each alone: one round trip of the same batch to the same node, one
// durable commit of the same rows on the same disk, one recovery of a public key.

export interface Floor {
  roundTrip(): Promise<void>
  commit(): Promise<void>
  recover(): void
  close(): Promise<void>
}

export interface FloorOptions {
  readonly rpcUrl: string
  readonly chainId: number
  readonly diamond: Address
  readonly collateral: { readonly symbol: string; readonly address: string; readonly decimals: number }
  readonly trader: Address
  readonly agent: Address
  /** An order that the service prepared. */
  readonly prepared: PreparedOrder
}

const CHAIN = 'arbitrum-sepolia'

export async function openFloor(options: FloorOptions): Promise<Floor> {
  const client = createRpcClient({ url: options.rpcUrl, timeoutMs: 5_000, chainId: options.chainId })
  const calls = await callsOf(options)
  const engine = await selectEngine()
  const { digest, rs } = signedSample()
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-floor-'))
  const store = await openStore(folder)
  const rows = rowsOf(options)
  let written = 0

  return {
    roundTrip: async () => void (await client.batch(calls)),
    async commit() {
      written += 1
      await store.transaction(TEST_SCOPE, async (sql) => {
        const id = await takeId(sql)
        const timestampMs = Date.now()
        await insertNonce(sql, { chain: CHAIN, agent: options.agent, nonce: String(written), timestampMs }, timestampMs)
        await insertOrder(sql, { ...rows.record, id })
        const attempt = { ...rows.attempt, id: `0x${written.toString(16).padStart(16, '0')}` as AttemptId }
        await insertAttempt(sql, { chain: CHAIN, orderId: id, attempt })
        await saveOrderState(sql, id, rows.state, undefined)
      })
    },
    recover() {
      if (engine.recoverPublicKey(digest, rs, 0) === undefined) throw new Error('the sample signature is invalid')
    },
    async close() {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Records the batch that the service sends for such an order. */
async function callsOf({ diamond, trader, agent, prepared, collateral }: FloorOptions): Promise<readonly RpcCall[]> {
  let sent: readonly RpcCall[] = []
  const recorder = {
    roundTrips: () => 0,
    batch: async (calls: readonly RpcCall[]): Promise<never> => {
      sent = calls
      throw new Error('recorded')
    },
  }
  const data = prepared.transaction!.data as Hex
  const { symbol, decimals } = collateral
  const takes = { symbol, decimals, token: collateral.address as Address, amount: 1n, returned: 0n }
  const draft = { chainId: prepared.transaction!.chainId, diamond, trader, agent, inner: data, data, takes }
  await prepareTransaction(recorder, draft, { onDelegate: () => undefined }).catch(() => undefined)
  if (sent.length === 0) throw new Error('no batch was recorded')
  return sent
}

function rowsOf({ prepared, trader, agent }: FloorOptions) {
  const { order, transaction } = prepared
  const nowMs = Date.now()
  const terms = {
    size: order.size as Decimal,
    price: order.price as Decimal | null,
    sl: order.sl as Decimal | null,
    tp: order.tp as Decimal | null,
    slippage: order.slippage as Decimal,
  }
  const request: OrderRequest = {
    ...terms,
    kind: 'open',
    market: order.market as MarketSymbol,
    pairIndex: 0,
    side: order.side,
    type: order.type,
    leverage: order.leverage as Decimal,
    collateral: order.collateral,
    collateralIndex: 3,
    reduceOnly: order.reduceOnly,
    clientId: null,
    legs: [],
  }
  const state: OrderState = {
    ...terms,
    status: order.status,
    txHash: null,
    expiresAtMs: order.expiresAt,
    fill: null,
    reason: null,
    updatedAtMs: order.updatedAt,
    tradeIndex: null,
    unanswered: [],
    dueAtMs: order.expiresAt,
    dueBlock: null,
    countedSinceMs: order.createdAt,
  }
  return {
    record: {
      id: '0' as OrderId,
      chain: CHAIN,
      trader,
      agent,
      request,
      createdAtMs: nowMs,
      originKey: null,
      spendUsd: Usd.of(1_000n * Usd.one),
    },
    attempt: {
      kind: 'open',
      sender: agent,
      calldata: transaction!.data as Hex,
      gas: transaction!.gas,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + 60_000,
      size: null,
      submittedHash: null,
      submittedAtMs: null,
      trustedUntilMs: null,
      isMismatch: false,
      withdrawnAtMs: null,
    },
    state,
  } as const
}

/**
 * Returns a digest and a signature that can be recovered: r is the x of a point on the curve, and all values are below
 * the order of the group.
 */
function signedSample(): { readonly digest: Uint8Array; readonly rs: Uint8Array } {
  const digest = new Uint8Array(32).fill(7)
  const rs = new Uint8Array(64)
  // The x of the curve's generator: the r of a signature with the nonce 1.
  rs.set(Buffer.from('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex'), 0)
  rs.fill(5, 32)
  return { digest, rs }
}
