import type { LocalChain } from '../chain/createLocalChain.ts'
import type { Cutter } from '../deploy/createCutter.ts'
import type { Faucet } from '../deploy/createFaucet.ts'
import type { Keeper } from '../keeper/createKeeper.ts'
import type { Oracle } from '../oracle/createOracle.ts'
import type { ExtraMethods } from '../rpc/respond.ts'
import { invalidParams, parseQuantity } from '../chain/jsonRpc.ts'
import type { FeedFaults } from '../feed/feedFaults.ts'
import { FeedInputError } from '../feed/price.ts'
import type { Prices } from '../feed/prices.ts'
import { parseAddress, type Address } from '@bezel/protocol'
import type { Hex } from 'viem'

/** The parts that work on one chain beside its blocks. */
export interface ChainParts {
  readonly oracle: Oracle
  readonly keeper: Keeper
  readonly faucet: Faucet
  readonly cutter: Cutter
}

const MAX_ORACLE_DELAY_MS = 600_000

/** Creates the controls of the chain they are sent to. `bezel_reorg` is one of the chain's own methods. */
export function chainControls(partsOf: (chain: LocalChain) => ChainParts): ExtraMethods {
  return {
    bezel_pauseOracle(chain, [paused]) {
      partsOf(chain).oracle.pause(flagParam(paused, 'paused'))
      return true
    },
    bezel_pauseKeeper(chain, [paused]) {
      partsOf(chain).keeper.pause(flagParam(paused, 'paused'))
      return true
    },
    bezel_setOracleDelay(chain, [delayMs]) {
      partsOf(chain).oracle.setDelayMs(millisecondsParam(delayMs, 'the delay', MAX_ORACLE_DELAY_MS))
      return true
    },
    bezel_cutDiamond: (chain, [action, name]) => cut(partsOf(chain).cutter, action, textParam(name, 'the name')),
    bezel_faucet: (chain, [address]) => partsOf(chain).faucet.fund(addressParam(address, 'the address')),
  }
}

function cut(cutter: Cutter, action: unknown, name: string): Promise<Hex> {
  if (action === 'replace') return cutter.replace(name)
  if (action === 'remove') return cutter.remove(name)
  throw invalidParams(`the action must be "replace" or "remove", not ${JSON.stringify(action) ?? 'nothing'}`)
}

/** Creates the controls of the price feed. They act on all chains, whichever one they are sent to. */
export function priceControls(prices: Prices): ExtraMethods {
  return {
    bezel_setPrice: (_chain, [symbol, price]) =>
      done(() => prices.setPrice(textParam(symbol, 'the symbol'), textParam(price, 'the price'))),
    bezel_freezePrice: (_chain, [symbol, frozen]) =>
      done(() => prices.freeze(textParam(symbol, 'the symbol'), flagParam(frozen, 'frozen'))),
    bezel_sleepPrice: (_chain, [symbol, asleep]) =>
      done(() => prices.sleep(textParam(symbol, 'the symbol'), flagParam(asleep, 'asleep'))),
    bezel_setMarketOpen: (_chain, [symbol, open]) =>
      done(() =>
        prices.setMarketOpen(textParam(symbol, 'the symbol'), open === null ? null : flagParam(open, 'open (or null)')),
      ),
  }
}

/** Creates the controls of the feed's faults, which act on all chains too. */
export function feedControls(faults: FeedFaults): ExtraMethods {
  return {
    bezel_breakHistory: (_chain, [symbol, broken]) =>
      done(() => faults.breakHistory(textParam(symbol, 'the symbol'), flagParam(broken, 'broken'))),
    bezel_hidePrice: (_chain, [symbol, hidden]) =>
      done(() => faults.hide(textParam(symbol, 'the symbol'), flagParam(hidden, 'hidden'))),
  }
}

function done(control: () => void): true {
  try {
    control()
    return true
  } catch (error) {
    throw error instanceof FeedInputError ? invalidParams(error.message) : error
  }
}

/** Reads a text parameter. Like the readers below, it throws a JSON-RPC error that says what is wrong. */

function textParam(value: unknown, name: string): string {
  if (typeof value !== 'string')
    throw invalidParams(`${name} must be a string, not ${JSON.stringify(value) ?? 'nothing'}`)
  return value
}

function flagParam(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean')
    throw invalidParams(`${name} must be true or false, not ${JSON.stringify(value) ?? 'nothing'}`)
  return value
}

function addressParam(value: unknown, name: string): Address {
  const address = typeof value === 'string' ? parseAddress(value) : undefined
  if (address === undefined)
    throw invalidParams(`${name} must be an address, not ${JSON.stringify(value) ?? 'nothing'}`)
  return address
}

function millisecondsParam(value: unknown, name: string, max: number): number {
  const milliseconds = parseQuantity(value, name)
  if (milliseconds > max) throw invalidParams(`${name} must be at most ${max} ms, not ${milliseconds}`)
  return milliseconds
}
