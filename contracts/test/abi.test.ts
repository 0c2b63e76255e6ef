import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { diamondAbi } from '@bezel/protocol'
import { toEventSelector, toFunctionSelector, type Abi, type AbiEvent, type AbiFunction, type AbiParameter } from 'viem'
import { loadArtifact } from '../artifact.ts'
import { FACETS, selectorsOf } from '../diamond.ts'
import { ABSENT_EVENTS, ABSENT_FUNCTIONS } from './absent.ts'
import { sharedWorld } from './sharedWorld.ts'

const FACETS_AND_CUT = [...FACETS, 'DiamondCutFacet']
/**
 * Libraries that facets, or libraries of facets, are linked to. They run in the Diamond, so their events and errors are
 * the Diamond's.
 */
const LIBRARIES = librariesOf(FACETS_AND_CUT)
/**
 * Every contract whose events and errors can come from the Diamond. Tokens, vaults and feeds have addresses of their
 * own.
 */
const SOURCES = ['Diamond', ...FACETS_AND_CUT, ...LIBRARIES, 'Configure']

type AbiError = { type: 'error'; name: string; inputs: readonly AbiParameter[] }
type Entry = AbiFunction | AbiEvent | AbiError
const live: readonly Entry[] = diamondAbi as Abi as Entry[]

const ourFunctions = FACETS_AND_CUT.flatMap((name) => entriesOf(name)).filter((entry) => entry.type === 'function')
const ourEvents = distinct(SOURCES.flatMap((name) => entriesOf(name)).filter((entry) => entry.type === 'event'))
const ourErrors = distinct(SOURCES.flatMap((name) => entriesOf(name)).filter((entry) => entry.type === 'error'))

function librariesOf(contracts: readonly string[]): string[] {
  const linked = [...new Set(contracts.flatMap((name) => Object.keys(loadArtifact(name).linkReferences)))]
  return linked.length === 0 ? [] : [...new Set([...linked, ...librariesOf(linked)])]
}

function entriesOf(contractName: string): Entry[] {
  const entries = loadArtifact(contractName).abi as Entry[]
  return entries.filter(({ type }) => type === 'function' || type === 'event' || type === 'error')
}

/** Returns the signature as it is hashed, after the kind of entry. */
function signatureOf({ type, name, inputs }: Entry): string {
  return `${type} ${name}(${inputs.map(typeOf).join(',')})`
}

function typeOf(parameter: AbiParameter): string {
  if (!('components' in parameter)) return parameter.type
  return `(${parameter.components.map(typeOf).join(',')})${parameter.type.slice('tuple'.length)}`
}

function distinct<E extends Entry>(entries: readonly E[]): E[] {
  return [...new Map(entries.map((entry) => [signatureOf(entry), entry])).values()]
}

const liveBySignature = new Map(live.map((entry) => [signatureOf(entry), entry]))

function liveTwin<E extends Entry>(entry: E): E {
  const twin = liveBySignature.get(signatureOf(entry))
  assert.ok(twin, `the live Diamond has no ${signatureOf(entry)}`)
  return twin as E
}

type Shape = { name: string; type: string; indexed: boolean; components: Shape[] }

/** Returns the parts of a parameter that a client can see. */
function shapeOf(parameter: AbiParameter & { indexed?: boolean | undefined }): Shape {
  return {
    name: parameter.name ?? '',
    type: parameter.type,
    indexed: parameter.indexed ?? false,
    components: 'components' in parameter ? parameter.components.map(shapeOf) : [],
  }
}

/**
 * Checks that arguments agree. Only the outermost names of a function may differ: Solidity wants no name for an unused
 * argument, and a name for a result that is assigned. Neither is part of the encoding, and clients decode with the live
 * Diamond's names.
 */
function assertSameArguments(ours: readonly AbiParameter[], theirs: readonly AbiParameter[], what: string): void {
  assert.equal(ours.length, theirs.length, what)
  for (const [i, parameter] of ours.entries()) {
    const [shape, expected] = [shapeOf(parameter), shapeOf(theirs[i]!)]
    const unnamed = shape.name === '' || expected.name === ''
    assert.deepEqual(unnamed ? { ...shape, name: '' } : shape, unnamed ? { ...expected, name: '' } : expected, what)
  }
}

/** True for a function that changes nothing. A view that needs no storage here is pure, which a caller can't notice. */
function isRead({ stateMutability }: AbiFunction): boolean {
  return stateMutability === 'view' || stateMutability === 'pure'
}

