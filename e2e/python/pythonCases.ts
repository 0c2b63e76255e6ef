import { keccak256, numberToHex, type Hex, type TransactionSerializableEIP1559 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { mulberry32, type Mulberry32 } from '../../packages/sdk/src/testing/mulberry32.ts'
import { SAMPLE_SHAPES, type Shape } from '../../packages/sdk/src/testing/sampleShapes.ts'
import { tamper } from '../../packages/sdk/src/testing/tamper.ts'
import { readInput, writeInput } from '../../packages/sdk/src/testing/callTree.ts'
import type { VerifyContext } from '../../packages/sdk/src/verify/verifyContext.ts'
import { verifyPrepared } from '../../packages/sdk/src/verify/verifyPrepared.ts'

const SEED = 20_261_116
const SIGNED_COUNT = 40
const TAMPERED_COUNT = 3_000
const AMOUNTS_COUNT = 600

/**
 * Returns what the Python client is compared with: signatures and transactions of viem, and what the SDK's check of
 * prepared transactions says about right and wrong ones.
 */
export async function pythonCases(): Promise<string> {
  const random = mulberry32(SEED)
  const cases = {
    signatures: await signatures(random),
    transactions: await transactions(random),
    verify: [...whole(), ...tampered(random), ...amounts(random)],
  }
  return JSON.stringify(cases, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
}

/** Signs structs of requests with random keys and values. */
async function signatures(random: Mulberry32) {
  const cases = []
  for (let count = 0; count < SIGNED_COUNT; count += 1) {
    const key = keyOf(random)
    const domain = {
      name: `Service ${random.hex(4)} ü`,
      version: '1',
      chainId: 1 + random.below(1e6),
      verifyingContract: `0x${random.hex(20)}` as Hex,
    }
    const body = random.hex(random.below(100))
    const message = {
      method: 'POST',
      path: `/v1/base/orders?x=${random.hex(9)}`,
      timestamp: random.bits(50),
      nonce: random.bits(90),
    }
    const signature = await privateKeyToAccount(key).signTypedData({
      domain,
      primaryType: 'createOrder',
      types: {
        createOrder: [
          { name: 'method', type: 'string' },
          { name: 'path', type: 'string' },
          { name: 'bodyHash', type: 'bytes32' },
          { name: 'timestamp', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
        ],
      },
      message: { ...message, bodyHash: keccak256(`0x${body}`) },
    })
    cases.push({ key, address: privateKeyToAccount(key).address, domain, body, message, signature })
  }
  return cases
}

async function transactions(random: Mulberry32) {
  const cases = []
  for (let count = 0; count < SIGNED_COUNT; count += 1) {
    const key = keyOf(random)
    const transaction: TransactionSerializableEIP1559 & { to: Hex; data: Hex } = {
      type: 'eip1559',
      chainId: 1 + random.below(1e6),
      nonce: random.below(300),
      maxPriorityFeePerGas: random.bits(30),
      maxFeePerGas: random.bits(40) + random.bits(30) + 2n ** 41n,
      gas: random.bits(25) + 21_000n,
      to: `0x${random.hex(20)}`,
      data: `0x${random.hex(random.below(600))}`,
    }
    const raw = await privateKeyToAccount(key).signTransaction(transaction)
    cases.push({ key, transaction, raw, hash: keccak256(raw) })
  }
  return cases
}

function keyOf(random: Mulberry32): Hex {
  return numberToHex(1n + random.bits(255), { size: 32 })
}

/** The contexts that a shape is judged in: as it is, without the impact, and without any look at the chain. */
function contextsOf({ context }: Shape): VerifyContext[] {
  return [context, { ...context, impactP: undefined }, { ...context, impactP: undefined, onChain: undefined }]
}

const whole = () => SAMPLE_SHAPES.flatMap((shape) => contextsOf(shape).map((context) => judged(shape, shape, context)))

function tampered(random: Mulberry32) {
  return Array.from({ length: TAMPERED_COUNT }, (_, count) => {
    const shape = SAMPLE_SHAPES[count % SAMPLE_SHAPES.length]!
    return judged(shape, tamper(shape, random), random.pick(contextsOf(shape)))
  })
}

/** Moves the amount of openings around the bounds. */
function amounts(random: Mulberry32) {
  const openings = SAMPLE_SHAPES.filter(({ prepared }) => openingOf(prepared) !== undefined)
  return Array.from({ length: AMOUNTS_COUNT }, (_, count) => {
    const shape = openings[count % openings.length]!
    const { transaction } = shape.prepared
    const tree = readInput(transaction.data)
    const off = BigInt(random.below(40_000) - 20_000)
    const calls = tree.calls.map((call) => {
      if (call.name !== 'openTrade') return call
      const trade = call.args[0] as { readonly collateralAmount: bigint }
      const collateralAmount = trade.collateralAmount + (trade.collateralAmount * off) / 1_000_000n
      return { ...call, args: call.args.with(0, { ...trade, collateralAmount }) }
    })
    const prepared = { ...shape.prepared, transaction: { ...transaction, data: writeInput({ ...tree, calls }) } }
    return judged(shape, { prepared }, random.pick(contextsOf(shape)))
  })
}

function openingOf({ transaction }: Shape['prepared']) {
  return readInput(transaction.data).calls.find(({ name }) => name === 'openTrade')
}

function judged(
  { name, request }: Shape,
  { prepared, how }: { readonly prepared: Shape['prepared']; readonly how?: string },
  context: VerifyContext,
) {
  let isAccepted = true
  try {
    verifyPrepared(request, prepared, context)
  } catch {
    isAccepted = false
  }
  return { name: how === undefined ? name : `${name} with another ${how}`, request, prepared, context, isAccepted }
}
