import { CollateralAmount, Leverage, Price, Slippage, tradingInteractionsAbi, TradeType } from '@bezel/protocol/wire'
import { zeroAddress } from 'viem'
import { decodeCalls, type TradingCall } from './decodeCalls.ts'
import type { VerifyContext } from './verifyContext.ts'

/** One argument of a call, as people read it. */
export interface DecodedField {
  /** Name of the argument in the contracts, without its underscore. */
  readonly name: string
  /** Value in whole units: prices in the quote currency, amounts with the symbol of the token, slippage in percent. */
  readonly value: string
}

/** A call that a transaction makes of the Diamond. */
export interface DecodedCall {
  /** Name of the function, for instance `openTrade`. */
  readonly name: string
  /** Arguments in the order of the contracts. What the Diamond fills in by itself is left out. */
  readonly fields: readonly DecodedField[]
}

/** The facts that turn arguments into words. */
type WordFacts = Pick<VerifyContext, 'trader' | 'sender' | 'market' | 'collateral'>

const NO_PRICE = 'none'

/** Fields of a new trade that the Diamond fills in by itself, and that the check proves to be empty. */
const FILLED_IN: ReadonlySet<string> = new Set([
  'index',
  'isOpen',
  'isCounterTrade',
  'positionSizeToken',
  '__placeholder',
])

const TRADE_TYPES: Readonly<Record<number, string>> = {
  [TradeType.TRADE]: 'market',
  [TradeType.LIMIT]: 'limit',
  [TradeType.STOP]: 'stop',
}

/**
 * Decodes the calls of a transaction for people to read, each argument in whole units. It says what the bytes do and
 * proves nothing: `verifyPrepared` does that. Throws `UnverifiedTransactionError` for bytes that are no such calls.
 */
export function decodedCalls(data: string, facts: WordFacts): readonly DecodedCall[] {
  return decodeCalls(data, facts).map((call) => ({ name: call.functionName, fields: fieldsOf(call, facts) }))
}

function fieldsOf({ functionName, args = [] }: TradingCall, facts: WordFacts): readonly DecodedField[] {
  const inputs = tradingInteractionsAbi.find(({ name }) => name === functionName)?.inputs ?? []
  return inputs.flatMap(({ name = '' }, place): readonly DecodedField[] => {
    const value: unknown = args[place]
    if (!isStruct(value)) return [{ name: bare(name), value: wordOf(bare(name), value, facts) }]
    const fields = Object.entries(value).filter(([field]) => !FILLED_IN.has(field))
    return fields.map(([field, one]) => ({ name: field, value: wordOf(field, one, facts) }))
  })
}

function isStruct(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function bare(name: string): string {
  return name.replace(/^_/, '')
}

/** Returns the value of an argument in whole units, by its name. */
function wordOf(name: string, value: unknown, { market, collateral }: WordFacts): string {
  const number = typeof value === 'bigint' || typeof value === 'number' ? BigInt(value) : undefined
  if (number === undefined) return value === zeroAddress ? 'none' : String(value)
  switch (name) {
    case 'openPrice':
    case 'expectedPrice':
    case 'triggerPrice':
      return Price.format(Price.of(number))
    case 'tp':
    case 'sl':
    case 'newTp':
    case 'newSl':
      return number === 0n ? NO_PRICE : Price.format(Price.of(number))
    case 'leverage':
    case 'newLeverage':
    case 'leverageDelta':
      return Leverage.format(Leverage.of(number))
    case 'maxSlippageP':
      return `${Slippage.format(Slippage.of(number))} %`
    case 'collateralAmount':
    case 'collateralDelta':
    case 'amountCollateral':
      return `${CollateralAmount.format(CollateralAmount.of(number), collateral.decimals)} ${collateral.symbol}`
    case 'pairIndex':
      return Number(number) === market.pairIndex ? `${number} (${market.symbol})` : String(number)
    case 'collateralIndex':
      return Number(number) === collateral.index ? `${number} (${collateral.symbol})` : String(number)
    case 'tradeType':
      return TRADE_TYPES[Number(number)] ?? String(number)
    default:
      return String(number)
  }
}
