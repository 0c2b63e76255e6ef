import { CHAINS, REQUEST_FIELDS, requestDomain } from '@bezel/protocol'
import { keccak256, recoverTypedDataAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { requestDigest, verifyRequest, type SignedRequest } from '../packages/server/src/signatures/verifyRequest.ts'
import { selectEngine } from '../packages/server/src/signatures/engines.ts'
import { parseSignature, type Signature, type SignatureEngine } from '../packages/server/src/signatures/recovery.ts'

// Compares the verification of a signed request on one core with its unavoidable part and with a client library's
// function for it.
//
// Ours: everything from header texts and body bytes to yes or no: body hash, struct, digest, recovery, comparison.
// Recover alone: the same engine's recovery, with digest and signature ready as bytes.
// viem: recoverTypedDataAddress, with the body hashed beforehand.
// All three run on one thread and wait for nothing, so the processor time of that thread is measured and other work on
// the machine does not count. A round runs a few of each one after the other; rates and ratios are medians of the
// rounds.

const ROUNDS = 15

// About 200 ms per round, because the kernel counts processor time in steps of up to 4 ms.
const REQUESTS_PER_ROUND = 1_000

const VIEM_REQUESTS_PER_ROUND = 60

const RECOVER_LIMIT = 0.85

const VIEM_LIMIT = 12

const BODY_BYTES = 300

const { chainId, liveDiamond: diamond } = CHAINS.arbitrum

const domain = requestDomain({ name: 'Bezel Trading API', chainId, diamond })

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)

/** One request in the three forms that the candidates take. */
interface Sample {
  readonly request: SignedRequest
  readonly digest: Uint8Array
  readonly signature: Signature
  readonly typedData: Parameters<typeof recoverTypedDataAddress>[0]
}

interface Rates {
  readonly ours: number
  readonly recover: number
  readonly viem: number
}

/** Prints the table. Returns true when both ratios reach their limits, which apply to the native engine only. */
export async function run(): Promise<boolean> {
  const engine = await selectEngine()
  const samples = await Promise.all(Array.from({ length: REQUESTS_PER_ROUND }, (_, index) => createSample(index)))
  const rounds: Rates[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const rates = await runRound(engine, samples)
    // Round 0 only warms up.
    if (round > 0) rounds.push(rates)
  }
  return print(engine, rounds)
}

async function createSample(index: number): Promise<Sample> {
  const body = Buffer.from(JSON.stringify({ market: 'BTC/USD', side: 'buy', clientId: `${index}` }).padEnd(BODY_BYTES))
  const text = { method: 'POST', path: '/v1/arbitrum/orders' } as const
  const [timestamp, nonce] = [1_700_000_000_000n, 1_700_000_000_000_000n + BigInt(index)]
  const typedData = {
    domain,
    types: { createOrder: REQUEST_FIELDS },
    primaryType: 'createOrder',
    message: { ...text, bodyHash: keccak256(body), timestamp, nonce },
  } as const
  const signed = await account.signTypedData(typedData)
  const struct = { ...text, domain, operationId: 'createOrder', timestamp: `${timestamp}`, nonce: `${nonce}` } as const
  const digest = requestDigest({ ...struct, bodyHash: keccak256(body, 'bytes') })
  const signature = parseSignature(signed)
  if (digest === undefined || signature === undefined) throw new Error('the sample is invalid')
  const request = { ...struct, body, signature: signed, agent: account.address }
  return { request, digest, signature, typedData: { ...typedData, signature: signed } as Sample['typedData'] }
}

async function runRound(engine: SignatureEngine, samples: readonly Sample[]): Promise<Rates> {
  const ours = ratePerS(samples, ({ request }) => verifyRequest(engine, request).isValid)
  const recover = ratePerS(samples, ({ digest, signature: { rs, recoveryId } }) => {
    return engine.recoverPublicKey(digest, rs, recoveryId) !== undefined
  })
  return { ours, recover, viem: await viemRatePerS(samples.slice(0, VIEM_REQUESTS_PER_ROUND)) }
}

function ratePerS(samples: readonly Sample[], isValid: (sample: Sample) => boolean): number {
  const before = process.threadCpuUsage()
  for (const sample of samples) if (!isValid(sample)) throw new Error('a valid request was refused')
  return samples.length / cpuS(before)
}

async function viemRatePerS(samples: readonly Sample[]): Promise<number> {
  const before = process.threadCpuUsage()
  for (const { typedData } of samples) {
    if ((await recoverTypedDataAddress(typedData)) !== account.address) throw new Error('viem refused a valid request')
  }
  return samples.length / cpuS(before)
}

/** Returns the processor time of this thread since `before`, in seconds. */
function cpuS(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e6
}

function print(engine: SignatureEngine, rounds: readonly Rates[]): boolean {
  const isNative = engine.name === 'native'
  console.log(`Request verification per second of one core, ${engine.name} engine, median of ${ROUNDS} rounds`)
  if (!isNative)
    console.log('The native engine is not built on this machine; the limits are meant for it, not for this one.')
  const peers = [
    { name: `${engine.name} recover alone`, peer: 'recover', limit: RECOVER_LIMIT },
    { name: 'viem recoverTypedDataAddress', peer: 'viem', limit: VIEM_LIMIT },
  ] as const
  const rows = peers.map(({ name, peer, limit }) => {
    const [ours, theirs] = [median(rounds.map((rates) => rates.ours)), median(rounds.map((rates) => rates[peer]))]
    const ratio = median(rounds.map((rates) => rates.ours / rates[peer]))
    return [name, { ours: Math.round(ours), peer: Math.round(theirs), ratio, limit, met: ratio >= limit }] as const
  })
  console.table(Object.fromEntries(rows.map(([name, row]) => [name, { ...row, ratio: row.ratio.toFixed(2) }])))
  return !isNative || rows.every(([, { met }]) => met)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
