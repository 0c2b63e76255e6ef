import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import { openNonces } from '../../packages/server/src/access/nonces.ts'
import { selectEngine } from '../../packages/server/src/signatures/engines.ts'
import { verifyRequest } from '../../packages/server/src/signatures/verifyRequest.ts'
import { openStore } from '../../packages/server/src/store/openStore.ts'
import type { Signer } from '../client/signGets.ts'

const NO_BODY = new Uint8Array(0)

/** The minimum that a private read requires, for a bare route: verifies the signature and claims the nonce. */
export interface PeerAccess {
  isAllowed(request: FastifyRequest): boolean
  close(): Promise<void>
}

export async function openPeerAccess({ agent, domain, operation }: Signer): Promise<PeerAccess> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-peer-'))
  const engine = await selectEngine()
  const store = await openStore(folder)
  const nonces = await openNonces({ store, file: join(folder, 'nonces.log'), now: Date.now })
  return {
    isAllowed({ headers, raw }) {
      const [timestamp, nonce] = [String(headers['x-service-timestamp']), String(headers['x-service-nonce'])]
      const signature = String(headers['x-service-signature'])
      const text = { method: 'GET', path: raw.url ?? '', timestamp, nonce, signature, agent }
      if (!verifyRequest(engine, { domain, operationId: operation, body: NO_BODY, ...text })) return false
      return nonces.claim('arbitrum-sepolia', agent as Address, nonce, Number(timestamp))
    },
    async close() {
      nonces.close()
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
