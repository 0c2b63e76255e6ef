import { loadArtifact } from '@bezel/contracts'
import type { ChainSlug } from '@bezel/protocol'
import { encodeFunctionData, maxUint256, type Hex } from 'viem'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { DEPLOYER, TRADERS } from './accounts.ts'
import { planChain, type ChainPlan } from './planChain.ts'
import { signTransaction } from './signTransaction.ts'

/** Brings a fresh chain to life: everything deployed, listed, funded and approved. Throws when a transaction fails. */
export async function deployChain(chain: LocalChain, slug: ChainSlug): Promise<ChainPlan> {
  const plan = planChain(slug)
  const signed = await Promise.all(
    plan.transactions.map((transaction, nonce) => signTransaction(chain, DEPLOYER.account, { ...transaction, nonce })),
  )
  await sendAll(chain, [...signed, ...(await signApprovals(chain, plan))])
  return plan
}

/** Each trader lets the Diamond take its collateral, as a wallet does once before its first trade. */
function signApprovals(chain: LocalChain, { diamond, collaterals }: ChainPlan): Promise<Hex[]> {
  const { abi } = loadArtifact('Token')
  const data = encodeFunctionData({ abi, functionName: 'approve', args: [diamond, maxUint256] })
  return Promise.all(
    TRADERS.flatMap(({ account }) =>
      collaterals.map(({ address: to }, nonce) => signTransaction(chain, account, { to, data, value: 0n, nonce })),
    ),
  )
}

/** One block each: EDR keeps a trace of a block while it mines, and a block of heavy transactions takes hundreds of megabytes. */
async function sendAll(chain: LocalChain, signed: readonly Hex[]): Promise<void> {
  for (const [position, raw] of signed.entries()) {
    const hash = await chain.request<Hex>('eth_sendRawTransaction', [raw])
    await chain.mine()
    const receipt = await chain.request<{ status: Hex } | null>('eth_getTransactionReceipt', [hash])
    if (receipt?.status !== '0x1') throw new Error(`transaction ${position} of the deployment on ${chain.slug} failed`)
  }
}