describe('the interface of the local Diamond', () => {
  it('has only functions of the live one, with its arguments, results and mutability', () => {
    assert.ok(ourFunctions.length > 150)
    for (const ours of ourFunctions) {
      const theirs = liveTwin(ours)
      assert.equal(toFunctionSelector(ours), toFunctionSelector(theirs))
      assertSameArguments(ours.inputs, theirs.inputs, `inputs of ${ours.name}`)
      assertSameArguments(ours.outputs, theirs.outputs, `outputs of ${ours.name}`)
      assert.equal(isRead(ours), isRead(theirs), `${ours.name} is ${ours.stateMutability}`)
      if (!isRead(ours)) assert.equal(ours.stateMutability, theirs.stateMutability, ours.name)
    }
  })

  it('emits only events of the live one, name for name and indexed field for indexed field', () => {
    assert.ok(ourEvents.length > 50)
    for (const ours of ourEvents) {
      const theirs = liveTwin(ours)
      assert.equal(toEventSelector(ours), toEventSelector(theirs))
      assert.deepEqual(ours.inputs.map(shapeOf), theirs.inputs.map(shapeOf), ours.name)
      assert.equal(ours.anonymous ?? false, theirs.anonymous ?? false, ours.name)
    }
  })

  it('reverts only with errors of the live one', () => {
    assert.ok(ourErrors.length > 40)
    for (const ours of ourErrors) {
      const theirs = liveTwin(ours)
      assert.deepEqual(ours.inputs.map(shapeOf), theirs.inputs.map(shapeOf), ours.name)
    }
  })

  it('lacks exactly the functions and events listed in absent.ts', () => {
    const ours = new Set([...ourFunctions, ...ourEvents].map(signatureOf))
    const absent = live.filter((entry) => entry.type !== 'error' && !ours.has(signatureOf(entry)))
    const namesOf = (type: Entry['type']) => absent.filter((entry) => entry.type === type).map(({ name }) => name)
    assert.deepEqual(namesOf('function').toSorted(), ABSENT_FUNCTIONS.toSorted())
    assert.deepEqual(namesOf('event').toSorted(), ABSENT_EVENTS.toSorted())
  })

  it('gives each selector to one facet', () => {
    const selectors = ourFunctions.map((entry) => toFunctionSelector(entry))
    assert.equal(new Set(selectors).size, selectors.length)
  })
})

describe('the deployed Diamond', () => {
  const world = sharedWorld()

  it('answers through its loupe with the selectors of the artifacts', async () => {
    const facets = await world().read('facets', [])
    const deployed = facets.map(({ functionSelectors }) => functionSelectors.toSorted().join())
    const expected = FACETS_AND_CUT.map((name) => selectorsOf(loadArtifact(name).abi).toSorted().join())
    assert.deepEqual(deployed.toSorted(), expected.toSorted())
    const addresses = await world().read('facetAddresses', [])
    assert.deepEqual(
      addresses,
      facets.map(({ facetAddress }) => facetAddress),
    )
    for (const { facetAddress, functionSelectors } of facets) {
      assert.deepEqual(await world().read('facetFunctionSelectors', [facetAddress]), functionSelectors)
      assert.equal(await world().read('facetAddress', [functionSelectors[0]!]), facetAddress)
    }
  })

  it('keeps the setters of Configure to itself', async () => {
    for (const selector of selectorsOf(loadArtifact('Configure').abi)) {
      assert.equal(BigInt(await world().read('facetAddress', [selector])), 0n)
    }
  })
})

describe('selectors and topics, written out', () => {
  const functions = {
    openTrade: '0x5bfcc4f8',
    closeTradeMarket: '0x36ce736b',
    updateOpenOrder: '0xa4bb127e',
    cancelOpenOrder: '0x85886333',
    updateTp: '0xf401f2bb',
    updateSl: '0xb5d9e9d0',
    updateMaxClosingSlippageP: '0x9e8433d0',
    updateLeverage: '0x0bce9aaa',
    increasePositionSize: '0x24058ad3',
    decreasePositionSize: '0xa7cac572',
    triggerOrder: '0xeb9359aa',
    cancelOrderAfterTimeout: '0xb6919540',
    delegatedTradingAction: '0x737b84cd',
    multicall: '0xac9650d8',
    getTradeLiquidationPrice: '0xef6c0449',
  }
  const events = {
    MarketOrderInitiated: '0x3a60290d7335bce64a807e90f39655517bb5fa702423fa8fac283a5ea16d3a97',
    MarketExecuted: '0xbdc1265da95238ea4c775f66ac8fe748af83982c4b356ac4d0c28a0f512c0a8b',
    LimitExecuted: '0x9c19bc42a9be820f3366fa0563f85e5c227966eaea4c45acd2f7cd868086a17d',
    MarketOpenCanceled: '0x7eff27ae2299e6454b6a721ec354924d1ceecda0edc94618ebfeb5b9b6483e5e',
    HoldingFeesChargedOnTrade: '0x15899f852ac1a2c43a151e9be38095efa336a692424358cb47dc1d988184e594',
    TradeFeesDataDownscaled: '0x94b6dd6695c6b27738d956607d487ce2b47ce52de3efb85dafbbee304e33a152',
    TradeStored: '0xa14af6e9b04a80b4f40bf3946fceabd8e21e03bed8bdfd8d7b99af550efbf792',
    PriceReceived: '0x3a04fb08b64cb936309a028bdae0de177886d0c0288836c98f6eec09b9688799',
  }
  const errors = {
    ConflictingPendingOrder: '0x12f5a659',
    DelegateNotApproved: '0x0cf0b6f5',
    InsufficientCollateral: '0x3a23d825',
    Paused: '0x9e87fac8',
    WaitTimeout: '0xb1e706e4',
  }

  it('are those of the facts', () => {
    const selector = (entries: readonly Entry[], name: string) =>
      toFunctionSelector({ ...entries.find((entry) => entry.name === name), type: 'function' } as AbiFunction)
    for (const [name, hex] of Object.entries(functions)) assert.equal(selector(ourFunctions, name), hex, name)
    for (const [name, hex] of Object.entries(errors)) assert.equal(selector(ourErrors, name), hex, name)
    for (const [name, hex] of Object.entries(events)) {
      assert.equal(toEventSelector(ourEvents.find((entry) => entry.name === name)!), hex, name)
    }
  })
})
