import {
  encode,
  readInput,
  SELECTORS,
  typesOf,
  writeInput,
  type AbiInput,
  type CallNode,
  type InputTree,
} from './callTree.ts'
import { isWithinBounds } from './bounds.ts'
import type { Mulberry32 } from './mulberry32.ts'
import type { Shape } from './sampleShapes.ts'

/** A changed transaction, and a description of the change. */
interface Tampered {
  readonly how: string
  readonly prepared: Shape['prepared']
}

type Mutation = (shape: Shape, random: Mulberry32) => Tampered | undefined

/** Makes one random change to a transaction: never one without effect, nor one within the stated bounds. */
export function tamper(shape: Shape, random: Mulberry32): Tampered {
  for (;;) {
    const tampered = random.pick(MUTATIONS)(shape, random)
    if (tampered === undefined || isSameTransaction(tampered.prepared, shape.prepared)) continue
    if (!isWithinBounds(shape, tampered.prepared)) return tampered
  }
}

function isSameTransaction(one: Shape['prepared'], other: Shape['prepared']): boolean {
  const textOf = ({ transaction, order, position }: Shape['prepared']): string =>
    JSON.stringify([
      transaction.to.toLowerCase(),
      transaction.data.toLowerCase(),
      transaction.value,
      transaction.chainId,
      order?.id,
      position?.id,
    ])
  return textOf(one) === textOf(other)
}

function withTransaction(shape: Shape, how: string, change: Readonly<Record<string, unknown>>): Tampered {
  const transaction = { ...shape.prepared.transaction, ...change } as Shape['prepared']['transaction']
  return { how, prepared: { ...shape.prepared, transaction } }
}

const withData = (shape: Shape, how: string, data: string): Tampered => withTransaction(shape, how, { data })

/** Makes a mutation that takes the input apart, changes it, and encodes it as the service would. */
const inTree =
  (how: string, change: (tree: InputTree, random: Mulberry32, shape: Shape) => InputTree | undefined): Mutation =>
  (shape, random) => {
    const tree = change(readInput(shape.prepared.transaction.data), random, shape)
    try {
      return tree === undefined ? undefined : withData(shape, how, writeInput(tree))
    } catch {
      // A value that the type of the other function can't hold can't be sent by anybody.
      return undefined
    }
  }

const MUTATIONS: readonly Mutation[] = [
  (shape, random) => withTransaction(shape, 'to', { to: `0x${random.hex(20)}` }),
  (shape, random) =>
    withTransaction(shape, 'to, one digit', { to: flipDigit(shape.prepared.transaction.to, random, 2) }),
  (shape, random) =>
    withTransaction(shape, 'value', { value: random.pick(['1', '00', '0x0', '-1', String(random.bits(60) + 1n)]) }),
  (shape, random) =>
    withTransaction(shape, 'chainId', { chainId: random.pick([1, 42161, 8453, 137, random.below(1e9)]) }),
  inTree('trader', ({ actsFor, ...rest }, random) =>
    actsFor === null ? undefined : { ...rest, actsFor: `0x${random.hex(20)}` },
  ),
  inTree('wrapper', ({ actsFor, ...rest }, random, { context }) => ({
    ...rest,
    actsFor:
      actsFor === null ? random.pick<`0x${string}`>([context.trader as `0x${string}`, `0x${random.hex(20)}`]) : null,
  })),
  selectorMutation,
  ...Array.from({ length: 8 }, () => inTree('argument', changeArgument)),
  inTree('amount', changeAmount),
  inTree('amount', changeAmount),
  inTree('price and amount', changePriceAndAmount),
  inTree('function', swapFunction),
  inTree('extra call', addCall),
  inTree('dropped call', ({ calls, ...rest }, random, { request }) =>
    // Fewer reclaims do no harm, and nothing says how many there should be.
    calls.length === 1 || request.operation === 'cancelOrder'
      ? undefined
      : { ...rest, calls: calls.toSpliced(random.below(calls.length), 1) },
  ),
  inTree('order of calls', ({ calls, ...rest }) =>
    calls.length === 1 ? undefined : { ...rest, calls: calls.toReversed() },
  ),
  inTree('repeated call', ({ calls, ...rest }, random) => {
    const place = random.below(calls.length)
    return { ...rest, calls: calls.toSpliced(place, 0, calls[place]!) }
  }),
  inTree('tail', ({ tail, ...rest }, random) => {
    const bytes = random.pick([0, 1, 4, 7, 9, 12, 16, 20, 24, 32, 40, 64])
    return { ...rest, tail: bytes < 8 ? tail.slice(0, bytes * 2) : tail + random.hex(bytes - 8) }
  }),
  oddOffset,
  loneMulticall,
  anyByte,
  anyByte,
  dirtyWord,
  otherAnswer,
]

