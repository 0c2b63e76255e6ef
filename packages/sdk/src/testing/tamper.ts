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
import type { SeededRandom } from './seededRandom.ts'
import type { Shape } from './shape.ts'

/** What was changed, and the transaction with it. */
export interface Tampered {
  readonly how: string
  readonly prepared: Shape['prepared']
}

type Mutation = (shape: Shape, random: SeededRandom) => Tampered | undefined

/** One change of one transaction, drawn by a seed. Never one that leaves it as it is, nor one within a stated tolerance. */
export function tamper(shape: Shape, random: SeededRandom): Tampered {
  for (;;) {
    const tampered = random.pick(MUTATIONS)(shape, random)
    if (tampered !== undefined && !isSameTransaction(tampered.prepared, shape.prepared)) return tampered
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

/** Takes the input apart, changes it, and writes it as the service would. */
const inTree =
  (how: string, change: (tree: InputTree, random: SeededRandom, shape: Shape) => InputTree | undefined): Mutation =>
  (shape, random) => {
    const tree = change(readInput(shape.prepared.transaction.data), random, shape)
    try {
      return tree === undefined ? undefined : withData(shape, how, writeInput(tree))
    } catch {
      // A value that the other function's type does not hold can't be sent by anybody.
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
  inTree('function', swapFunction),
  inTree('extra call', addCall),
  inTree('dropped call', ({ calls, ...rest }, random, { request }) =>
    // Fewer reclaims are no harm, and how many there should be is nowhere to be seen.
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

function flipDigit(text: string, random: SeededRandom, from: number): string {
  const place = from + random.below(text.length - from)
  const digit = Number.parseInt(text[place]!, 16) ^ (1 + random.below(15))
  return text.slice(0, place) + digit.toString(16) + text.slice(place + 1)
}

function selectorMutation(shape: Shape, random: SeededRandom): Tampered {
  const { data } = shape.prepared.transaction
  const selector = random.pick([`0x${random.hex(4)}`, random.pick(SELECTORS)])
  return withData(shape, 'selector', selector + data.slice(10))
}

/** One leaf of one call becomes another value of its type. */
function changeArgument(tree: InputTree, random: SeededRandom, shape: Shape): InputTree | undefined {
  const place = random.below(tree.calls.length)
  const call = tree.calls[place]!
  const types = typesOf(call.name)
  const at = random.below(types.length)
  const changed = changeLeaf(call.args[at], types[at]!, random, shape)
  if (changed === undefined) return undefined
  return { ...tree, calls: tree.calls.with(place, { ...call, args: call.args.with(at, changed) }) }
}

function changeLeaf(value: unknown, input: AbiInput, random: SeededRandom, shape: Shape): unknown {
  if (input.components !== undefined) {
    const member = random.pick(input.components)
    const struct = value as Readonly<Record<string, unknown>>
    const changed = changeLeaf(struct[member.name!], member, random, shape)
    return changed === undefined ? undefined : { ...struct, [member.name!]: changed }
  }
  if (input.type === 'bool') return value !== true
  if (input.type === 'address') return `0x${random.hex(20)}`
  return changeNumber(value as bigint | number, input, random, shape)
}

const PRICES: readonly string[] = ['openPrice', '_expectedPrice']

function changeNumber(
  value: bigint | number,
  input: AbiInput,
  random: SeededRandom,
  shape: Shape,
): bigint | number | undefined {
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
  if (PRICES.includes(input.name!) && isTolerated(changed, shape)) return undefined
  return typeof value === 'number' ? Number(changed) : changed
}

/** A price that nobody named may be the market's at another moment, up to the slippage. */
function isTolerated(price: bigint, { request, context }: Shape): boolean {
  if (context.expectedPrice === undefined || !('body' in request)) return false
  if ('price' in request.body && request.body.price !== undefined) return false
  const slippage = 'slippage' in request.body ? Number(request.body.slippage ?? '1') : 1
  const expected = Number(context.expectedPrice) * 1e10
  return Math.abs(Number(price) - expected) <= expected * (slippage / 100) * 1.000001
}

/** The same arguments given to another function that takes them. */
function swapFunction({ calls, ...rest }: InputTree, random: SeededRandom): InputTree | undefined {
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

function addCall({ calls, ...rest }: InputTree, random: SeededRandom): InputTree {
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

/** The wrapped bytes stand a word further on, where the decoder of the contracts finds them as well. */
function oddOffset(shape: Shape, random: SeededRandom): Tampered | undefined {
  const { data } = shape.prepared.transaction
  if (readInput(data).actsFor === null) return undefined
  const head = data.slice(0, 10 + 64)
  const rest = data.slice(10 + 128)
  return withData(shape, 'offset', `${head}${(0x60).toString(16).padStart(64, '0')}${random.hex(32)}${rest}`)
}

/** A `multicall` of one call does the same, and is not how one call is asked for. */
function loneMulticall(shape: Shape): Tampered | undefined {
  const tree = readInput(shape.prepared.transaction.data)
  if (tree.calls.length !== 1) return undefined
  const lone = { name: 'multicall', args: [[encode(tree.calls[0]!)]] }
  return withData(shape, 'lone multicall', writeInput({ ...tree, calls: [lone] }))
}

/** Any byte but those of a tolerated price and of the id behind the calldata. */
function anyByte(shape: Shape, random: SeededRandom): Tampered | undefined {
  const { data } = shape.prepared.transaction
  const place = 2 + random.below(data.length - 2 - 16)
  if (isTolerantPlace(shape, place)) return undefined
  const digit = Number.parseInt(data[place]!, 16) ^ (1 + random.below(15))
  return withData(shape, 'byte', data.slice(0, place) + digit.toString(16) + data.slice(place + 1))
}

/** Digits above what a type holds, in the word of a value that is padded with zeros. */
function dirtyWord(shape: Shape, random: SeededRandom): Tampered | undefined {
  const { data } = shape.prepared.transaction
  const words = [...data.matchAll(/0{40,}(?=[0-9a-f])/g)].map(({ index }) => index)
  if (words.length === 0) return undefined
  const place = random.pick(words) + random.below(24)
  if (place >= data.length - 16 || data[place] !== '0' || isTolerantPlace(shape, place)) return undefined
  return withData(shape, 'padding', data.slice(0, place) + random.pick(['1', '8', 'f']) + data.slice(place + 1))
}

function isTolerantPlace({ request, prepared, context }: Shape, place: number): boolean {
  const { data } = prepared.transaction
  for (const { name, args } of readInput(data).calls) {
    const price = name === 'openTrade' ? (args[0] as { openPrice: bigint }).openPrice : args.at(-1)
    if (typeof price !== 'bigint' || !isTolerated(price, { name: '', request, prepared, context })) continue
    const at = data.indexOf(price.toString(16).padStart(64, '0'))
    for (let found = at; found !== -1; found = data.indexOf(price.toString(16).padStart(64, '0'), found + 1)) {
      if (place >= found + 48 && place < found + 64) return true
    }
  }
  return false
}

/** The right transaction with somebody else's order around it. */
function otherAnswer(shape: Shape, random: SeededRandom): Tampered | undefined {
  const { operation } = shape.request
  const { order, position } = shape.prepared
  const id = String(1_000_000 + random.below(1e6))
  if (operation === 'updatePosition')
    return { how: 'position.id', prepared: { ...shape.prepared, position: { ...position!, id } } }
  if (operation !== 'updateOrder' && operation !== 'cancelOrder') return undefined
  return { how: 'order.id', prepared: { ...shape.prepared, order: { ...order!, id } } }
}