function flipDigit(text: string, random: Mulberry32, from: number): string {
  const place = from + random.below(text.length - from)
  const digit = Number.parseInt(text[place]!, 16) ^ (1 + random.below(15))
  return text.slice(0, place) + digit.toString(16) + text.slice(place + 1)
}

function selectorMutation(shape: Shape, random: Mulberry32): Tampered {
  const { data } = shape.prepared.transaction
  const selector = random.pick([`0x${random.hex(4)}`, random.pick(SELECTORS)])
  return withData(shape, 'selector', selector + data.slice(10))
}

/** Replaces one value of one call by another of its type. */
function changeArgument(tree: InputTree, random: Mulberry32): InputTree | undefined {
  const place = random.below(tree.calls.length)
  const call = tree.calls[place]!
  const types = typesOf(call.name)
  const at = random.below(types.length)
  const changed = changeLeaf(call.args[at], types[at]!, random)
  if (changed === undefined) return undefined
  return { ...tree, calls: tree.calls.with(place, { ...call, args: call.args.with(at, changed) }) }
}

function changeLeaf(value: unknown, input: AbiInput, random: Mulberry32): unknown {
  if (input.components !== undefined) {
    const member = random.pick(input.components)
    const struct = value as Readonly<Record<string, unknown>>
    const changed = changeLeaf(struct[member.name!], member, random)
    return changed === undefined ? undefined : { ...struct, [member.name!]: changed }
  }
  if (input.type === 'bool') return value !== true
  if (input.type === 'address') return `0x${random.hex(20)}`
  return changeNumber(value as bigint | number, input, random)
}

function changeNumber(value: bigint | number, input: AbiInput, random: Mulberry32): bigint | number | undefined {
  const bits = Number(input.type.slice('uint'.length))
  const now = BigInt(value)
  const changed = random.pick([
    now + 1n,
    now - 1n,
    now * 2n,
    now / 2n,
    0n,
    now + random.bits(8),
    random.bits(bits),
    now ^ (1n << random.bits(3)),
  ])
  if (changed === now || changed < 0n || changed >= 1n << BigInt(bits)) return undefined
  return typeof value === 'number' ? Number(changed) : changed
}

type OpenedTrade = { readonly collateralAmount: bigint; readonly openPrice: bigint }

/** Changes the first `openTrade` of an input, if there is one. */
function changeOpening(tree: InputTree, change: (trade: OpenedTrade) => OpenedTrade): InputTree | undefined {
  const place = tree.calls.findIndex(({ name }) => name === 'openTrade')
  const call = tree.calls[place]
  if (call === undefined) return undefined
  const args = call.args.with(0, change(call.args[0] as OpenedTrade))
  return { ...tree, calls: tree.calls.with(place, { ...call, args }) }
}

/** Shares of 1e6 by which an amount is moved: near the bounds of 0.1 % and of a slippage, and far beyond. */
const SHARES = [900, 990, 1010, 1100, 2000, 5000, 9000, 10_100, 15_100, 50_000, 400_000, 900_000]

/** Takes a little more or less collateral, around the bounds and beyond them. */
function changeAmount(tree: InputTree, random: Mulberry32): InputTree | undefined {
  return changeOpening(tree, (trade) => ({ ...trade, collateralAmount: moved(trade.collateralAmount, random) }))
}

/** Moves price and amount together, as a service would that lies about the market. */
function changePriceAndAmount(tree: InputTree, random: Mulberry32): InputTree | undefined {
  const share = random.pick(SHARES) * random.pick([1, -1])
  return changeOpening(tree, (trade) => ({
    ...trade,
    openPrice: by(trade.openPrice, share),
    collateralAmount: by(trade.collateralAmount, share),
  }))
}

function moved(amount: bigint, random: Mulberry32): bigint {
  return by(amount, random.pick(SHARES) * random.pick([1, -1]) + random.below(20) - 10)
}

function by(value: bigint, share: number): bigint {
  return (value * BigInt(1_000_000 + share)) / 1_000_000n
}

/** Calls another function with the same arguments. */
function swapFunction({ calls, ...rest }: InputTree, random: Mulberry32): InputTree | undefined {
  const place = random.below(calls.length)
  const call = calls[place]!
  const twins = TWINS.find((names) => names.includes(call.name))?.filter((name) => name !== call.name)
  return twins === undefined ? undefined : { ...rest, calls: calls.with(place, { ...call, name: random.pick(twins) }) }
}

const TWINS: readonly (readonly string[])[] = [
  ['openTrade', 'openTradeNative'],
  ['updateTp', 'updateSl', 'closeTradeMarket', 'withdrawPositivePnl'],
  ['updateLeverage', 'updateLeverageNative', 'updateMaxClosingSlippageP'],
  ['cancelOpenOrder', 'cancelOrderAfterTimeout'],
]

function addCall({ calls, ...rest }: InputTree, random: Mulberry32): InputTree {
  const extra: CallNode = random.pick<CallNode>([
    { name: 'withdrawPositivePnl', args: [random.below(9), random.bits(60) + 1n] },
    { name: 'closeTradeMarket', args: [random.below(9), random.bits(50) + 1n] },
    { name: 'cancelOpenOrder', args: [random.below(9)] },
    { name: 'updateLeverage', args: [random.below(9), 1 + random.below(100_000)] },
    { name: 'setTradingDelegate', args: [`0x${random.hex(20)}`] },
    { name: 'updateMaxClosingSlippageP', args: [random.below(9), 1 + random.below(60_000)] },
    { name: 'increasePositionSize', args: [random.below(9), random.bits(40) + 1n, 10_000, random.bits(50), 1000] },
    { name: 'removeTradingDelegate', args: [] },
  ])
  return { ...rest, calls: calls.toSpliced(random.below(calls.length + 1), 0, extra) }
}

/** Moves the wrapped bytes one word further, where the decoder of the contracts finds them as well. */
function oddOffset(shape: Shape, random: Mulberry32): Tampered | undefined {
  const { data } = shape.prepared.transaction
  if (readInput(data).actsFor === null) return undefined
  const head = data.slice(0, 10 + 64)
  const rest = data.slice(10 + 128)
  return withData(shape, 'offset', `${head}${(0x60).toString(16).padStart(64, '0')}${random.hex(32)}${rest}`)
}

/** Wraps a single call in a `multicall`, which does the same but is not how one call is prepared. */
function loneMulticall(shape: Shape): Tampered | undefined {
  const tree = readInput(shape.prepared.transaction.data)
  if (tree.calls.length !== 1) return undefined
  const lone = { name: 'multicall', args: [[encode(tree.calls[0]!)]] }
  return withData(shape, 'lone multicall', writeInput({ ...tree, calls: [lone] }))
}

/** Changes any byte except those of the id after the calldata. */
function anyByte(shape: Shape, random: Mulberry32): Tampered | undefined {
  const { data } = shape.prepared.transaction
  const place = 2 + random.below(data.length - 2 - 16)
  const digit = Number.parseInt(data[place]!, 16) ^ (1 + random.below(15))
  return withData(shape, 'byte', data.slice(0, place) + digit.toString(16) + data.slice(place + 1))
}

/** Sets digits beyond the range of a type, in the zero padding of a value. */
function dirtyWord(shape: Shape, random: Mulberry32): Tampered | undefined {
  const { data } = shape.prepared.transaction
  const words = [...data.matchAll(/0{40,}(?=[0-9a-f])/g)].map(({ index }) => index)
  if (words.length === 0) return undefined
  const place = random.pick(words) + random.below(24)
  if (place >= data.length - 16 || data[place] !== '0') return undefined
  return withData(shape, 'padding', data.slice(0, place) + random.pick(['1', '8', 'f']) + data.slice(place + 1))
}

/** Returns the right transaction with somebody else's order around it. */
function otherAnswer(shape: Shape, random: Mulberry32): Tampered | undefined {
  const { operation } = shape.request
  const { order, position } = shape.prepared
  const id = String(1_000_000 + random.below(1e6))
  if (operation === 'updatePosition' || operation === 'cancelPositionUpdate')
    return { how: 'position.id', prepared: { ...shape.prepared, position: { ...position!, id } } }
  if (operation !== 'updateOrder' && operation !== 'cancelOrder') return undefined
  return { how: 'order.id', prepared: { ...shape.prepared, order: { ...order!, id } } }
}
